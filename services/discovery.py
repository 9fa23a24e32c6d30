"""The contracts there are: every folder of `services` with a `contract.py`.

Messages alone: a contract may look here for the others, where the registry knows the stored results
and the pages, too.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import lru_cache

import services
from shared.service_contract import MetricContract, ReportedContract, ServiceContract


@lru_cache(maxsize=1)
def contracts() -> dict[str, ServiceContract]:
    """name → contract, in the order of names."""
    return {folder: _contract(folder) for folder in _folders()}


@lru_cache(maxsize=1)
def metrics() -> dict[str, MetricContract]:
    """Those that score explanations."""
    found = contracts().items()
    return {name: one for name, one in found if isinstance(one, MetricContract)}


@lru_cache(maxsize=1)
def reported() -> dict[str, ReportedContract]:
    """Those whose many results are summed up: the metrics, and whatever else has batch reports."""
    found = contracts().items()
    return {name: one for name, one in found if isinstance(one, ReportedContract)}


@lru_cache(maxsize=1)
def all_contracts() -> dict[str, ServiceContract]:
    """name → contract of everything that takes jobs: the services, and the batch reports."""
    batches = [one.batch for one in reported().values()]
    return {**contracts(), **{batch.name: batch for batch in batches}}


def _folders() -> list[str]:
    return sorted(
        folder.name
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and importlib.util.find_spec(f"services.{folder.name}.contract")
    )


def _contract(folder: str) -> ServiceContract:
    found: ServiceContract = importlib.import_module(f"services.{folder}.contract").CONTRACT
    return found
