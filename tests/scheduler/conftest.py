"""A scene for batches, on the gateway of the gateway's own tests."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import Engine

from shared.process.settings import Settings
from tests.batches import Scene
from tests.gateway.conftest import _gateway, client

__all__ = ["_gateway", "client"]


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Scene:
    """Gateway, ledger and broker are there and empty; the scheduler moves when told."""
    return Scene(client, engine, chosen)
