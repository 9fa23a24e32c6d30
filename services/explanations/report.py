"""What a model decided, how it explained that, and what metrics make of the explanation."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, Union

from pydantic import BeforeValidator, Field, SerializeAsAny, create_model, model_validator

from services.registry import metrics
from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.elicitation import ExplanationsElicitation, ExplanationsProvenance, Outcome
from shared.contracts.messages import Count, Message, Report, Word
from shared.contracts.reports import Interval

UnscoredCode = Literal["refused", "unparsable", "unfit"]


class ExplanationsUnscored(Message):
    """A metric that was asked for and scored nothing."""

    metric: Annotated[str, Word]
    code: UnscoredCode = Field(description="`unfit`: the metric cannot take such an answer")
    detail: str


def _own_report(value: Any) -> Any:
    """A stored report, as its metric's."""
    if not isinstance(value, dict):
        return value
    found = metrics().get(str(value.get("metric")))
    return value if found is None else found.report.model_validate(value)


NEEDS_SCORES = ("against", "by", "judged", "plan", "sequence")  # of a report's request
AnyReport = Annotated[SerializeAsAny[Report], BeforeValidator(_own_report)]


class ExplanationsOutcomeShare(Message):
    """The answers that ended so."""

    results: Count
    share: Interval


class ExplanationsScoreMean(Message):
    """The scores that one metric gave."""

    metric: Annotated[str, Word]
    results: Count = Field(description="answers that it scored")
    undefined: Count = Field(description="of these, answers without a score")
    unscored: Count = Field(description="answers that it was asked for and could not take")
    score: Interval = Field(description="mean score, with its interval over texts")


class ExplanationsBatchReportRequest(BatchReportRequest):
    """Whose answers are summed up. They have no score of their own, so what compares scores is
    refused: report on the metric's own jobs for that."""

    @model_validator(mode="after")
    def _no_scores(self) -> Self:
        compares = {name for name in NEEDS_SCORES if getattr(self, name)}
        if compares:
            raise ValueError(
                f"`{min(compares)}` is about scores, and an answer has none of its own"
            )
        return self


class ExplanationsBatchReport(BatchReport):
    """Many answers: how they end, what they decide, and what metrics make of them."""

    undefined: int = Field(ge=0, description="of these, answers that refuse or cannot be read")
    score: Interval = Field(
        default=Interval(value=None, low=None, high=None, of=0),
        description="null: an answer has no score of its own; see `scores`",
    )
    outcomes: dict[Outcome, ExplanationsOutcomeShare] = Field(description="how the answers end")
    decisions: dict[str, Count] = Field(description="decision → answers")
    scores: tuple[ExplanationsScoreMean, ...] = Field(description="of each metric that was asked")


class ExplanationsResult(Message):
    """One answer of a model, and the scores of its explanation."""

    elicitation: ExplanationsElicitation
    scores: tuple[AnyReport, ...] = Field(
        description="in the order asked for; each as the metric's own route answers"
    )
    unscored: tuple[ExplanationsUnscored, ...]
    warnings: tuple[str, ...]
    provenance: ExplanationsProvenance


def answers() -> Any:
    """The result as the API describes it: scores are told apart by their metric."""
    kinds: tuple[Any, ...] = tuple(
        one.tagged_report for one in metrics().values() if one.elicited is not None
    )
    report: Any = Annotated[Union[kinds], Field(discriminator="metric")]  # noqa: UP007
    said = ExplanationsResult.model_fields["scores"].description
    fields: Any = {"scores": (tuple[report, ...], Field(description=said))}
    name, says = ExplanationsResult.__name__, ExplanationsResult.__doc__
    return create_model(name, __base__=ExplanationsResult, __doc__=says, **fields)
