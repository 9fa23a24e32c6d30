"""HAF: would a rational human under ideal conditions stand by these reasons?

Source: Mothilal et al., Human-Aligned Faithfulness in Toxicity Explanations of LLMs,
arXiv:2506.19113. Messages only; the card is README.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from services.haf.batch_messages import HafBatchReport, HafBatchReportRequest
from services.haf.cost import cost
from services.haf.report import HafReport
from services.haf.responses import Responses
from shared.contracts import (
    MAX_TEXT,
    FormField,
    Input,
    Message,
    MetricContract,
    ModelName,
    ScoreRequest,
    SurprisingRule,
)

DEFAULT_SIMILARITY = "embedded-similarity"

Weight = Annotated[float, Field(ge=0, le=1)]
Target = Literal["sentence", "label"]


class AnswerWeights(Message):
    """w_S and w_N of Eqs. 9 and 11 (section 4.3): what a decision is worth."""

    upheld: Weight = Field(default=1.0, description="sufficiency: sufficient; necessity: not")
    doubtful: Weight = Field(default=0.5, description="it may or may not suffice")
    denied: Weight = Field(default=0.1, description="the contrary of `upheld`")
    unanswered: Weight = Field(default=0.1, description="irrelevant or unclear")


class Weights(Message):
    """Shares of confidence against similarity or diversity, and what answers are worth."""

    sos_confidence: Weight = Field(default=0.8, description="w_c of Eq. 5; w_g is the rest")
    uii_confidence: Weight = Field(default=0.5, description="w_c of Eq. 7")
    uei_confidence: Weight = Field(default=0.5, description="w_c of Eq. 7 for UEI")
    sufficiency_confidence: Weight = Field(default=0.5, description="of confidence in Eq. 10")
    answers: AnswerWeights = Field(default_factory=AnswerWeights)
    necessity_without_reasons: Weight | None = Field(
        default=None,
        description="I_N where no reason is given, which Eq. 12 leaves undefined; absent: the "
        "variant's own (`robust` 0, `reference` 0.01, `paper` undefined)",
    )


class Generation(Message):
    """How the model is prompted; the seed is the request's."""

    temperature: float = Field(default=0.6, ge=0, le=5)
    top_p: float = Field(default=0.8, gt=0, le=1)
    max_tokens: int = Field(default=256, ge=1, le=4_096, description="of each response")


class HafRequest(ScoreRequest):
    """A text, and either a language model that is prompted or the responses of one."""

    text: Annotated[str, Input] = Field(
        min_length=1, max_length=MAX_TEXT, description="the moderated text"
    )
    responses: Annotated[Responses | None, Input] = Field(
        default=None, description="bring your own, instead of `model`: nothing is generated"
    )
    similarity: ModelName = Field(
        default=DEFAULT_SIMILARITY, description="a configured similarity or cross-encoder: g"
    )
    decision_model: ModelName | None = Field(
        default=None,
        description="who reads decisions that the rules cannot: a classifier of pairs with the "
        "label `entailment`, or a similarity; absent: `similarity`",
    )
    generation: Generation = Field(default_factory=Generation)
    samples: int = Field(default=1, ge=1, le=16, description="generations; needs `model`")
    permute_reasons: int = Field(
        default=0, ge=0, le=8, description="other orders of the reasons to try; needs `model`"
    )
    decision_target: Target | None = Field(
        default=None,
        description="what a decision's tokens are relevant to: the `sentence` (Eq. 3), or its "
        "`label` as in the released code; absent: the variant's own",
    )
    weights: Weights = Field(default_factory=Weights)
    extras: bool = Field(default=False, description="report DiS-dpp and del-PE too")
    token_values: bool = Field(
        default=False,
        description="report each token's log-probability and relevance, of every reason and "
        "decision; about 100 bytes a token",
    )

    @model_validator(mode="after")
    def _model_or_responses(self) -> Self:
        if (self.model is None) == (self.responses is None):
            raise ValueError("give either `model` or `responses`")
        if self.model is None and (self.samples > 1 or self.permute_reasons):
            raise ValueError("`samples` and `permute_reasons` need `model`: they generate")
        return self


def _response(text: str, *logprobs: float) -> dict[str, Any]:
    """Words with a log-probability each, in turn."""
    words = text.split(" ")
    tokens = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    values = [logprobs[place % len(logprobs)] for place in range(len(words))]
    return {"text": text, "logprobs": {"tokens": tokens, "token_logprobs": values}}


_OWN_RESPONSES = {
    "text": "Honestly, those lazy neighbours should all move away from our town.",
    "responses": {
        "justify": _response(
            "The text is toxic.\n1. It calls a whole group of neighbours lazy.\n"
            "2. It demands that they leave the town.",
            *(-0.2, -0.05, -0.4, -0.1),
        ),
        "internal": _response("No, additional reasons are not required.", -0.3, -0.1),
        "individual": [
            _response("No additional reason is required.", -0.5, -0.2),
            _response(
                "Yes, an additional reason is required.\n1. It also calls the neighbours lazy.",
                *(-0.4, -0.1),
            ),
        ],
    },
}

CONTRACT = MetricContract(
    name="haf",
    version="1.0",
    summary="Would a rational human stand by these reasons? Confidence, diversity, sufficiency",
    request=HafRequest,
    report=HafReport,
    model_kinds=("causal",),
    default_model=None,
    model_optional=True,
    cost=cost,
    examples={
        "your own responses": _OWN_RESPONSES,
        "with every token": {**_OWN_RESPONSES, "token_values": True},
    },
    batch_request=HafBatchReportRequest,
    batch_report=HafBatchReport,
    batch_summary="The paper's tables over many results: means, sample sizes, sufficient and "
    "irrelevant",
    batch_intervals=27,
    form=(FormField(name="text", label="Text", hint="what was moderated"),),
    surprising=(
        SurprisingRule(
            name="refusal",
            path="$ ? (@.refusal == true)",
            says="the model refused to justify",
        ),
        SurprisingRule(
            name="stance-unclear",
            path='$ ? (@.stance == "unclear")',
            says="no stance can be read from the answer",
        ),
    ),
)
