"""The contract of a service: its messages, models, costs, form and batch reports. Other processes
know a service only through this object."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.calls import Turn, WrittenToken
from shared.contracts.checks import conclude, not_tested, undefined
from shared.contracts.elicitation import given_inputs, has_own_model
from shared.contracts.fields import is_number, messages_in, options_of
from shared.contracts.messages import (
    OF_PROVENANCE,
    TRANSPORT,
    Finding,
    Input,
    JobRequest,
    Message,
    ModelKind,
    Report,
    ScoreRequest,
    has_text,
)
from shared.contracts.request_cost import FEWEST_READ, Cost, Size, Work

R = TypeVar("R", bound=Report)
NO_CHECK = "The metric returns a score without a test."
SECONDS_A_DRAW = 7e-9  # of one observation in one resample, on one core
GOLD_FIGURES = 8  # about so many, ranked or summed anew in each resample
SECONDS_A_RANKING = 1.2e-7  # the same where each resample is ranked: areas under curves


@dataclass(frozen=True, kw_only=True)
class FormField:
    """An input of the form on page `/try`."""

    name: str
    label: str
    choices: tuple[str, ...] = ()  # of a selection; none: a text; an empty choice leaves it out
    hint: str = ""
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class SurprisingRule:
    """A rule for results that need a second look. PostgreSQL evaluates `path` (SQL/JSON, SQL:2016,
    section 9.46) on the report; a match is surprising."""

    name: str
    path: str
    says: str


@dataclass(frozen=True, kw_only=True)
class RivalGroup:
    """A group of results that is compared with chance separately. The dotted `path` leads to its
    means in a batch report. `wanted` is the desired outcome, if not to score above random
    explanations. It may contain `{share}`, the share that was beaten. `better` maps each
    component to its better direction."""

    path: str
    name: str
    wanted: str = ""
    better: Mapping[str, Literal["higher", "lower"]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GainWords:
    """Words that describe a mean gain, where 0 is no effect. `path` is the location of the gain in
    a report."""

    path: str
    closer: str
    farther: str


@dataclass(frozen=True, kw_only=True)
class FactPaths:
    """Paths to the values of a result that a table of results shows.

    Paths are dotted and lead into a report. `text`, `more_texts` and `decision_sent` lead into
    the request. Without `parts`, every number of `components` is a part. `chance` leads to the
    share of random alternatives (rivals) with a worse score. `rivals` are the words before
    and after "better than". `chance_score` is the expected score of a rival, or None if it
    depends on the text. `score_range` is for reports without one. `groups` are compared with
    chance separately. `gain` describes the main number of a batch report if it is a gain.
    `caveats` are first words of warnings that the summary of a batch report repeats. `facets`
    holds (name, SQL/JSON path) of filters. Results without a problem that have all facets of
    `last` come last in tables."""

    score: str = "score"
    model: str = "provenance.models.0.name"
    parts: tuple[str, ...] = ()
    chance: str = ""
    decision_stated: str = ""
    language: str = "languages.text.code"
    text: str = "text"
    more_texts: tuple[str, ...] = ()
    decision_sent: str = ""
    score_range: tuple[float, float] | None = None
    chance_score: float | None = None
    rivals: tuple[str, str] | None = None
    decision: str = ""
    passages: tuple[str, ...] = ()
    groups: tuple[RivalGroup, ...] = ()
    gain: GainWords | None = None
    caveats: tuple[str, ...] = ()
    facets: tuple[tuple[str, str], ...] = ()
    last: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ElicitedExplanation:
    """A model's answer from which a metric's request is made.

    `inputs` maps placeholders to texts. `answer` is the text after the model's reasoning, and
    `tokens` are its tokens, if known. `explanation` is the explaining part of the answer.
    `judge` names the model that decided, if it can also classify texts, with the labels
    `judge_labels`. `turns` is the answered prompt, with `{text}` for the text."""

    inputs: Mapping[str, str]
    answer: str
    explanation: str
    decision: str | None
    tokens: tuple[WrittenToken, ...] = ()
    reasoning: str | None = None
    policy: str | None = None
    model: str | None = None
    judge: str | None = None
    judge_labels: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    style: Literal["chat", "raw"] = "chat"

    def judged_by(self, *labels: str) -> dict[str, str]:
        """Return the field `model` with the judge's name, or {} if the judge is missing or lacks
        one of these labels."""
        fits = self.judge is not None and set(labels) <= set(self.judge_labels)
        return {"model": self.judge} if fits and self.judge is not None else {}


@dataclass(frozen=True, kw_only=True)
class FurtherRequest:
    """A request to another service, derived from a request."""

    pointer: str  # the field that asks for it
    contract: ServiceContract
    request: JobRequest


@dataclass(frozen=True, kw_only=True)
class ServiceContract:
    """A service's declaration: its name, request type and answer type."""

    name: str
    summary: str
    request: type[JobRequest]
    report: type[Message]
    model_kinds: tuple[ModelKind, ...]  # any of these will do
    default_model: str | None
    model_optional: bool = False  # whether some requests need none: the contract tells which
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    cost: Cost | None = (
        None  # how much work a request asks for; see `shared.contracts.request_cost`
    )
    server_cost: Cost | None = None  # instead, where its model is behind a server; absent: the same
    needs: Callable[[Any], tuple[str, ...]] | None = None  # abilities of its model that a request
    # needs; see `shared.models.catalogue.entry`
    writers: tuple[str, ...] = ()  # paths of fields that name a language model besides
    labels: tuple[str, ...] = ()  # canonical labels that a model must tell where "judge" is needed
    answers: Callable[[], Any] | None = None  # the type of its results in the API's description,
    # where the report's own says less
    fits: Callable[[Any, tuple[str, ...]], bool] | None = None  # whether a model of these labels
    # can be asked by this request; absent: it must tell all of `labels`
    several: Callable[[Any], Sequence[JobRequest]] | None = None  # the requests of the jobs that a
    # request asks for, where these are several; empty: it is one
    further: Callable[[Any], Sequence[FurtherRequest]] | None = None  # of other services, as far as
    # they are known before the job runs

    @property
    def path(self) -> str:
        return f"/v1/{self.name}"

    def work(self, request: JobRequest, reads: int = FEWEST_READ) -> Sequence[Work]:
        """Estimate the work of a request if the model reads at least `reads` tokens of each text.
        Return () if the service has no cost function."""
        return () if self.cost is None else self.cost(request, reads)


