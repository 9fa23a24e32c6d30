"""The embedded models, the trained reader among them, are bound unless a test binds others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.models.ports import Models
from tests.hatexscore.fake import binding
from tests.shipped import shipped_models

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def embedded_models() -> Models:
    return shipped_models()


@pytest.fixture(autouse=True)
def _bound(embedded_models: Models) -> Iterator[None]:
    with binding(embedded_models):
        yield
