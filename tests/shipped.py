"""The models that ship with Touchstone, loaded once a process for every test that asks them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import Models

MODELS_FILE = Path(__file__).parents[1] / "models.toml"


@cache
def shipped_models() -> Models:
    return local(load_catalogue(MODELS_FILE))
