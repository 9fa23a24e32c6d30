"""The request of CoT2EL, which finds the sentences of a chain of thought that speak for and against
each option.

Source: Chen et al., EMNLP 2025, section 4 and Appendices B-C. See docs/methods/cot2el.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from services.cot2el.report import Cot2elBatchReport, Cot2elResult
from services.cot2el.verdict import PROBLEMS, finding
from shared.contracts.messages import (
    Count,
    Input,
    LanguageRequest,
    LanguageTag,
    Message,
    ModelName,
    Parameter,
    RequiredText,
)
from shared.contracts.questions import Explanation, Options, Question, to_prompt
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
    SurprisingRule,
)

Polarity = Literal["nli", "cues", "none"]

MOST_PAIRS = 200
DEFAULT_NLI = "embedded-nli"
DEFAULT_SIMILARITY = 0.6
MOST_COMPARED = 1_000_000_000  # characters of explanations times characters of units
SECONDS_A_COMPARISON = 2e-9  # upper bounds of the similarity save most of the work
MEASURES = 4  # of each parsed explanation with each human one
SECONDS_A_MEASURE = 1e-4

Pairs = Annotated[tuple[Explanation, ...], Field(max_length=MOST_PAIRS)]


class Cot2elUnitSpan(Message):
    """A discourse unit from your own segmenter."""

    start: Count = Field(description="character offset into `reasoning`")
    end: int = Field(gt=0, description="exclusive")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            raise ValueError("`end` must be greater than `start`")
        return self


class Cot2elWriting(Message):
    """Settings of the three prompts: reasoning, parse and structure."""

    temperature: float = Field(
        default=0.6, ge=0, le=5, description="sampling temperature for the reasoning and the parse"
    )
    top_p: float = Field(default=0.95, gt=0, le=1)
    max_tokens: int = Field(
        default=4_096, ge=16, le=8_192, description="maximum tokens of each answer"
    )
    source: Literal["reasoning", "answer_text"] = Field(
        default="reasoning",
        description="the part of the answer that is the chain of thought. `reasoning`: the text "
        "between <think> and </think>; `answer_text`: the whole answer, for models that write no "
        "separate reasoning",
    )
    structuring_model: ModelName | None = Field(
        default=None, description="model that converts the parse into JSON; absent: `model`"
    )


class Cot2elRequest(LanguageRequest):
    """A question with options, and a chain of thought about it, sent or generated."""

    question: Annotated[Question, Input] = Field(
        description="a string; or `premise` and `hypothesis`; or `scenario` and `question`"
    )
    options: Annotated[Options, Input]
    reasoning: Annotated[RequiredText | None, Input] = Field(
        default=None, description="the chain of thought; absent: `model` writes it"
    )
    answer: Annotated[RequiredText | None, Input] = Field(
        default=None,
        description="the answer that follows the reasoning; if present, the parsing model sees it",
    )
    pairs: Annotated[Pairs | None, Input] = Field(
        default=None,
        description="your own list of explanations, which is aligned and checked; the service "
        "calls no model",
    )
    units: Annotated[
        Annotated[tuple[Cot2elUnitSpan, ...], Field(min_length=1, max_length=5_000)] | None, Input
    ] = Field(
        default=None,
        description="your own discourse units (clauses or sentences of the reasoning); absent: "
        "rules find them",
    )
    granularity: Literal["edu", "sentence", "both"] | None = Field(
        default=None,
        description="units to which explanations are aligned. `edu`: clauses and units that begin "
        "with a connective; `sentence`: sentences; `both`: all of these. Absent: `both`, or `edu` "
        "for variants `paper` and `reference`",
    )
    min_similarity: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="an explanation is dropped unless its similarity to some unit is above this "
        "value; 0: none is dropped. Absent: 0.6, or 0 for variant `paper`",
    )
    polarity: Polarity | None = Field(
        default=None,
        description="check whether the unit says the opposite of the explanation, which is then "
        "dropped. `nli`: a natural-language-inference model gives P(contradiction) >= 0.5, or both "
        "have the same words but only one has an odd number of negations. `cues`: only one has an "
        "odd number of negations. `none`: no check. Absent: `nli`, or `none` for variants `paper` "
        "and `reference`. `nli` falls back to `cues` if the model does not know the language or is "
        "not configured",
    )
    nli_model: ModelName | None = Field(
        default=None,
        description="model with the labels entailment, neutral and contradiction; absent: "
        "embedded-nli",
    )
    language: Annotated[LanguageTag, Parameter] = Field(
        default="auto",
        examples=["en", "zh", "ko", "ja"],
        description="BCP 47 language of question and reasoning; `auto` detects it for each. The "
        "prompts are English. The segmentation rules cover en, zh, ko and ja; with your own "
        "`units` the language does not matter",
    )
    human_pairs: Annotated[Pairs | None, Input] = Field(
        default=None,
        description="pairs that an annotator marked, with which the result is compared",
    )
    similarity: ModelName | None = Field(
        default=None,
        description="similarity model for `human_pairs`; absent: no semantic similarity",
    )
    writing: Cot2elWriting | None = Field(default=None, description="how `model` is prompted")
    control_draws: int = Field(
        default=3,
        ge=0,
        le=50,
        description="number of random draws that measure chance: explanations with shuffled "
        "words, and explanations of other items",
    )
    control_pool: Annotated[tuple[RequiredText, ...], Input] = Field(
        default=(),
        max_length=2_000,
        description="explanations of other items that are drawn to measure chance; absent: 200 "
        "built-in ones",
    )

    @field_validator("pairs", "human_pairs")
    @classmethod
    def _check_labels(cls, pairs: Pairs | None, info: ValidationInfo) -> Pairs | None:
        keys = {option.key for option in info.data.get("options", ())}
        unknown = sorted({pair.label for pair in pairs or ()} - keys) if keys else []
        if unknown:
            raise ValueError(f"there is no option {unknown[0]}; use the keys of `options`")
        return pairs

    @field_validator("units")
    @classmethod
    def _inside(
        cls, units: tuple[Cot2elUnitSpan, ...] | None, info: ValidationInfo
    ) -> tuple[Cot2elUnitSpan, ...] | None:
        reasoning = info.data.get("reasoning")
        if units and reasoning is None:
            raise ValueError(
                "`units` are offsets into `reasoning`, but `reasoning` is missing; send it"
            )
        if units and reasoning and max(unit.end for unit in units) > len(reasoning):
            raise ValueError("a unit ends after the end of `reasoning`; check its offsets")
        return units

    @model_validator(mode="after")
    def _model_or_pairs(self) -> Self:
        if (self.model is None) == (self.pairs is None):
            raise ValueError("give either `model` or `pairs`")
        if self.reasoning is None and self.pairs is not None:
            raise ValueError(
                "`pairs` are aligned with `reasoning`, but `reasoning` is missing; send it"
            )
        return self


_THOUGHT = (
    "Okay, the context says that a man is holding a red umbrella while he waits for the bus. The "
    "statement claims that it is raining. People often carry umbrellas when it rains, so it could "
    "be true. However, some people use them against the sun, and nobody mentions wet streets. So "
    "the statement cannot be confirmed. Nothing says that it is dry either."
)
_UMBRELLA: dict[str, Any] = {
    "question": {
        "premise": "A man is holding a red umbrella while he waits for the bus.",
        "hypothesis": "It is raining.",
    },
    "options": [
        {"key": "A", "text": "Entailment"},
        {"key": "B", "text": "Neutral"},
        {"key": "C", "text": "Contradiction"},
    ],
    "reasoning": _THOUGHT,
    "pairs": [
        {"explanation": "People often carry umbrellas when it rains.", "label": "A"},
        {
            "explanation": "nobody mentions wet streets",
            "label": "A",
            "stance": "oppose",
        },
        {"explanation": "The statement cannot be confirmed.", "label": "B"},
        {"explanation": "Nothing says that it is dry.", "label": "C", "stance": "oppose"},
        {"explanation": "The man looks unhappy about his job.", "label": "C"},
    ],
}
_FOUND = _UMBRELLA | {"pairs": _UMBRELLA["pairs"][:-1]}
_VALIDATED = _FOUND | {
    "human_pairs": [
        {"explanation": "People often carry umbrellas when it rains,", "label": "A"},
        {"explanation": "So the statement cannot be confirmed.", "label": "B"},
        {"explanation": "some people use them against the sun,", "label": "B"},
    ],
}


def cost(request: Cot2elRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost of prompts and of comparing texts. Every explanation is compared with every
    unit. The units together contain the reasoning without white space, so the product of both
    lengths is an upper bound."""
    return (
        *_alignment(request),
        *_polarity(request),
        *_agreement(request, reads),
        *_prompts(request),
    )


