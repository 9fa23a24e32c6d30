"""The real reader, which loads in some seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.models import ports
from tests.shipped import shipped_models

MODELS = Path(__file__).parents[2] / "models.toml"


@pytest.fixture(scope="session")
def _embedded() -> ports.Models:
    return shipped_models()


@pytest.fixture
def reader(_embedded: ports.Models) -> Iterator[None]:
    """The embedded models, for tests whose subject is reading."""
    ports.bind(_embedded)
    yield
    ports.bind(None)
