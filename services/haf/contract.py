"""The request of HAF, which tests if a rational human under ideal conditions would stand by a
model's reasons. Source: Mothilal et al., Human-Aligned Faithfulness in Toxicity Explanations of
LLMs, arXiv:2506.19113. Responses have the format of OpenAI-compatible servers. See
docs/methods/haf.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from services.haf.report import HafBatchReport, HafBatchReportRequest, HafResult
from services.haf.verdict import PROBLEMS, finding
from shared.contracts.calls import WrittenToken
from shared.contracts.elicitation import ExplainableRequest, has_own_model
from shared.contracts.explanation_fields import ExplanationFields
from shared.contracts.messages import MAX_TEXT, Input, Message, ModelName, RequiredText
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
    SurprisingRule,
)

DEFAULT_SIMILARITY = "embedded-similarity"
MOST_REASONS = 64  # of a JUSTIFY response that later stages ask about
MOST_TOKENS = 8_192  # of a response
REASONS = 4  # that a model usually gives
STAGES = 3  # prompts beside the single reasons: JUSTIFY and twice UPHOLD-REASON
CHARACTERS_A_TOKEN = 4
SECONDS_A_CHARACTER = 2e-5  # of responses: sentences, lists, stances

Weight = Annotated[float, Field(ge=0, le=1)]
Byte = Annotated[int, Field(ge=0, le=255)]
# A server may round a probability of 1 up; a value above 0 by no more than this counts as 0.
Logprob = Annotated[float, Field(le=1e-4, description="natural logarithm")]
DecisionTarget = Literal["sentence", "label"]


class HafAnswerWeights(Message):
    """The weights of the answers (w_S and w_N of the HAF paper, section 4.3)."""

    upheld: Weight = Field(
        default=1.0,
        description="for sufficiency: the reason is sufficient; for necessity: the other reasons "
        "are not",
    )
    doubtful: Weight = Field(default=0.5, description="the reason may or may not be sufficient")
    denied: Weight = Field(default=0.1, description="the opposite of `upheld`")
    unanswered: Weight = Field(default=0.1, description="the answer is irrelevant or unclear")


class HafWeights(Message):
    """The weight of confidence in each mean, and the weights of the answers."""

    sos_confidence: Weight = Field(
        default=0.8, description="w_c of Eq. 5, the weight of confidence; w_g is 1 - w_c"
    )
    uii_confidence: Weight = Field(default=0.5, description="w_c of Eq. 7")
    uei_confidence: Weight = Field(
        default=0.5, description="w_c of Eq. 7 for UEI, the weight of confidence"
    )
    sufficiency_confidence: Weight = Field(
        default=0.5, description="weight of confidence in Eq. 10"
    )
    answers: HafAnswerWeights = Field(default_factory=HafAnswerWeights)
    necessity_without_reasons: Weight | None = Field(
        default=None,
        description="I_N if no reason is given, which Eq. 12 leaves undefined; absent: 0 for "
        "`robust`, 0.01 for `reference`, undefined for `paper`",
    )


class HafGeneration(Message):
    """Generation settings. The seed is that of the request."""

    temperature: float = Field(default=0.6, ge=0, le=5)
    top_p: float = Field(default=0.8, gt=0, le=1)
    max_tokens: int = Field(
        default=256, ge=1, le=4_096, description="maximum tokens of each response"
    )


class HafOpenMessage(Message):
    """Base of objects in a server's response. Unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")


class HafChatToken(HafOpenMessage):
    """An entry of `choices[].logprobs.content`."""

    token: str
    logprob: Logprob
    bytes: list[Byte] | None = Field(
        default=None,
        description="the token's UTF-8 bytes, for tokens that are not whole characters",
    )


class HafChatLogprobs(HafOpenMessage):
    """`choices[].logprobs` of a chat completion."""

    content: list[HafChatToken] = Field(max_length=MOST_TOKENS)


class HafCompletionLogprobs(HafOpenMessage):
    """`choices[].logprobs` of a completion."""

    tokens: list[str] = Field(max_length=MOST_TOKENS)
    token_logprobs: list[Logprob] = Field(max_length=MOST_TOKENS)

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if len(self.tokens) != len(self.token_logprobs):
            raise ValueError("give one log-probability for each token")
        return self


