"""A client of the running service, for all tests of it that need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.registry import metrics
from tests.end_to_end.service import Service
from touchstone_client import Touchstone

Json = dict[str, Any]


@pytest.fixture
def service(whole_service: Service) -> Service:
    """The one that other tests use, too."""
    return whole_service


@pytest.fixture
def ts(service: Service) -> Iterator[Touchstone]:
    """A client of it."""
    with Touchstone(service.url) as client:
        yield client


@pytest.fixture(scope="session")
def bodies() -> dict[str, Json]:
    """metric -> a request that the embedded models can score."""
    return {name: dict(next(iter(one.examples.values()))) for name, one in metrics().items()}
