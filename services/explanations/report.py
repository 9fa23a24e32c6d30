"""What a model decided, how it explained that, and what metrics make of the explanation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from services.discovery import metrics
from shared.batch_contracts import BatchReport
from shared.contracts import Count, Message, ModelUse, ReasonCode, Report, Word
from shared.models.calls import WrittenToken
from shared.models.judgement import Reading, Share
from shared.report_contracts import Interval

Outcome = Literal["answered", "refused", "unparsable"]
UnscoredCode = Literal["refused", "unparsable", "unfit"]


class ExplanationsObstacle(Message):
    """Why something of the answer is null."""

    component: Literal["decision", "p", "stated_p", "tokens"]
    code: Literal["refused", "no-judge", "not-asked"] | ReasonCode
    detail: str


class ExplanationsSpan(Message):
    """A place in `answer`."""

    start: int = Field(ge=0, description="character offset into `answer` (Unicode code points)")
    end: int = Field(ge=0, description="character offset, exclusive")


class ExplanationsPromptUse(Message):
    """Which prompt was asked: enough to ask the same again."""

    name: Annotated[str, Word] = Field(description="`own`: it came with the request")
    version: Annotated[str, Word] | None
    sha256: Annotated[str, Word] = Field(
        description="of the prompt's file; of an own one, of its fields as JSON"
    )
    shots: int = Field(ge=0, description="demonstrations before the question")
    source: Annotated[str, Word]
    deviations: tuple[Annotated[str, Word], ...] = Field(description="from that source")


class ExplanationsElicitation(Message):
    """A model's answer, read."""

    outcome: Outcome = Field(
        description="`refused`: the model would not; `unparsable`: no decision can be read; "
        "neither is ever scored"
    )
    decision: Annotated[str, Word] | None = Field(
        description="as the answer states it, in the prompt's labels; where the prompt has the "
        "model explain a `target_label`, that one; null unless `answered`"
    )
    decided_by: Literal["model", "request"]
    conclusion: ExplanationsSpan | None = Field(description="the sentence that states the decision")
    p: dict[Annotated[str, Word], Share] | None = Field(
        description="label → its probability, as the same model judges the same text when it is "
        "asked by its own prompt for labels, without an explanation; null: `obstacles` says why"
    )
    probability: Share | None = Field(description="of the decision, in `p`")
    reading: Reading | None = Field(description="how `p` was read")
    mass: Share | None = Field(description="what the model gave to all labels together")
    stated_p: Share | None = Field(
        description="product of the probabilities of the tokens that state the decision, each "
        "after all that was written before it: near 1 behind an explanation that leads there"
    )
    answer: str = Field(description="all that the model answered, without reasoning before it")
    explanation: str = Field(description="the part of the answer that explains")
    tokens: tuple[WrittenToken, ...] = Field(description="of `answer`; empty where nobody tells")
    reasoning: str | None = Field(
        description="the chain of thought before the answer; never scored as an explanation; null "
        "where there was none, or a server's is not kept (`keep_reasoning` of the model's entry)"
    )
    reasoning_tokens: int | None = Field(description="null: not known")
    finish: Literal["stop", "length", "given"]
    language: Annotated[str, Word] = Field(description="of the text, BCP 47; `und`: undecided")
    obstacles: tuple[ExplanationsObstacle, ...]


class ExplanationsUnscored(Message):
    """A metric that was asked for and scored nothing."""

    metric: Annotated[str, Word]
    code: UnscoredCode = Field(description="`unfit`: the metric cannot take such an answer")
    detail: str


class ExplanationsProvenance(Message):
    """How the answer came about."""

    prompt: ExplanationsPromptUse
    model: ModelUse | None = Field(description="null where the answer was sent")
    seed: int
    generation: dict[str, Any] = Field(description="sampling in force")
    policy: Annotated[str, Word] | None = Field(
        description="a named one; `own`: the request's own words; null: as the prompt says"
    )
    service_version: str


def _own_report(value: Any) -> Any:
    """A stored report, as its metric's."""
    if not isinstance(value, dict):
        return value
    found = metrics().get(str(value.get("metric")))
    return value if found is None else found.report.model_validate(value)


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
