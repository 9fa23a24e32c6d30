"""FTC: does the logic of an explanation hold for a counterfactual hypothesis built from it? Source:
Sia et al., AAAI 2023, arXiv:2205.12469. See docs/methods/ftc.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from services.ftc.report import (
    LABELS,
    FtcBatchReport,
    FtcBatchReportRequest,
    FtcDistribution,
    FtcResult,
    FtcStudy,
    Kind,
    NliLabel,
    PhraseNull,
)
from services.ftc.verdict import PROBLEMS, finding
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.explanation_fields import Explanation, ExplanationFields
from shared.contracts.messages import (
    MAX_TEXT,
    Input,
    Message,
    ModelName,
    Parameter,
    RequiredText,
    Variant,
    Visible,
)
from shared.contracts.prompt_table import PromptKeys, prompt_tokens
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
    SurprisingRule,
)

DEFAULT_MODEL = "embedded-nli"

DRAWS: dict[Variant, int] = {"robust": 199, "paper": 50, "reference": 50}
COUNTERFACTUALS = 2  # of a neutral pair; one of any other
SECONDS_A_CHARACTER = 1e-4  # of explanation, premise and hypothesis: patterns and alignment
SECONDS_A_DRAW = 1e-4

Phrase = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), Visible
]


class FtcSupplied(Message):
    """A counterfactual hypothesis that the caller made."""

    kind: Kind = Field(
        description="`substituted` for the labels entailment and contradiction; `a` or `b` for "
        "neutral"
    )
    text: RequiredText


class FtcRequest(ExplainableRequest):
    """A pair of sentences and the explanation of its label."""

    explain_prompt: ClassVar[str] = "ftc-label"

    premise: Annotated[str, Input] = Field(
        max_length=MAX_TEXT, description="the statement taken to be true"
    )
    hypothesis: Annotated[RequiredText, Input] = Field(
        description="the statement that follows from it, contradicts it, or does neither"
    )
    explanation: Annotated[Explanation, Input] = Field(
        default="",
        description="explanation of the decision, as a text or as fields. The fields `text` and "
        "`reasons` are read, and `decision` if the request has none. The variant `robust` "
        "also recognises fields that are sent as a JSON text. An empty explanation has no "
        "phrases to extract. Required unless `explain` is set",
    )
    decision: NliLabel | None = Field(
        default=None,
        description="the explained decision; absent: the model's own decision, which tests "
        "faithfulness",
    )
    prompt: Annotated[PromptKeys | None, Parameter] = Field(
        default=None,
        description="replaces keys of the model entry's `prompt`, if the entry has "
        "`allow_request_prompt`. For causal models and chat servers",
    )
    extractor: Literal["rules", "llm"] = Field(
        default="rules",
        description="the method that builds the counterfactuals; ignored if the request contains "
        "counterfactuals",
    )
    writer: ModelName | None = Field(
        default=None, description="configured language model for the extractor `llm`"
    )
    counterfactuals: Annotated[tuple[FtcSupplied, ...] | None, Input] = Field(
        default=None, min_length=1, max_length=2, description="your own counterfactuals"
    )
    targets: dict[Kind, FtcDistribution] = Field(
        default_factory=dict,
        description="label distributions, such as human votes. They replace the labels that the "
        "explanation's logic demands for the counterfactuals",
    )
    alpha: float = Field(
        default=0.7,
        ge=0.5,
        le=1,
        description="distance between neutral and each of the other labels, whose own distance is "
        "1. Below 1/2 the triangle inequality fails",
    )
    epsilon: float = Field(
        default=1e-6,
        gt=0,
        le=0.1,
        description="smallest probability in the score k: smaller probabilities are raised to it",
    )
    null: PhraseNull | None = Field(
        default=None,
        description="the properties that random phrases share with the explanation's phrases. "
        "`phrases`: the type, and the share of words that occur in the premise, if 19 such "
        "phrases exist; `any`: only the type; absent: `phrases`, or `any` for variants `paper` "
        "and `reference`",
    )
    draws: int | None = Field(
        default=None,
        ge=0,
        le=200,
        description="maximum number of random substitutions, M; 0: none; `robust` checks after "
        "19, 39, 79 and 139 substitutions, and stops when the result is clear; absent: 199, or 50 "
        "for variants `paper` and `reference`",
    )
    substitutes: Annotated[tuple[Phrase, ...], Input] = Field(
        default=(),
        max_length=2_000,
        description="phrases of other examples from which random ones are drawn; absent: the "
        "service's list",
    )
    study: FtcStudy | None = Field(
        default=None, description="data for the batch report; it never changes the score"
    )

    @property
    def explanation_text(self) -> str:
        """The explanation as one text, into which the offsets of evidence point. For structured
        fields it consists of their text and reasons."""
        explanation = self.explanation
        return explanation if isinstance(explanation, str) else explanation.prose

    @property
    def sent_decision(self) -> NliLabel | None:
        """The decision in the request, or else the one in the fields of the explanation."""
        fields = self.explanation
        if self.decision is not None or not isinstance(fields, ExplanationFields):
            return self.decision
        decision = (fields.decision or "").strip().lower()
        return next((label for label in LABELS if label == decision), None)

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.counterfactuals is not None:
            kinds = [supplied.kind for supplied in self.counterfactuals]
            if sorted(kinds) not in (["substituted"], ["a"], ["b"], ["a", "b"]):
                raise ValueError(
                    "send one counterfactual of kind `substituted`, or at most one of kind `a` and "
                    "one of kind `b`"
                )
            if self.decision is None:
                raise ValueError(
                    "`counterfactuals` test a `decision`, but the request has none; send `decision`"
                )
            if (kinds == ["substituted"]) == (self.decision == "neutral"):
                raise ValueError(
                    "send a counterfactual of kind `substituted` for entailment or contradiction, "
                    "or of kind `a` or `b` for neutral"
                )
        elif self.extractor == "llm" and self.writer is None:
            raise ValueError("the extractor `llm` needs a `writer`; set it to a language model")
        return self


_ENTAILMENT = {
    "premise": "Three children play football in the rain.",
    "hypothesis": "Three children are playing a sport.",
    "explanation": "A sport is a game.",
    "decision": "entailment",
}
_CONTRADICTION = {
    "premise": "A man is sleeping on the sofa.",
    "hypothesis": "A man is running in the park.",
    "explanation": "A man cannot be running in the park and lying down at the same time.",
    "decision": "contradiction",
}
_NEUTRAL = {
    "premise": "A woman walks down a street with a bag.",
    "hypothesis": "A woman is going to the market.",
    "explanation": "Just because a woman is walking down a street does not mean she is going to "
    "the market.",
    "decision": "neutral",
}
_SUPPLIED = {
    "premise": "Some people are playing flutes on a stage.",
    "hypothesis": "There are people playing the piano.",
    "explanation": "The people are not playing the piano. They are playing flutes.",
    "decision": "contradiction",
    "counterfactuals": [{"kind": "substituted", "text": "There are people playing flutes."}],
}


def cost(request: FtcRequest, reads: int) -> Sequence[Work]:
    """Return an upper bound of the cost. No model is called without an extracted phrase."""
    made = 1 if request.sent_decision in ("entailment", "contradiction") else COUNTERFACTUALS
    words = max(1, min(reads, words_of(request.premise) + words_of(request.hypothesis)))
    words += prompt_tokens(request.prompt) if request.prompt else 0
    asked = DRAWS[request.variant] if request.draws is None else request.draws
    draws = Size("texts per counterfactual (`draws` + 2)", 2 + asked, "/draws")
    kinds = Size("counterfactuals", made)
    tokens = Size("tokens of `premise` and `hypothesis`", words, "/premise")
    characters = len(request.premise) + len(request.hypothesis) + len(request.explanation_text)
    read = Size("characters", characters, "/explanation")
    return (
        Work((draws, kinds, tokens)),
        Work((read,), "characters", seconds_each=SECONDS_A_CHARACTER),
        Work((draws, kinds), "substitutions", seconds_each=SECONDS_A_DRAW),
    )


def elicited(found: ElicitedExplanation) -> dict[str, Any]:
    """Return the fields of an FTC request for an explanation that a model generated. The model that
    decided also classifies the counterfactuals, if it gives probabilities of the three labels."""
    decided = {} if found.decision is None else {"decision": found.decision}
    return {
        **decided,
        **found.judged_by(*LABELS),
        "premise": found.inputs.get("premise"),
        "hypothesis": found.inputs.get("hypothesis"),
        "explanation": found.explanation,
    }


CONTRACT = MetricContract(
    name="ftc",
    version="2.0",
    summary="Does the logic of an explanation hold in a hypothesis built from it?",
    request=FtcRequest,
    report=FtcResult,
    model_kinds=("classifier", "causal"),
    default_model=DEFAULT_MODEL,
    cost=cost,
    needs=lambda _: ("judge",),
    writers=("writer",),
    labels=LABELS,
    examples={
        "entailment": _ENTAILMENT,
        "contradiction": _CONTRADICTION,
        "neutral": _NEUTRAL,
        "your own counterfactual": _SUPPLIED,
    },
    batch_request=FtcBatchReportRequest,
    batch_report=FtcBatchReport,
    batch_summary="One row per label, with intervals, baselines, chance baselines and the human "
    "ceiling",
    batch_needs_text=True,
    clustered_by=("premise", "hypothesis"),
    explained="decision",
    batch_intervals=42,
    form=(
        FormField(name="premise", label="Premise"),
        FormField(name="hypothesis", label="Hypothesis"),
        FormField(
            name="explanation", label="Explanation", hint="the model's explanation of its decision"
        ),
        FormField(
            name="decision",
            label="Decision",
            choices=("entailment", "neutral", "contradiction"),
            hint="empty: the model's decision",
            required=False,
        ),
    ),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
    facts=FactPaths(
        chance="control.null_win_rate",
        rivals=("Their words predict the model's answers", "random phrases do"),
        text="premise",
        decision_sent="decision",
        decision_stated="decision",
        facets=(("abstention", "$.abstained"),),
    ),
    surprising=(
        SurprisingRule(
            name="abstained",
            path="$ ? (@.abstained != null)",
            says="no counterfactual could be built",
        ),
    ),
)
