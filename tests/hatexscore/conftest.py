"""The embedded models, the trained reader among them, are bound unless a test binds others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import Models
from tests.hatexscore.fake import binding

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def embedded_models() -> Models:
    return local(load_catalogue(ROOT / "models.toml"))


@pytest.fixture(autouse=True)
def _bound(embedded_models: Models) -> Iterator[None]:
    with binding(embedded_models):
        yield
