"""The base of every metric: it says what is collected and reported, the rest follows.

A metric's `metric.py` derives from `Metric` and binds its one object to `SERVICE`; the worker
registers that. Workers only: whoever imports this may load numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar, final, get_args

from shared.contracts.batches import BatchReport
from shared.contracts.fields import messages_in
from shared.contracts.messages import (
    Languages,
    ModelUse,
    Provenance,
    Report,
    Scored,
    ScoreRequest,
    Variant,
)
from shared.contracts.service import (
    MetricContract,
    ReportedContract,
    Service,
)
from shared.process.settings import SERVICE_VERSION
from shared.reports.estimates import BatchStatistics
from shared.reports.gold_agreement import GoldSource, metric_source
from shared.text.language import LanguageCoverage, Obstacle


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What the models answered to one request; a metric adds its arrays.

    obstacles: why nothing can be scored; the report is then `undefined`."""

    models: tuple[ModelUse, ...] = ()
    warnings: tuple[str, ...] = ()
    languages: Languages | None = None
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedDecision:
    """A decision that an answer states. start, end: of the sentence; words: of what names it.

    by: `reader` if the trained reader read it, `rules` if the answer states it as data.
    """

    label: str
    start: int
    end: int
    words: tuple[int, int]
    by: Literal["rules", "reader"] = "rules"


Request = TypeVar("Request", bound=ScoreRequest)
Answers = TypeVar("Answers", bound=Collected)
Result = TypeVar("Result", bound=Report)
Choices = TypeVar("Choices")


class ReportedService(Service):
    """A service whose many results are summed up."""

    contract: ClassVar[ReportedContract]

    def summarize(self, rows: Sequence[Any], over: BatchStatistics[Any]) -> BatchReport:
        """The report over many results. Pure."""
        raise NotImplementedError

    def gold_source(self) -> GoldSource:
        """How its results are read beside what people say."""
        raise NotImplementedError


class Metric(ReportedService, Generic[Request, Answers, Result, Choices]):
    """A service that scores explanations. Choices: the type of a row of `variants`, one a variant.

    A field of the row that decides a parameter bears the parameter's name: where the request leaves
    it out, the row's value stands in the provenance.
    """

    contract: ClassVar[MetricContract]
    variants: ClassVar[Mapping[Variant, Any]]
    explainer: ClassVar[Callable[[Any, Any], Any] | None] = None  # scores what it elicits first;
    # of all metrics, bound by processes that have one

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

    def coverage(self, request: Request) -> LanguageCoverage:
        """Whether the rules and models that it needs know its languages; obstacles: nothing is
        collected, and the report is `undefined`."""
        return LanguageCoverage()

    def undefined(self, request: Request, collected: Collected) -> Result:
        """The report where nothing can be scored: `score` null, and all that it is made of."""
        raise NotImplementedError

    def summarize(
        self, rows: Sequence[Scored[Request, Result]], over: BatchStatistics[Any]
    ) -> BatchReport:
        """The report over many results. Pure; `MyBatchReport(**over.envelope(), …)`."""
        return self.contract.batch_report(**over.envelope())

    def gold_source(self) -> GoldSource:
        """As its contract's facts say."""
        return metric_source(self.contract)

    def in_force(self, request: Request, collected: Answers) -> Mapping[str, Any]:
        """Parameters whose value is neither what was sent nor the variant's own."""
        return {}

    def stated_decision(self, text: str, answer: str, language: str) -> StatedDecision | None:
        """The decision about the text that an answer states, as this metric reads explanations;
        None where it reads none. language: BCP 47, or `auto`."""
        return None

    @final
    def score(self, request: Request) -> Result:
        if self.explainer is not None and getattr(request, "explain", None) is not None:
            found: Result = self.explainer(request)
            return found
        return self.score_batch([request])[0]

    @final
    def unscored(self, request: Request, obstacle: Obstacle) -> Result:
        """The report on an explanation that is none: no model is asked about it."""
        languages = self.coverage(request).languages
        collected = Collected(languages=languages, obstacles=(obstacle,))
        return self.contract.judged(self._undefined(request, collected))

    @final
    def score_batch(self, requests: Sequence[Request]) -> list[Result]:
        """The same reports as one by one, byte for byte, with the model calls of all together."""
        covered = [self.coverage(request) for request in requests]
        # models are asked about those alone whose languages they know
        known = [one for one, own in zip(requests, covered, strict=True) if not own.obstacles]
        answers = iter(self.collect(known) if known else ())
        reports = []
        for request, own in zip(requests, covered, strict=True):
            answer: Any = Collected() if own.obstacles else next(answers)
            answer = replace(
                answer,
                languages=answer.languages or own.languages,
                obstacles=(*own.obstacles, *answer.obstacles),
                warnings=(*own.warnings, *answer.warnings),
            )
            make = self._undefined if answer.obstacles else self.report
            reports.append(self.contract.judged(make(request, answer)))
        return reports

    def _undefined(self, request: Request, collected: Collected) -> Result:
        """With the reason beside every null."""
        report = self.undefined(request, collected)
        parts = dict(report.components)
        kind: Any = next(messages_in(type(report).model_fields["reasons"].annotation))
        null = ["score", *(name for name, value in parts.items() if value is None)]
        reasons = tuple(
            kind(component=name, code=obstacle.code, detail=obstacle.detail)
            for name in null
            for obstacle in collected.obstacles
        )
        return report.model_copy(update={"reasons": reasons})

    @final
    def variant(self, request: Request) -> Choices:
        row: Choices = self.variants[request.variant]
        return row

    @final
    def envelope(
        self, request: Request, collected: Collected, warnings: Iterable[str] = ()
    ) -> dict[str, Any]:
        """What every report has: metric, warnings (collected ones first), languages, provenance."""
        details = [obstacle.detail for obstacle in collected.obstacles]
        standing = dict.fromkeys(each for use in collected.models for each in use.warnings)
        return {
            "metric": self.contract.name,
            "warnings": (*collected.warnings, *details, *standing, *warnings),
            "languages": collected.languages,
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
    def parameters(self, request: Request, collected: Any) -> dict[str, Any]:
        """Every parameter in force: as sent, else the variant's own, else as `in_force` says (of
        what was collected: not where nothing could be)."""
        sent = request.model_dump(mode="json", exclude=set(self.contract.not_parameters))
        row = self.variant(request)
        own = {
            name: getattr(row, name)
            for name, value in sent.items()
            if value is None and hasattr(row, name)
        }
        in_force = {} if collected.obstacles else self.in_force(request, collected)
        return {**sent, **own, **in_force}