def _polarity(request: Cot2elRequest) -> Iterator[Work]:
    """Yield the work of the polarity check as an upper bound: each pair may need one model input of
    about twice its length."""
    if request.pairs and request.polarity in (None, "nli") and request.variant == "robust":
        words = sum(words_of(pair.explanation) for pair in dict.fromkeys(request.pairs))
        yield Work((Size("tokens of `pairs`", max(1, words), "/pairs"), Size("texts per pair", 2)))


def _alignment(request: Cot2elRequest) -> Iterator[Work]:
    if request.pairs is None or request.reasoning is None:
        return
    pairs = dict.fromkeys(request.pairs)  # a repeated pair is aligned once
    explained = Size(
        "characters of `pairs`", sum(len(pair.explanation) for pair in pairs), "/pairs"
    )
    spans = {(unit.start, unit.end) for unit in request.units or ()}
    units = sum(end - start for start, end in spans) or len("".join(request.reasoning.split()))
    name = "characters of `units`" if spans else "characters of `reasoning`"
    compared = Size(name, units, "/units" if spans else "/reasoning")
    yield Work(
        (explained, compared), "comparisons", seconds_each=SECONDS_A_COMPARISON, most=MOST_COMPARED
    )
    if request.control_draws:
        draws = Size(
            "shuffled texts (2 × `control_draws`)", 2 * request.control_draws, "/control_draws"
        )
        yield Work((draws, explained, compared), "comparisons", seconds_each=SECONDS_A_COMPARISON)


