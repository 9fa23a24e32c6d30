"""A real gateway: uvicorn on a real port, real ledger and broker behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from shared.ledger import keys
from shared.ledger.keys import NewKey, Scope
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.gateway.serving import serving
from tests.patience import SECONDS

Opens = Callable[..., httpx.Client]


@pytest.fixture(scope="session")
def _gateway(_settings: Settings) -> Iterator[str]:
    with serving(_settings.model_copy(update={"authentication": "none"})) as url:
        yield url


@pytest.fixture
def client(_gateway: str, chosen: Settings) -> Iterator[httpx.Client]:
    """A client of the gateway; ledger and broker are empty."""
    with CheckedClient(base_url=_gateway, timeout=SECONDS) as made:
        yield made


@pytest.fixture(scope="session")
def _locked(_settings: Settings) -> Iterator[str]:
    with serving(_settings.model_copy(update={"authentication": "keys", "open_jobs": 5})) as url:
        yield url


@pytest.fixture
def opens(_locked: str, chosen: Settings, engine: Engine) -> Iterator[Opens]:
    """Makes clients of a gateway that asks for keys; five open jobs a tenant."""
    made: list[httpx.Client] = []

    def client(tenant: str = "a", *scopes: Scope, **more: Any) -> httpx.Client:
        wanted = NewKey(tenant, "test", scopes or ("score",), **more)
        with engine.begin() as connection:
            _, secret = keys.make(connection, wanted)
        bearer = {"Authorization": f"Bearer {secret}"}
        made.append(CheckedClient(base_url=_locked, timeout=SECONDS, headers=bearer))
        return made[-1]

    yield client
    for one in made:
        one.close()
