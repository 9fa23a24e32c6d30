"""The decision and explanation that a model was asked for, and the metrics' scores of the
explanation."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, Union

from pydantic import BeforeValidator, Field, SerializeAsAny, create_model, model_validator

from services.registry import metrics
from shared.contracts.answers import result_type
from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.elicitation import ExplanationsElicitation, ExplanationsProvenance, Outcome
from shared.contracts.messages import Count, Message, Report, Word
from shared.contracts.reports import Interval

UnscoredCode = Literal["refused", "unparsable", "unfit"]


class ExplanationsUnscored(Message):
    """A requested metric that gave no score."""

    metric: Annotated[str, Word]
    code: UnscoredCode = Field(description="`unfit`: the metric cannot score this kind of answer")
    detail: str


def _own_report(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    contract = metrics().get(str(value.get("metric")))
    return value if contract is None else contract.report.model_validate(value)


NEEDS_SCORES = ("against", "by", "judged", "plan", "sequence")  # fields of a report's request
AnyReport = Annotated[SerializeAsAny[Report], BeforeValidator(_own_report)]


class ExplanationsOutcomeShare(Message):
    """The number and share of answers with one outcome."""

    results: Count
    share: Interval


class ExplanationsScoreMean(Message):
    """The scores of one metric."""

    metric: Annotated[str, Word]
    results: Count = Field(description="number of scored answers")
    undefined: Count = Field(description="scored answers whose score is null")
    unscored: Count = Field(description="answers that the metric could not score")
    score: Interval = Field(description="mean score, with its interval over texts")


class ExplanationsBatchReportRequest(BatchReportRequest):
    """The answers to summarise. Options that compare scores are refused, since answers have no
    score. Use reports on the metrics' jobs."""

    @model_validator(mode="after")
    def _no_scores(self) -> Self:
        compares = {name for name in NEEDS_SCORES if getattr(self, name)}
        if compares:
            raise ValueError(
                f"`{min(compares)}` compares scores, but explanations have no scores; report on "
                "the jobs of a metric instead"
            )
        return self


class ExplanationsBatchReport(BatchReport):
    """A summary of many answers: their outcomes, their decisions, and the metrics' scores."""

    undefined: Count = Field(
        description="answers without a decision, because the model refused or the answer could not "
        "be read"
    )
    score: Interval = Field(
        default=Interval(value=None, low=None, high=None, of=0),
        description="null, because answers have no score of their own; see `scores`",
    )
    outcomes: dict[Outcome, ExplanationsOutcomeShare] = Field(description="outcomes of the answers")
    decisions: dict[str, Count] = Field(description="decision → answers")
    scores: tuple[ExplanationsScoreMean, ...] = Field(description="the score of each metric")


class ExplanationsResult(Message):
    """One answer of a model, and the scores of its explanation."""

    elicitation: ExplanationsElicitation
    scores: tuple[AnyReport, ...] = Field(
        description="the metrics' results in the order of the request, each in the form that the "
        "metric's own route returns"
    )
    unscored: tuple[ExplanationsUnscored, ...]
    warnings: tuple[str, ...]
    provenance: ExplanationsProvenance


def answers() -> Any:
    """Return the result type for the API description. Scores are a union of the metrics' types,
    selected by `metric`."""
    kinds: tuple[Any, ...] = tuple(
        result_type(metric.report, metric.name)
        for metric in metrics().values()
        if metric.elicited is not None
    )
    report: Any = Annotated[Union[kinds], Field(discriminator="metric")]  # noqa: UP007
    description = ExplanationsResult.model_fields["scores"].description
    fields: Any = {"scores": (tuple[report, ...], Field(description=description))}
    name, doc = ExplanationsResult.__name__, ExplanationsResult.__doc__
    return create_model(name, __base__=ExplanationsResult, __doc__=doc, **fields)
