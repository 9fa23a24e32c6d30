"""The embedded models, the trained reader among them, are bound unless a test binds others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from tests.hatexscore.fake import binding

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="package")
def embedded_models() -> Iterator[None]:
    with binding(local(load_catalogue(ROOT / "models.toml"))):
        yield
