"""The base of every metric: it says what is collected and reported, the rest follows.

A metric's `metric.py` derives from `Metric` and binds its one object to `SERVICE`; the worker
registers that. Workers only: whoever imports this may load numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, final, get_args

from shared.contracts import (
    BatchReport,
    Message,
    MetricContract,
    ModelUse,
    Provenance,
    Report,
    Scored,
    ScoreRequest,
    ServiceContract,
    Variant,
)
from shared.estimates import BatchStatistics
from shared.settings import SERVICE_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What the models answered to one request; a metric adds its arrays."""

    models: tuple[ModelUse, ...] = ()
    warnings: tuple[str, ...] = ()


Request = TypeVar("Request", bound=ScoreRequest)
Answers = TypeVar("Answers", bound=Collected)
Result = TypeVar("Result", bound=Report)
Choices = TypeVar("Choices")


class Service:
    """What one queue leads to."""

    contract: ClassVar[ServiceContract]

    def score(self, request: Any) -> Message:
        raise NotImplementedError


class Metric(Service, Generic[Request, Answers, Result, Choices]):
    """A service that scores explanations. Choices: the type of a row of `variants`, one a variant.

    A field of the row that decides a parameter bears the parameter's name: where the request leaves
    it out, the row's value stands in the provenance.
    """

    contract: ClassVar[MetricContract]
    variants: ClassVar[Mapping[Variant, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if set(cls.variants) != set(get_args(Variant)):
            raise TypeError(f"{cls.__name__}.variants must have a row for each of the three")

    def collect(self, requests: Sequence[Request]) -> Sequence[Answers]:
        """The models' answers to every request, in order, in as few calls as can be.

        What is collected for a request must not depend on the others.
        """
        raise NotImplementedError

    def report(self, request: Request, collected: Answers) -> Result:
        """Pure; `MyReport(**self.envelope(request, collected), …)`."""
        raise NotImplementedError

    def summarize(
        self, rows: Sequence[Scored[Request, Result]], over: BatchStatistics[Any]
    ) -> BatchReport:
        """The report over many results. Pure; `MyBatchReport(**over.envelope(), …)`."""
        return self.contract.batch_report(**over.envelope())

    def in_force(self, request: Request, collected: Answers) -> Mapping[str, Any]:
        """Parameters whose value is neither what was sent nor the variant's own."""
        return {}

    def expand(self, request: Request) -> tuple[Request, ...]:
        """The requests that this one stands for, itself first."""
        return (request,)

    def join(self, request: Request, reports: Sequence[Result]) -> Result:
        """One report out of those of `expand(request)`."""
        return reports[0]

    @final
    def score(self, request: Request) -> Result:
        return self.score_batch([request])[0]

    @final
    def score_batch(self, requests: Sequence[Request]) -> list[Result]:
        """The same reports as one by one, byte for byte, with the model calls of all together."""
        expanded = [self.expand(request) for request in requests]
        asked = [one for several in expanded for one in several]
        pairs = zip(asked, self.collect(asked), strict=True)
        made = iter([self.report(*pair) for pair in pairs])
        return [
            self.join(request, [next(made) for _ in several])
            for request, several in zip(requests, expanded, strict=True)
        ]

    @final
    def variant(self, request: Request) -> Choices:
        row: Choices = self.variants[request.variant]
        return row

    @final
    def envelope(
        self, request: Request, collected: Answers, warnings: Iterable[str] = ()
    ) -> dict[str, Any]:
        """What every report has: metric, warnings (collected ones first) and provenance."""
        standing = dict.fromkeys(each for use in collected.models for each in use.warnings)
        return {
            "metric": self.contract.name,
            "warnings": (*collected.warnings, *standing, *warnings),
            "provenance": Provenance(
                metric_version=self.contract.version,
                variant=request.variant,
                seed=request.seed,
                parameters=self.parameters(request, collected),
                models=collected.models,
                service_version=SERVICE_VERSION,
            ),
        }

    @final
    def parameters(self, request: Request, collected: Answers) -> dict[str, Any]:
        """Every parameter in force: as sent, else the variant's own, else as `in_force` says."""
        sent = request.model_dump(mode="json", exclude=set(self.contract.not_parameters))
        row = self.variant(request)
        own = {
            name: getattr(row, name)
            for name, value in sent.items()
            if value is None and hasattr(row, name)
        }
        return {**sent, **own, **self.in_force(request, collected)}