def _agreement(request: Cot2elRequest, reads: int) -> Iterator[Work]:
    parsed, human = request.pairs or (), request.human_pairs or ()
    if not parsed or not human:
        return
    pairs = (
        Size("`pairs`", len(parsed), "/pairs"),
        Size("`human_pairs`", len(human), "/human_pairs"),
    )
    measures = Size("measures", MEASURES)
    yield Work((*pairs, measures), "comparisons", seconds_each=SECONDS_A_MEASURE)
    if request.similarity is not None:
        texts = {pair.explanation for pair in (*parsed, *human)}
        tokens = sum(min(reads, words_of(text)) for text in texts)
        yield Work((Size("tokens of `pairs` and `human_pairs`", max(1, tokens), "/pairs"),))


def _prompts(request: Cot2elRequest) -> Iterator[Work]:
    if request.model is None:
        return
    words = words_of(to_prompt(request.question)) + words_of(request.reasoning or "")
    yield Work((Size("tokens of `question` and `reasoning`", max(1, words), "/reasoning"),))


def elicited(explanation: ElicitedExplanation) -> dict[str, Any]:
    """Return a request for the chain of thought that the model wrote before its answer. The model
    parses it itself, as in the paper. The options are known only for natural language inference."""
    pair = {name: explanation.inputs.get(name) for name in ("premise", "hypothesis")}
    is_inference = all(pair.values())
    answer = {"answer": explanation.answer} if explanation.answer.strip() else {}
    return {
        **answer,
        "question": pair if is_inference else explanation.inputs.get("question"),
        "options": _UMBRELLA["options"] if is_inference else None,
        "reasoning": explanation.reasoning or None,
        "model": explanation.model,
    }


CONTRACT = MetricContract(
    name="cot2el",
    version="2.0",
    summary="Which sentences of a chain of thought speak for and against each option?",
    request=Cot2elRequest,
    report=Cot2elResult,
    model_kinds=("causal",),
    default_model=None,
    model_optional=True,
    cost=cost,
    examples={
        "your own pairs": _FOUND,
        "against an annotator": _VALIDATED,
        "one pair is not in the reasoning": _UMBRELLA,
    },
    batch_report=Cot2elBatchReport,
    batch_summary="Faithfulness of parses, and agreement with annotators, over many results",
    clustered_by=("question",),
    batch_intervals=12,
    form=(
        FormField(name="reasoning", label="Reasoning", hint="a chain of thought", required=False),
    ),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
    facts=FactPaths(text="question", score_range=(0.0, 1.0)),
    surprising=(
        SurprisingRule(
            name="not-parsed",
            path='$ ? (@.status == "no_reasoning" || @.status == "parse_failed")',
            says="no explanations could be extracted from the reasoning",
        ),
    ),
)
