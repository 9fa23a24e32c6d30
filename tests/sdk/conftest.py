"""One running service for all tests of the client that need one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from services.gateway.openapi_examples import FOLDER
from services.registry import metrics
from tests.end_to_end.service import Service, serving
from touchstone_client import Touchstone

Json = dict[str, Any]
SETTINGS = {"TOUCHSTONE_WEBHOOK_ALLOW": "127.0.0.1/32"}


def recorded(operation: str) -> Json:
    """`{"request", "answer", …}` of a real run."""
    found: Json = json.loads((FOLDER / f"{operation}.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With the embedded models, started once a session."""
    with serving(tmp_path_factory.mktemp("sdk") / "var", **SETTINGS) as made:
        yield made


@pytest.fixture
def ts(service: Service) -> Iterator[Touchstone]:
    """A client of it."""
    with Touchstone(service.url) as client:
        yield client


@pytest.fixture(scope="session")
def bodies() -> dict[str, Json]:
    """metric -> a request that the embedded models can score."""
    return {name: dict(next(iter(one.examples.values()))) for name, one in metrics().items()}
