"""The rooms of this house: every `services/*/contract.py` that names a METRIC or a ROOM."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import lru_cache

import services
from shared.contracts import Metric, Room


@lru_cache(maxsize=1)
def rooms() -> dict[str, Room]:
    """name → contract. Only the contracts are imported, never what stands behind."""
    found = (
        _sign(folder.name)
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and _has_contract(folder.name)
    )
    return {room.name: room for room in found}


def metrics() -> dict[str, Metric]:
    """The rooms that score explanations."""
    return {name: room for name, room in rooms().items() if isinstance(room, Metric)}


def _sign(folder: str) -> Room:
    contract = importlib.import_module(f"services.{folder}.contract")
    sign: Room = getattr(contract, "METRIC", None) or contract.ROOM
    return sign


def _has_contract(folder: str) -> bool:
    return importlib.util.find_spec(f"services.{folder}.contract") is not None
