"""The base class of every metric. A metric's `metric.py` derives from `Metric` and assigns its
single instance to `SERVICE`, which the worker registers. Only workers may import this module,
because it may load numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar, final, get_args

from shared.contracts.batches import BatchReport
from shared.contracts.errors import pointing_into
from shared.contracts.fields import messages_in, options_of
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
    """The models' answers to one request. A metric adds its own arrays. If there are `obstacles`,
    the request cannot be scored and the report is `undefined`."""

    models: tuple[ModelUse, ...] = ()
    warnings: tuple[str, ...] = ()
    languages: Languages | None = None
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedDecision:
    """A decision that an answer states."""

    label: str
    start: int  # of the sentence
    end: int
    words: tuple[int, int]  # that name the decision
    by: Literal["rules", "reader"] = "rules"  # the trained reader, or rules for data


Request = TypeVar("Request", bound=ScoreRequest)
Answers = TypeVar("Answers", bound=Collected)
Result = TypeVar("Result", bound=Report)
Choices = TypeVar("Choices")


class ReportedService(Service):
    """A service whose results are summarised in batch reports."""

    contract: ClassVar[ReportedContract]

    def summarize(self, rows: Sequence[Any], over: BatchStatistics[Any]) -> BatchReport:
        """Return the report over many results. This method is pure."""
        raise NotImplementedError

    def gold_source(self) -> GoldSource:
        """Return the functions by which results are compared with people's data."""
        raise NotImplementedError


class Metric(ReportedService, Generic[Request, Answers, Result, Choices]):
    """A service that scores explanations. `variants` has one row of type `Choices` for each
    variant. The fields of a row are defaults for request parameters of the same name."""

    contract: ClassVar[MetricContract]
    variants: ClassVar[Mapping[Variant, Any]]
    # scores requests with `explain` for all metrics; bound by the processes that can elicit
    explainer: ClassVar[Callable[[Any, Any], Any] | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if set(cls.variants) != set(get_args(Variant)):
            raise TypeError(f"{cls.__name__}.variants must have one row for each variant")

    def collect(self, requests: Sequence[Request]) -> Sequence[Answers]:
        """Return the models' answers to every request, in order, with as few calls as possible. The
        answers for one request must not depend on the other requests."""
        raise NotImplementedError

    def report(self, request: Request, collected: Answers) -> Result:
        """Return the report of one request. Create it as `MyReport(**self.envelope(request,
        collected), …)`. This method is pure."""
        raise NotImplementedError

    def coverage(self, request: Request) -> LanguageCoverage:
        """Return the languages of the request. Obstacles state why rules or models do not support a
        language. With an obstacle, no model is called and the report is `undefined`."""
        return LanguageCoverage()

    def undefined(self, request: Request, collected: Collected) -> Result:
        """Return the report without a score, for a request that cannot be scored."""
        raise NotImplementedError

    def summarize(
        self, rows: Sequence[Scored[Request, Result]], over: BatchStatistics[Any]
    ) -> BatchReport:
        """Return the report over many results. Create it as `MyBatchReport(**over.envelope(), …)`.
        This method is pure."""
        return self.contract.batch_report(**over.envelope())

    def gold_source(self) -> GoldSource:
        return metric_source(self.contract)

    def in_force(self, request: Request, collected: Answers) -> Mapping[str, Any]:
        """Return the parameters that neither the request nor the variant sets, with the values that
        the metric chose."""
        return {}

    def stated_decision(self, text: str, answer: str, language: str) -> StatedDecision | None:
        """Return the decision about the text that an answer states, or None.

        `language` is a BCP 47 tag or `auto`.
        """
        return None

    @final
    def score(self, request: Request) -> Result:
        if self.explainer is not None and getattr(request, "explain", None) is not None:
            explained: Result = self.explainer(request)
            return explained
        return self.score_batch([request])[0]

    @final
    def unscored(self, request: Request, obstacle: Obstacle) -> Result:
        """Return the report on an answer that has no explanation. The report has no score, and
        `obstacle` gives the reason. No model is called."""
        languages = self.coverage(request).languages
        collected = Collected(languages=languages, obstacles=(obstacle,))
        return self.contract.judged(self._undefined(request, collected))

    @final
    def score_batch(self, requests: Sequence[Request]) -> list[Result]:
        """Return one report per request, with model calls shared between requests. Each report
        equals the report of a single call byte for byte."""
        rows = [(request, self.coverage(request)) for request in requests]
        # models are asked only about requests whose languages they know
        covered = [request for request, coverage in rows if not coverage.obstacles]
        with pointing_into("/options", options_of(self.contract.request)):
            answers = iter(self.collect(covered) if covered else ())
        reports = []
        for request, coverage in rows:
            answer: Any = Collected() if coverage.obstacles else next(answers)
            answer = replace(
                answer,
                languages=answer.languages or coverage.languages,
                obstacles=(*coverage.obstacles, *answer.obstacles),
                warnings=(*coverage.warnings, *answer.warnings),
            )
            report = self._undefined if answer.obstacles else self.report
            reports.append(self.contract.judged(report(request, answer)))
        return reports

    def _undefined(self, request: Request, collected: Collected) -> Result:
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
        """Return the fields common to every report. Warnings of `collected` come first."""
        details = [obstacle.detail for obstacle in collected.obstacles]
        of_models = dict.fromkeys(warning for use in collected.models for warning in use.warnings)
        return {
            "metric": self.contract.name,
            "warnings": (*collected.warnings, *details, *of_models, *warnings),
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
        """Return every parameter used. Values come from the request, from the variant's defaults,
        or from `in_force` (values that the metric chose). If the request cannot be scored,
        `in_force` is not called."""
        excluded = self.contract.not_parameters
        fields = request.model_dump(mode="json", exclude=set(excluded))
        if options_of(self.contract.request):
            options = fields.pop("options").items()
            fields |= {name: value for name, value in options if name not in excluded}
        row = self.variant(request)
        defaults = {
            name: getattr(row, name)
            for name, value in fields.items()
            if value is None and hasattr(row, name)
        }
        in_force = {} if collected.obstacles else self.in_force(request, collected)
        return {**fields, **defaults, **in_force}