@dataclass(frozen=True, kw_only=True)
class BatchReportContract(ServiceContract):
    """The batch reports of a metric; their name is `<metric>-report`."""

    metric: str
    needs_text: bool  # False: it never looks at a request's texts, so they may be gone
    request: type[BatchReportRequest]
    report: type[BatchReport]
    model_kinds: tuple[ModelKind, ...] = ()  # no model is asked
    default_model: str | None = None
    intervals: int  # about so many bootstrap intervals every result is drawn for
    parts: int  # of a report, the score included: what systems and people are compared by

    @property
    def path(self) -> str:
        return "/v1/reports"

    @cached_property
    def corrections(self) -> dict[str, str]:
        """Map p-values of the report to their corrections for several tests."""
        return dict(_corrections(self.report, ""))

    def work(self, request: JobRequest, reads: int = FEWEST_READ) -> Sequence[Work]:
        """Estimate the work for the jobs that the request lists. Batches are not counted, because
        their size is unknown."""
        if not isinstance(request, BatchReportRequest):
            return ()
        systems = (*((request.against,) if request.against else ()), *request.further)
        listed = sum(len(system.jobs or ()) for system in (request, *systems))
        return self.work_over(request, listed)

    def work_over(
        self, request: JobRequest, results: int, judgements: int = 0, gold: int = 0
    ) -> Sequence[Work]:
        """Estimate the work of a report on many results. `judgements` counts reviewers' judgements,
        and `gold` counts results with people's labels."""
        if not isinstance(request, BatchReportRequest):
            return ()
        draws = Size("`resamples`", request.resamples, "/resamples", least=100)
        systems = (request.against is not None) + len(request.further)
        # a pair of results has a difference and a test in each part
        intervals = self.intervals + 2 * len(request.by) + systems * self.parts
        sizes = (
            draws,
            Size("results", results, None if request.jobs is None else "/jobs"),
            Size("intervals", intervals),
        )
        ranked = (draws, Size("judgements", judgements), Size("parts", self.parts))
        labelled = (draws, Size("results with gold columns", gold), Size("figures", GOLD_FIGURES))
        return (
            Work(sizes, unit="draws", seconds_each=SECONDS_A_DRAW),
            Work(ranked, unit="rankings of judgements", seconds_each=SECONDS_A_RANKING),
            Work(labelled, unit="draws of gold columns", seconds_each=SECONDS_A_RANKING),
        )


@dataclass(frozen=True, kw_only=True)
class ReportedContract(ServiceContract):
    """A service whose results are summarised in batch reports."""

    clustered_by: tuple[str, ...] = ("text", "text_pair")  # fields that say which text is judged
    batch_request: type[BatchReportRequest] = BatchReportRequest
    batch_report: type[BatchReport] = BatchReport
    batch_summary: str = ""  # none: counts and mean score
    batch_needs_text: bool = False
    batch_intervals: int = 1
    batch_plots: tuple[str, ...] = ()  # names of the pictures that a report may have
    surprising: tuple[SurprisingRule, ...] = ()  # the most surprising first, after the problems
    problems: Mapping[str, str] = field(default_factory=dict)  # code → what is wrong, worst first
    facts: FactPaths | None = None  # absent: its results stand in no table
    finding: Callable[[Any], Finding] | None = None  # of a report; absent: nothing is concluded

    def judged_text(self, request: object) -> str | None:
        """Return the judged text, for comparisons, or None if it is not kept. `request` may lack
        its texts if they were deleted."""
        fields = [getattr(request, name, None) for name in self.clustered_by]
        texts = [normalize_text(text) for text in map(_join_text, fields) if text]
        return str(texts) if texts else None

    @cached_property
    def parts(self) -> dict[str, str]:
        """Return a mapping from each part of the score to its path in a report. A path is either
        dotted or an SQL/JSON path."""
        return {}

    @property
    def score_range(self) -> tuple[float, float] | None:
        """Return the least and greatest score; None if the request sets them."""
        range_field = self.report.model_fields.get("range")
        if range_field is not None and isinstance(range_field.default, tuple):
            return range_field.default
        return None if self.facts is None else self.facts.score_range

    def as_scored(self, request: Any, report: Any) -> Any:
        """Return the request with the texts that were scored. By default this is the request
        itself. Raises ValidationError."""
        return request

    @property
    def compared(self) -> int:
        """Return how many numbers of each result are compared when two systems, or a system and
        people, are compared."""
        return 1

    @cached_property
    def batch(self) -> BatchReportContract:
        """Return the contract of the batch reports on this service's results."""
        general = f"Counts and mean score over many results of {self.name}"
        return BatchReportContract(
            name=f"{self.name}-report",
            summary=self.batch_summary or general,
            metric=self.name,
            needs_text=self.batch_needs_text,
            request=self.batch_request,
            report=self.batch_report,
            # by language each result once more; and every part
            intervals=self.batch_intervals + 1 + len(self.parts),
            parts=self.compared,
        )


