"""A gateway on a real port, for as long as a block lasts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn

from cli.stack.servers import HOST, free_port
from services.gateway.app import create_app
from services.gateway.pages import page_route
from services.gateway.server import config_of
from shared.process.settings import Settings

PAGE_LOOK_SECONDS = 0.2


@contextmanager
def serving(chosen: Settings) -> Iterator[str]:
    """Its URL. Its pages look often for what is new."""
    port = free_port()
    placed = chosen.model_copy(update={"host": HOST, "port": port})
    server = uvicorn.Server(config_of(create_app(placed), placed))
    thread = threading.Thread(target=server.run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_route, "LOOK_SECONDS", PAGE_LOOK_SECONDS)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://{HOST}:{port}"
        finally:  # a gateway that stays would keep the whole run from ending
            server.should_exit = True
            thread.join()
