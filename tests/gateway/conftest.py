"""A real gateway: uvicorn on a real port, real ledger and broker behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn

from services.gateway.app import create_app
from services.stack.redis_server import HOST, free_port
from shared.settings import Settings


@pytest.fixture(scope="session")
def _gateway(_settings: Settings) -> Iterator[str]:
    port = free_port()
    config = uvicorn.Config(create_app(_settings), host=HOST, port=port, log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://{HOST}:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def client(_gateway: str, chosen: Settings) -> Iterator[httpx.Client]:
    """A client of the gateway; ledger and broker are empty."""
    with httpx.Client(base_url=_gateway, timeout=60) as made:
        yield made
