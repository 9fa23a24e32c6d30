"""Which view shows which job; what a room without a view of its own gets."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from services.registry import every_contract
from shared.contracts import JobRequest, Message
from shared.ledger.jobs import Job

PACKAGE = "services.gateway.pages.metrics"


@dataclass(frozen=True)
class Viewed:
    """A template and what it shows: `view` is the metric's own, `report` the message."""

    template: str
    view: object
    report: Message


def viewed(job: Job) -> Viewed | None:
    """The metric's view of a succeeded job; None where this version cannot read its result.

    Waits for pictures: not for the event loop.
    """
    room = every_contract().get(job.metric)
    if room is None or job.result is None:
        return None
    try:
        report = room.report.model_validate(job.result)
    except ValidationError:  # of another version of the service
        return None
    module = _module(job.metric)
    view: Callable[[JobRequest | None, Message], object] = module.view
    return Viewed(module.TEMPLATE, view(asked(job), report), report)


def asked(job: Job) -> JobRequest | None:
    """The request; None where its text was not kept."""
    room = every_contract().get(job.metric)
    if room is None:
        return None
    try:
        return room.request.model_validate(job.request)
    except ValidationError:
        return None


def _module(metric: str) -> Any:
    name = f"{PACKAGE}.{metric}"
    own = metric.isidentifier() and importlib.util.find_spec(name) is not None
    return importlib.import_module(name if own else "services.gateway.pages.result_tables")
