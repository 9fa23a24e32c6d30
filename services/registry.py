"""The services: every folder of `services` with a `contract.py`, and the code that shows its
results. No other module lists the services. Only contracts (declared request and result types) are
imported here; a worker imports the code behind them (`service`)."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import services
from shared.contracts.facts import FAILED, FactPlan, SurprisingRules
from shared.contracts.service import (
    MetricContract,
    ReportedContract,
    Service,
    ServiceContract,
    SurprisingRule,
)
from shared.process.settings import Settings, settings_or_exit
from shared.process.settings_sources import PREFIX, QUEUES

SERVE = f"{PREFIX}SERVE"
NO_SCORE = SurprisingRule(name="no-score", path="$ ? (@.score == null)", says="it has no score")


@lru_cache(maxsize=1)
def contracts() -> dict[str, ServiceContract]:
    """Return the contract (declared requests and results) of each service, by name and sorted."""
    folders = sorted(
        folder.name
        for folder in pkgutil.iter_modules(services.__path__)
        if folder.ispkg and importlib.util.find_spec(f"services.{folder.name}.contract")
    )
    return {
        folder: importlib.import_module(f"services.{folder}.contract").CONTRACT
        for folder in folders
    }


@lru_cache(maxsize=1)
def metrics() -> dict[str, MetricContract]:
    """Return the contracts of metrics, which score explanations, by name."""
    items = contracts().items()
    return {name: contract for name, contract in items if isinstance(contract, MetricContract)}


@lru_cache(maxsize=1)
def reported() -> dict[str, ReportedContract]:
    """Return the contracts of services with batch reports: the metrics, and some other services."""
    items = contracts().items()
    return {name: contract for name, contract in items if isinstance(contract, ReportedContract)}


@lru_cache(maxsize=1)
def all_contracts() -> dict[str, ServiceContract]:
    """Return the contract of everything that accepts jobs, by name: the services and the batch
    reports."""
    batches = [contract.batch for contract in reported().values()]
    return {**contracts(), **{batch.name: batch for batch in batches}}


def process_settings() -> Settings:
    """Return the settings of this process. Exit if they are invalid or name an unknown service."""
    settings = settings_or_exit()
    queues = (service for services in settings.queue_servers.values() for service in services)
    groups = ("metrics", "models")
    served = (name for name in settings.serve.split() if name not in groups)
    for variable, named, known in (
        (QUEUES, queues, contracts()),
        (SERVE, served, (*groups, *contracts())),
    ):
        if unknown := sorted(set(named) - contracts().keys()):
            names = ", ".join(known)
            message = f"no such service: {', '.join(unknown)}; there are: {names}"
            sys.stderr.write(f"{variable}: {message}\n")
            raise SystemExit(2)
    return settings


def service(name: str) -> Service:
    """Return the service with this name: the `SERVICE` of its `metric.py` or `service.py`."""
    module = next(
        module
        for module in (f"services.{name}.metric", f"services.{name}.service")
        if importlib.util.find_spec(module) is not None
    )
    instance: Service = importlib.import_module(module).SERVICE
    return instance


@lru_cache(maxsize=64)
def page(name: str) -> ModuleType | None:
    """Return the module that shows this service's results (its `page.py`), or None if it has
    none."""
    module = f"services.{name}.page"
    is_present = name in contracts() and importlib.util.find_spec(module) is not None
    return importlib.import_module(module) if is_present else None


def page_details(name: str) -> dict[str, Any]:
    """Return the request fields that only the metric's page needs, such as `token_values`."""
    details: dict[str, Any] = getattr(page(name), "DETAILS", {})
    return details


@lru_cache(maxsize=256)  # a name may come from an address
def page_file(name: str, file: str) -> Path | None:
    """Return a file of this service's page (`page.html`, `page.css`), or None if it does not
    exist."""
    package = importlib.util.find_spec(f"services.{name}") if name in contracts() else None
    folders = (package and package.submodule_search_locations) or ()
    return next((path for folder in folders if (path := Path(folder) / file).is_file()), None)


def surprising_rules(metric: str) -> SurprisingRules:
    """Return the rules that find surprising results: general problems, the metric's own rules, and
    missing scores."""
    contract = reported().get(metric)
    if contract is None:
        return SurprisingRules((NO_SCORE,))
    problems = (
        SurprisingRule(name=code, path=f'$.problems[*] ? (@ == "{code}")', says=phrase)
        for code, phrase in contract.problems.items()
    )
    general = (NO_SCORE,) if isinstance(contract, MetricContract) else ()
    direction = contract.report.model_fields.get("direction")
    return SurprisingRules(
        (*problems, *contract.surprising, *general),
        higher_is_better=direction is None or direction.default != "lower_is_better",
    )


def surprising_words(metric: str) -> dict[str, str]:
    """Map each reason why a result is surprising to the words that this metric's tables show."""
    rules = surprising_rules(metric).listed
    return {**{rule.name: rule.says for rule in rules}, FAILED: "the job failed"}


DECISION_WRONG = "decision-wrong"  # a tag that only people give


def tag_words(metric: str) -> dict[str, str]:
    """Map each tag that people can give to a result of this metric to its words."""
    contract = metrics().get(metric)
    return (
        {} if contract is None else {**contract.problems, DECISION_WRONG: "the decision is wrong"}
    )


def fact_plan(name: str) -> FactPlan | None:
    """Return the plan that converts results of this service into rows of the results table, or None
    without a plan."""
    contract = reported().get(name)
    if name in all_contracts() and (contract is None or contract.facts is None):
        return None
    rules = surprising_rules(name)
    if contract is None or contract.finding is None or isinstance(contract, MetricContract):
        return FactPlan(rules, contract)  # a metric's results say their own verdict
    finding, report = contract.finding, contract.report
    return FactPlan(rules, contract, lambda result: finding(report.model_validate(result)))