def _shape(sent: Any) -> str:
    """Return which of the two shapes the input is meant to have, so that errors refer only to that
    shape."""
    if isinstance(sent, HafChatLogprobs) or (isinstance(sent, dict) and "content" in sent):
        return "chat"
    return "completion"


Logprobs = Annotated[
    Annotated[HafChatLogprobs, Tag("chat")] | Annotated[HafCompletionLogprobs, Tag("completion")],
    Discriminator(_shape),
]


class HafResponse(Message):
    """A model's response in one stage, with the log-probability of each token. Without
    log-probabilities, values that depend on the model's confidence are null."""

    text: str = Field(max_length=MAX_TEXT)
    logprobs: Logprobs | None = Field(
        default=None,
        description="`choices[].logprobs` of a chat completion or of a completion. Without "
        "them, score and parts are undefined, and `control.unweighted` has the "
        "values from the texts alone",
    )
    tokens: tuple[WrittenToken, ...] | None = Field(
        default=None,
        max_length=MOST_TOKENS,
        description="instead of `logprobs`: tokens with offsets into `text`, in the form that "
        "`POST /v1/inference` returns",
    )

    @model_validator(mode="after")
    def _has_tokens(self) -> Self:
        if self.logprobs is not None and self.tokens is not None:
            raise ValueError("give either `logprobs` or `tokens`")
        for token in self.tokens or ():
            if not token.start <= token.end <= len(self.text):
                raise ValueError("a token's offsets are outside the text; check `start` and `end`")
        return self


class HafResponses(Message):
    """The stages that the caller has run; each is a separate conversation."""

    justify: HafResponse = Field(
        description="answer to the JUSTIFY prompt: is the text toxic, and why?"
    )
    internal: HafResponse | None = Field(
        default=None,
        description="answer to UPHOLD-REASON (internal): is a reason based on the text missing?",
    )
    external: HafResponse | None = Field(
        default=None,
        description="answer to UPHOLD-REASON (external): is a reason beyond the text missing?",
    )
    individual: tuple[HafResponse | None, ...] | None = Field(
        default=None,
        max_length=MOST_REASONS,
        description="answers to UPHOLD-STANCE, one for each JUSTIFY reason in order. The prompt "
        "shows this reason alone (toxic, maybe), or all other reasons (non-toxic). Null if there "
        "is no answer",
    )


class HafRequest(ExplainableRequest):
    """A text, and either a language model to prompt or a model's responses."""

    explained_field: ClassVar[str | None] = None  # `responses`, or a model's own
    explain_prompt: ClassVar[str] = "haf-justify"

    text: Annotated[RequiredText, Input] = Field(description="the moderated text")
    responses: Annotated[HafResponses | None, Input] = Field(
        default=None,
        description="your own model's responses instead of `model`; the service generates nothing",
    )
    explanation: Annotated[ExplanationFields | None, Input] = Field(
        default=None,
        description="instead of `responses`: decision and reasons as fields. Fields have no "
        "log-probabilities, so only `control.unweighted` has values. If you have "
        "log-probabilities, send the fields as JSON in `responses.justify.text`",
    )
    similarity: ModelName = Field(
        default=DEFAULT_SIMILARITY,
        description="configured similarity model or cross-encoder that computes g",
    )
    generation: HafGeneration = Field(default_factory=HafGeneration)
    samples: int = Field(default=1, ge=1, le=16, description="number of generations; needs `model`")
    permute_reasons: int = Field(
        default=0,
        ge=0,
        le=8,
        description="number of other orders of the reasons to try; needs `model`",
    )
    decision_target: DecisionTarget | None = Field(
        default=None,
        description="what the relevance of a decision's tokens is measured against: the "
        "`sentence` (Eq. 3), or its `label` as in the released code; absent: set by the variant",
    )
    weights: HafWeights = Field(default_factory=HafWeights)
    extras: bool = Field(default=False, description="whether to report DiS-dpp and del-PE too")
    token_values: bool = Field(
        default=False,
        description="whether to report each token's log-probability and relevance, for every "
        "reason and decision; about 100 bytes per token",
    )

    @property
    def sent(self) -> HafResponses | None:
        """The responses in the request. An explanation with fields counts as the first response."""
        if self.explanation is None:
            return self.responses
        text = self.explanation.model_dump_json(exclude_none=True)
        return HafResponses(justify=HafResponse(text=text))

    @model_validator(mode="after")
    def _model_or_responses(self) -> Self:
        if self.explanation is not None and self.responses is not None:
            raise ValueError("give either `responses` or `explanation`")
        if self.explain is not None and self.sent is not None:
            raise ValueError("give either `responses` or `explain`")
        if self.explain is None and (self.model is None) == (self.sent is None):
            raise ValueError("give either `model` or `responses`")
        if has_own_model(self):
            raise ValueError(
                "give either `model` or `explain.model`; an answer to `explain` is scored without "
                "another model"
            )
        generates = self.model is not None and self.explain is None
        if not generates and (self.samples > 1 or self.permute_reasons):
            raise ValueError(
                "`samples` and `permute_reasons` make the service generate text; name a "
                "`model`, or leave them out"
            )
        return self


