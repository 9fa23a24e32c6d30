"""Models are loaded beside the work, by a thread of its own: none holds up another or the worker.

Until each was tried once, or `DOORS_SECONDS` are over, the worker takes no jobs. Then it does: jobs
of a model that is not loaded wait for it, and this thread goes on trying.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from shared import log
from shared.errors import ScoringError
from shared.worker.health import Health

RETRY_SECONDS = 10.0
DOORS_SECONDS = 20.0  # for models that take long

logger = log.logger(__name__)


Load = Callable[[str], object]  # a model's name → it is loaded, or an exception


def preload(load: Load, names: Sequence[str], health: Health) -> threading.Thread:
    """Load these models, each as often as it takes; returns when the worker may take jobs.

    The thread that goes on ends when all are loaded.
    """
    for name in names:
        health.obstruct(name, "is not loaded yet")
    tried = threading.Event()
    thread = threading.Thread(
        target=_load_all, args=(load, list(names), health, tried), name="preloading", daemon=True
    )
    thread.start()
    tried.wait(DOORS_SECONDS)
    for name in names:
        health.clear(name)
    return thread


def _load_all(load: Load, names: list[str], health: Health, tried: threading.Event) -> None:
    waiting = {name: "" for name in names}  # name → the last reason, which is logged once
    while waiting:
        for name, before in list(waiting.items()):
            reason = _tried(load, name)
            health.clear(name)  # the worker does not wait for it any longer
            if reason is None:
                del waiting[name]
            elif reason != before:
                logger.warning("model.not_loaded", model=name, detail=reason)
                waiting[name] = reason
        tried.set()
        if waiting:
            time.sleep(RETRY_SECONDS)


def _tried(load: Load, name: str) -> str | None:
    """Why the model is not loaded; None: it is."""
    try:
        load(name)
    except ScoringError as error:
        return error.detail
    except Exception as error:
        logger.exception("model.crashed", model=name)
        return f"{type(error).__name__}: {error}"
    return None
