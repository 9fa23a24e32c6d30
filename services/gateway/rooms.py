"""The rooms of this house: every `services/*/contract.py` that names a METRIC or a ROOM.

A metric's batch reports are a room of their own, `<metric>-report`: the contract's BATCH_REPORT, or
the general one.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import lru_cache

import services
from shared.batch_reports import ReportRoom
from shared.contracts import Metric, Room


@lru_cache(maxsize=1)
def rooms() -> dict[str, Room]:
    """name → contract. Only the contracts are imported, never what stands behind."""
    return {room.name: room for room in map(_sign, _folders())}


def metrics() -> dict[str, Metric]:
    """The rooms that score explanations."""
    return {name: room for name, room in rooms().items() if isinstance(room, Metric)}


@lru_cache(maxsize=1)
def report_rooms() -> dict[str, ReportRoom]:
    """metric → the contract of its batch reports."""
    own = {found.metric: found for folder in _folders() if (found := _report_sign(folder))}
    return {metric: own.get(metric) or ReportRoom.general(metric) for metric in metrics()}


def every_room() -> dict[str, Room]:
    """name → contract of everything that takes jobs."""
    return {**rooms(), **{room.name: room for room in report_rooms().values()}}


def _folders() -> list[str]:
    return [
        folder.name
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and _has_contract(folder.name)
    ]


def _report_sign(folder: str) -> ReportRoom | None:
    contract = importlib.import_module(f"services.{folder}.contract")
    return getattr(contract, "BATCH_REPORT", None)


def _sign(folder: str) -> Room:
    contract = importlib.import_module(f"services.{folder}.contract")
    sign: Room = getattr(contract, "METRIC", None) or contract.ROOM
    return sign


def _has_contract(folder: str) -> bool:
    return importlib.util.find_spec(f"services.{folder}.contract") is not None
