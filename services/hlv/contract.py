"""HLV: does a judge rank, weigh or rate options as humans do, and do explanations bring it closer?

Source: Chen et al., EMNLP 2025, section 5 and Appendices D-F. Messages only; the card is README.md.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from services.hlv.batch_message import HlvBatchReport
from services.hlv.cost import cost
from services.hlv.human import Human
from services.hlv.predictions import MOST_RUNS, Predictions
from services.hlv.report import HlvReport, Method
from shared.contracts import Input, Message, MetricContract, ScoreRequest, SurprisingRule
from shared.questions import Explanation, Options, Passage, Question

Normalisation = Literal["softmax", "abs_sum_reference"]
METHODS: tuple[Method, ...] = ("rank", "logits", "score")


class Judge(Message):
    """How the judge `model` is asked."""

    methods: tuple[Method, ...] = Field(
        default=METHODS,
        min_length=1,
        max_length=3,
        description="`rank`: it lists the options from best to worst; `logits`: probability of "
        "each letter as the first token; `score`: it rates each option from 1 to 5. The first is "
        "the headline",
    )
    runs: int = Field(default=3, ge=1, le=MOST_RUNS, description="of `rank` and `score`, averaged")
    order: Literal["fixed", "rotated"] = Field(
        default="fixed",
        description="`rotated`: run r shows the options rotated by r places under the same "
        "letters, and `logits` is averaged over all rotations",
    )
    temperature: float = Field(default=0.7, ge=0, le=5, description="0: greedy, and one run")
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=64, ge=1, le=4_096, description="of an answer")
    chat: bool = Field(
        default=True, description="false: the prompt as raw text, for a model without chat template"
    )

    @field_validator("methods")
    @classmethod
    def _once_each(cls, methods: tuple[Method, ...]) -> tuple[Method, ...]:
        if len(set(methods)) < len(methods):
            raise ValueError("a method is named twice")
        return methods


class HlvRequest(ScoreRequest):
    """A question, what humans said, and a judge: a model, or its answers."""

    question: Annotated[Question, Input] = Field(
        description="a string; or `premise` and `hypothesis`; or `scenario` and `question`"
    )
    options: Annotated[Options, Input]
    explanations: Annotated[tuple[Explanation, ...], Input] = Field(
        default=(), max_length=200, description="shown to the judge; the baseline never sees them"
    )
    rationale: Annotated[Passage | None, Input] = Field(
        default=None, description="an explanation that is no list of pairs, as a chain of thought"
    )
    human: Annotated[Human, Input]
    judge: Judge | None = Field(default=None, description="how `model` is asked; absent: defaults")
    predictions: Annotated[Predictions | None, Input] = Field(
        default=None, description="bring your own: no model is called"
    )
    normalisation: Normalisation | None = Field(
        default=None,
        description="of logits; absent: the variant's own (`abs_sum_reference` for `reference`, "
        "which needs `predictions` with `logits`)",
    )
    epsilon: float | None = Field(
        default=None,
        ge=0,
        le=0.01,
        description="both sides of KL are clipped to it; 0: as printed; absent: the variant's own, "
        "1e-10, and 0 for `paper`",
    )
    log_base: Literal["e", "2"] = Field(default="e", description="of the Jensen-Shannon distance")

    @field_validator("explanations", "human", "predictions")
    @classmethod
    def _speaks_of_the_options(cls, given: object, info: ValidationInfo) -> object:
        keys = {option.key for option in info.data.get("options", ())}
        unknown = sorted(_keys(given) - keys) if keys else []
        if unknown:
            raise ValueError(f"there is no option {unknown[0]}")
        if keys and any(set(row) < keys for row in _complete(given)):
            raise ValueError("a value is missing for an option")
        return given

    @model_validator(mode="after")
    def _somebody_judges(self) -> Self:
        if (self.model is None) == (self.predictions is None):
            raise ValueError("give either `model`, who judges, or `predictions`")
        if self.predictions is not None and self.judge is not None:
            raise ValueError("`judge` says how `model` is asked; `predictions` need none")
        return self


def _keys(given: object) -> set[str]:
    """The options that are spoken of."""
    match given:
        case Human():
            rows: list[dict[str, float]] = list(given.sources)
        case Predictions():
            rows = [row for side in given.sides for row in side.rows]
        case tuple():
            return {explanation.label for explanation in given}
        case _:
            return set()
    return {key for row in rows for key in row}


def _complete(given: object) -> list[dict[str, float]]:
    """The rows that must name every option."""
    match given:
        case Human():
            return list(given.sources) if given.ratings is not None else []
        case Predictions():
            return [row for side in given.sides for row in (*side.logits, *side.scores)]
    return []


_NLI = {
    "question": {
        "premise": "A crowd has gathered, all looking in the same direction.",
        "hypothesis": "People are curious about something.",
    },
    "options": [
        {"key": "A", "text": "Entailment"},
        {"key": "B", "text": "Neutral"},
        {"key": "C", "text": "Contradiction"},
    ],
    "human": {"votes": [{"A": 40, "B": 58, "C": 2}, {"A": 2, "B": 3}]},
}
_OWN_DISTRIBUTIONS = _NLI | {
    "predictions": {
        "baseline": {"distributions": [{"A": 0.7, "B": 0.2, "C": 0.1}]},
        "explained": {"distributions": [{"A": 0.35, "B": 0.6, "C": 0.05}]},
    },
}
_CLASSIFIER = _NLI | {"model": "embedded-nli"}
_OWN_RATINGS = {
    "question": {"scenario": "Ash passed the test at the second try.", "question": "How is Ash?"},
    "options": [
        {"key": "A", "text": "relieved"},
        {"key": "B", "text": "proud"},
        {"key": "C", "text": "bored"},
    ],
    "human": {"ratings": [{"A": 5, "B": 4, "C": 1}, {"A": 4, "B": 4, "C": 2}]},
    "predictions": {"explained": {"scores": [{"A": 5, "B": 3, "C": 1}]}},
}

CONTRACT = MetricContract(
    name="hlv",
    version="1.0",
    summary="Does a judge rank options as humans do, and do explanations bring it closer?",
    request=HlvRequest,
    report=HlvReport,
    model_kinds=("causal", "classifier"),
    default_model=None,
    model_optional=True,
    cost=cost,
    examples={
        "your own distributions": _OWN_DISTRIBUTIONS,
        "your own ratings": _OWN_RATINGS,
        "a classifier as the judge": _CLASSIFIER,
    },
    batch_report=HlvBatchReport,
    batch_summary="Correlations and divergences over many results, with and without explanations",
    batch_intervals=30,
    surprising=(
        SurprisingRule(
            name="away-from-humans",
            path="$ ? (@.score < 0)",
            says="the judge ends up away from what humans said",
        ),
    ),
)