def _response(text: str, *logprobs: float) -> dict[str, Any]:
    """Return a response of these words. The words use the log-probabilities in turn, from the first
    again if there are too few."""
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
            _response("No, that reason is sufficient by itself.", -0.4, -0.1),
        ],
    },
}


def cost(request: HafRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost of prompting a model, or of comparing the given responses. The length and
    number of reasons of a model's answers are unknown in advance, so that part of the estimate is
    marked as uncertain. `model_calls.check_cost` applies the exact limit."""
    if (sent := request.sent) is not None:
        return tuple(_of_responses(sent, reads))
    return tuple(_of_generation(request))


def _of_generation(request: HafRequest) -> Iterator[Work]:
    samples = Size("`samples`", request.samples, "/samples")
    text = Size("tokens of `text`", max(1, words_of(request.text)), "/text")
    yield Work((samples, text))  # JUSTIFY is asked in any case
    later = STAGES + REASONS + request.permute_reasons
    prompts = Size("prompts (`permute_reasons` and stages)", later, "/permute_reasons")
    written = Size("`max_tokens`", request.generation.max_tokens, "/generation/max_tokens")
    yield Work((samples, prompts, written), certain=False)


def _of_responses(responses: HafResponses, reads: int) -> Iterator[Work]:
    """Yield the cost of scoring the responses. It is quadratic in tokens, because each statement is
    compared with itself without each token."""
    every = [
        responses.justify,
        *(one for one in (responses.internal, responses.external) if one is not None),
        *(one for one in responses.individual or () if one is not None),
    ]
    characters = Size("characters of `responses`", sum(len(one.text) for one in every))
    yield Work((characters,), "characters", seconds_each=SECONDS_A_CHARACTER)
    pairs = sum(map(_tokens, every))
    if pairs:
        longest = max(len(one.text) for one in every) / CHARACTERS_A_TOKEN / REASONS
        tokens = Size("tokens of a statement", max(1.0, min(reads, longest)))
        yield Work((Size("tokens of `responses`", pairs), tokens), certain=False)


def _tokens(response: HafResponse) -> int:
    if response.tokens is not None:
        return len(response.tokens)
    match response.logprobs:
        case HafChatLogprobs(content=content):
            return len(content)
        case HafCompletionLogprobs(tokens=tokens):
            return len(tokens)
    return 0


def elicited(found: ElicitedExplanation) -> dict[str, Any]:
    """Return a request with the answer as its only response, in the stage JUSTIFY."""
    justify: dict[str, Any] = {"text": found.answer}
    if found.tokens:
        justify["tokens"] = [one.model_dump() for one in found.tokens]
    return {"text": found.inputs.get("text"), "responses": {"justify": justify}}


CONTRACT = MetricContract(
    name="haf",
    version="1.2",
    summary="Would a rational human stand by these reasons? Confidence, diversity, sufficiency",
    request=HafRequest,
    report=HafResult,
    model_kinds=("causal",),
    default_model=None,
    model_optional=True,
    cost=cost,
    examples={
        "your own responses": _OWN_RESPONSES,
        "with every token": {**_OWN_RESPONSES, "token_values": True},
    },
    facts=FactPaths(decision="stance", facets=(("stance", "$.stance"),)),
    batch_request=HafBatchReportRequest,
    batch_report=HafBatchReport,
    batch_summary="The paper's tables over many results: means, sample sizes, shares of sufficient "
    "and irrelevant answers",
    batch_intervals=27,
    batch_plots=("means",),
    form=(FormField(name="text", label="Text", hint="what was moderated"),),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
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