@dataclass(frozen=True, kw_only=True)
class MetricContract(ReportedContract):
    """A metric: a service that scores explanations, one by one and over many."""

    version: str
    request: type[ScoreRequest]
    report: type[Report]
    explained: str | None = None  # the field of a report that says which label is explained
    form: tuple[FormField, ...] = ()
    facts: FactPaths = FactPaths()
    elicited: Callable[[ElicitedExplanation], dict[str, Any]] | None = None  # fields of the request
    # about an explanation that a model was asked for, null: what is missing; absent: takes none

    @property
    def path(self) -> str:
        return f"/v1/scores/{self.name}"

    def judged(self, report: R) -> R:
        """Return a copy of the report with its checks, and with the verdict that follows from these
        checks."""
        if self.finding is not None:
            finding = self.finding(report)
        else:
            unknown = undefined("score", report, "score")
            finding = conclude([unknown or not_tested("score", "no-check", NO_CHECK)], ())
        return report.model_copy(update=finding._asdict())

    def as_scored(self, request: Any, report: Any) -> Any:
        """Return the request with the explanation that a model wrote for it. Return the request
        unchanged if no model wrote one. Raises ValidationError."""
        elicitation = getattr(report, "elicitation", None)
        if self.elicited is None or elicitation is None or not elicitation.explanation:
            return request
        writer = elicitation.provenance.model
        elicited = ElicitedExplanation(
            inputs=given_inputs(request),
            answer=elicitation.answer,
            explanation=elicitation.explanation,
            decision=elicitation.decision,
            tokens=elicitation.tokens,
            reasoning=elicitation.reasoning,
            model=writer and writer.name,
            judge=writer.name if writer and elicitation.p else None,
            judge_labels=tuple(elicitation.p or ()),
        )
        values = {
            name: value for name, value in self.elicited(elicited).items() if value is not None
        }
        model = {"model": request.model} if has_own_model(request) else {}
        parameters = request.model_dump(mode="json", exclude={"explain", "model", *values})
        return self.request.model_validate(parameters | values | model)

    @cached_property
    def parts(self) -> dict[str, str]:
        """Return the dotted path of each part of the score in a report."""
        if self.facts.parts:
            return {path.rpartition(".")[2]: path for path in self.facts.parts}
        components = next(messages_in(self.report.model_fields["components"].annotation))
        fields = components.model_fields.items()
        return {name: f"components.{name}" for name, field in fields if is_number(field.annotation)}

    @cached_property
    def not_parameters(self) -> frozenset[str]:
        """Return the names of the request's fields that are not scoring parameters: texts marked
        `Input`, fields of transport, and the model, variant and seed."""
        fields = (self.request.model_fields | options_of(self.request)).items()
        texts = (name for name, field in fields if Input in field.metadata and has_text(field))
        return frozenset((*TRANSPORT, *OF_PROVENANCE, *texts))

    @property
    def compared(self) -> int:
        """Return how many values are compared between results: the score and each of its parts."""
        return len(self.parts) + 1


def _corrections(report: type[Message], path: str) -> Iterator[tuple[str, str]]:
    for name, model_field in report.model_fields.items():
        if name in ("p_adjusted", "q_value"):
            yield f"{path}{name}", model_field.description or ""
        for inner in messages_in(model_field.annotation):
            yield from _corrections(inner, f"{path}{name}.")


def normalize_text(text: str) -> str:
    """Normalise characters, case and spaces, to compare texts."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _join_text(field: object) -> str:
    """Return a text, or a message that holds texts, as one string. It is empty without a text."""
    if isinstance(field, Message):
        return field.model_dump_json()
    return field if isinstance(field, str) else ""


class Service:
    """Computes the jobs of a contract: a metric, inference, similarity or explanations."""

    contract: ClassVar[ServiceContract]

    def score(self, request: Any) -> Message:
        """Return the result of one request, an instance of the contract's result."""
        raise NotImplementedError
