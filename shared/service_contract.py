"""How a service declares itself: its messages, models, costs, form and batch reports.

One object a service; gateway, queue, scheduler and worker know no more of it. Source: design.md §2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shared.contracts import (
    OF_PROVENANCE,
    TRANSPORT,
    BatchReport,
    BatchReportRequest,
    Input,
    JobRequest,
    Message,
    ModelKind,
    Report,
    ScoreRequest,
    holds_text,
)
from shared.work import FEWEST_READ, Cost, Size, Work

SECONDS_A_DRAW = 7e-9  # of one observation in one resample, on one core


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One input of `/try`; all else of a request is JSON there."""

    name: str
    label: str
    choices: tuple[str, ...] = ()  # of a selection; none: a text; an empty choice leaves it out
    hint: str = ""
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class SurprisingRule:
    """A result that deserves a second look. path: SQL/JSON (SQL:2016, section 9.46) into the
    report, evaluated by PostgreSQL; it finds something where the result is surprising."""

    name: str
    path: str
    says: str


@dataclass(frozen=True, kw_only=True)
class ServiceContract:
    """What one queue carries: a name and the two messages that pass through it."""

    name: str
    summary: str
    request: type[JobRequest]
    report: type[Message]
    model_kinds: tuple[ModelKind, ...]  # any of these will do
    default_model: str | None
    model_optional: bool = False  # whether some requests need none: the contract tells which
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    cost: Cost | None = None  # how much work a request asks for; see `shared.work`
    needs: Callable[[Any], tuple[str, ...]] | None = None  # abilities of its model that a request
    # needs; see `shared.models.abilities`
    writers: tuple[str, ...] = ()  # fields of a request that name a language model besides
    labels: tuple[str, ...] = ()  # canonical labels that a model must tell where "judge" is needed
    fits: Callable[[Any, tuple[str, ...]], bool] | None = None  # whether a model of these labels
    # can be asked by this request; absent: it must tell all of `labels`

    @property
    def path(self) -> str:
        return f"/v1/{self.name}"

    def work(self, request: JobRequest, reads: int = FEWEST_READ) -> Sequence[Work]:
        """What this request asks for; reads: tokens of a text that its model surely reads."""
        return () if self.cost is None else self.cost(request, reads)


@dataclass(frozen=True, kw_only=True)
class BatchReportContract(ServiceContract):
    """A metric's batch reports; their name is `<metric>-report`."""

    metric: str
    needs_text: bool  # False: it never looks at a request's texts, so they may be gone
    request: type[BatchReportRequest]
    report: type[BatchReport]
    model_kinds: tuple[ModelKind, ...] = ()  # no model is asked
    default_model: str | None = None
    intervals: int  # about so many bootstrap intervals every result is drawn for

    @property
    def path(self) -> str:
        return f"/v1/reports/{self.metric}"

    def work(self, request: JobRequest, reads: int = FEWEST_READ) -> Sequence[Work]:
        """As far as the request tells: of listed jobs, not of a batch."""
        listed = request.jobs if isinstance(request, BatchReportRequest) else None
        return self.work_over(request, len(listed or ()))

    def work_over(self, request: JobRequest, results: int) -> Sequence[Work]:
        """What this report over so many results asks for: every draw of every bootstrap."""
        if not isinstance(request, BatchReportRequest):
            return ()
        sizes = (
            Size("`resamples`", request.resamples, "/resamples", least=100),
            Size("results", results, None if request.jobs is None else "/jobs"),
            Size("intervals", self.intervals),
        )
        return (Work(sizes, unit="draws", seconds_each=SECONDS_A_DRAW),)


@dataclass(frozen=True, kw_only=True)
class MetricContract(ServiceContract):
    """A metric: a service that scores explanations, one by one and over many."""

    version: str
    request: type[ScoreRequest]
    report: type[Report]
    clustered_by: tuple[str, ...] = ("text", "text_pair")  # fields that say which text is judged
    batch_request: type[BatchReportRequest] = BatchReportRequest
    batch_report: type[BatchReport] = BatchReport
    batch_summary: str = ""  # none: counts and mean score
    batch_needs_text: bool = False
    batch_intervals: int = 1
    form: tuple[FormField, ...] = ()
    surprising: tuple[SurprisingRule, ...] = ()  # the most surprising first

    @property
    def path(self) -> str:
        return f"/v1/scores/{self.name}"

    @cached_property
    def not_parameters(self) -> frozenset[str]:
        """`TRANSPORT`, `OF_PROVENANCE`, and the texts marked `Input`: all others are parameters."""
        fields = self.request.model_fields.items()
        texts = (name for name, field in fields if Input in field.metadata and holds_text(field))
        return frozenset((*TRANSPORT, *OF_PROVENANCE, *texts))

    @cached_property
    def batch(self) -> BatchReportContract:
        """What its batch reports pass through."""
        general = f"Counts and mean score over many results of {self.name}"
        return BatchReportContract(
            name=f"{self.name}-report",
            summary=self.batch_summary or general,
            metric=self.name,
            needs_text=self.batch_needs_text,
            request=self.batch_request,
            report=self.batch_report,
            intervals=self.batch_intervals + 1,  # by language: each result once more
        )
