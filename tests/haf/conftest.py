"""The real reader, which loads in some seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue

MODELS = Path(__file__).parents[2] / "models.toml"


@pytest.fixture(scope="session")
def _embedded() -> ports.Models:
    return local(load_catalogue(MODELS))


@pytest.fixture
def reader(_embedded: ports.Models) -> Iterator[None]:
    """The embedded models, for tests whose subject is reading."""
    ports.bind(_embedded)
    yield
    ports.bind(None)
