"""A scene for the command line: gateway and scheduler as for batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine
from structlog.testing import capture_logs

from shared.process.settings import Settings
from tests.batches import Scene
from tests.gateway.conftest import _gateway, client

__all__ = ["_gateway", "client"]


@pytest.fixture
def scene(
    client: httpx.Client, engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> Scene:
    """The environment points at this gateway."""
    monkeypatch.setenv("TOUCHSTONE_URL", str(client.base_url))
    return Scene(client, engine, chosen)


@pytest.fixture
def busy(scene: Scene) -> Iterator[Scene]:
    """Somebody keeps feeding, filing and ending jobs."""
    stop = threading.Event()

    def work() -> None:
        feeder, filing = scene.feeder(), scene.filing()
        while not stop.wait(0.05):
            filing.round()
            feeder.round()
            scene.work()

    thread = threading.Thread(target=work)
    with capture_logs():  # our own logs are not the command's words
        thread.start()
        yield scene
        stop.set()
        thread.join()
