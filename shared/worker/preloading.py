"""Models are loaded before the first job is taken; one that cannot be loaded keeps jobs waiting."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from shared import log
from shared.errors import ScoringError
from shared.worker.health import Health

RETRY_SECONDS = 10.0

logger = log.logger(__name__)


Load = Callable[[str], object]  # a model's name → it is loaded, or ScoringError


def preload(load: Load, names: Sequence[str], health: Health) -> None:
    """Load these models, each as often as it takes; returns when all are loaded."""
    for name in names:
        health.obstruct(name, "is not loaded yet")
    waiting = list(names)
    while waiting:
        waiting = [name for name in waiting if not _loaded(load, name, health)]
        if waiting:
            time.sleep(RETRY_SECONDS)


def _loaded(load: Load, name: str, health: Health) -> bool:
    try:
        load(name)
    except ScoringError as error:
        logger.error("model.failed", model=name, detail=error.detail)
        health.obstruct(name, error.detail)
        return False
    logger.info("model.loaded", model=name)
    health.clear(name)
    return True
