"""Reports over many results of one metric: a room's `batch_report.py` answers these messages.

A report over a batch, or a list of jobs, is itself a job: `POST /v1/reports/{metric}`. Pydantic
only: the gateway reads this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Self, TypeVar

from pydantic import Field, StringConstraints, model_validator

from shared.contracts import JobRequest, Message, ModelKind, Report, Room, ScoreRequest
from shared.work import FEWEST_READ, Size, Work

MOST_JOBS = 50_000
SECONDS_A_DRAW = 7e-9  # of one observation in one resample, on one core

Id = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_-]*$")]  # no NUL

Asked = TypeVar("Asked", bound=ScoreRequest)
Answered = TypeVar("Answered", bound=Report)


class BatchReportRequest(JobRequest):
    """Whose results are summed up, and how."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="of the bootstrap")
    resamples: int = Field(default=2_000, ge=100, le=100_000, description="of the bootstrap")
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="level of every interval")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        return self


class Interval(Message):
    """An estimate with its interval and the number of observations behind it."""

    value: float | None = Field(description="null where nothing was observed")
    low: float | None = Field(description="null for fewer than two observations")
    high: float | None
    of: int = Field(ge=0, description="observations")


class Plot(Message):
    """One picture, in both formats."""

    name: str
    title: str
    svg: str
    png_base64: str


class BatchReport(Message):
    """What every metric's batch report has in common; a room adds its own tables."""

    metric: str
    scored: int = Field(ge=0, description="results that this report rests on")
    undefined: int = Field(ge=0, description="of these, results without a score")
    left_out: dict[str, int] = Field(
        default_factory=dict, description="jobs without a result, by status; filled in by the door"
    )
    score: Interval = Field(description="mean score, bootstrap interval over results")
    warnings: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    seed: int
    resamples: int
    confidence: float
    service_version: str


@dataclass(frozen=True)
class Scored(Generic[Asked, Answered]):
    """One succeeded job: what was asked and what was answered."""

    job_id: str
    custom_id: str | None
    request: Asked
    report: Answered


@dataclass(frozen=True, kw_only=True)
class ReportRoom(Room):
    """The door sign of a metric's batch reports; its name is `<metric>-report`."""

    metric: str
    needs_text: bool = True  # False: it never looks at a request's texts, so they may be gone
    request: type[BatchReportRequest] = BatchReportRequest
    report: type[BatchReport]
    model_kinds: tuple[ModelKind, ...] = ()  # no model is asked
    default_model: str | None = None
    intervals: int = 1  # about so many bootstrap intervals every result is drawn for

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

    @classmethod
    def general(cls, metric: str) -> Self:
        """The sign of a metric that has no report of its own."""
        return cls(
            name=f"{metric}-report",
            summary=f"Counts and mean score over many results of {metric}",
            metric=metric,
            needs_text=False,
            report=BatchReport,
        )

    @property
    def path(self) -> str:
        """Where its jobs are posted."""
        return f"/v1/reports/{self.metric}"
