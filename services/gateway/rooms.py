"""The rooms of this house: every `services/*/contract.py` that names a METRIC."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import lru_cache

import services
from shared.contracts import Metric


@lru_cache(maxsize=1)
def rooms() -> dict[str, Metric]:
    """metric name → its contract. Only the contracts are imported, never what stands behind."""
    found = (
        importlib.import_module(f"services.{folder.name}.contract").METRIC
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and _has_contract(folder.name)
    )
    return {metric.name: metric for metric in found}


def _has_contract(folder: str) -> bool:
    return importlib.util.find_spec(f"services.{folder}.contract") is not None
