"""The request of HLV, which tests whether a judge ranks, weighs or rates options as humans do, and
whether explanations bring it closer to them.

Source: Chen et al., EMNLP 2025, section 5 and Appendices D-F. See docs/methods/hlv.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from services.hlv.report import HlvBatchReport, HlvResult, Method
from services.hlv.verdict import PROBLEMS, finding
from shared.contracts.messages import Input, LanguageRequest, Message, Parameter, RequiredText
from shared.contracts.prompt_table import PromptKeys, prompt_tokens
from shared.contracts.questions import (
    Explanation,
    Key,
    Options,
    Question,
    format_options,
    to_prompt,
)
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import FactPaths, GainWords, MetricContract

METHODS: tuple[Method, ...] = ("rank", "logits", "score")
MOST_RUNS = 26
WIDEST = 1e6  # limit of ratings, so that their squares stay far from infinity

Normalisation = Literal["softmax", "abs_sum_reference"]
SOME = Field(min_length=1, max_length=1_000)
Counts = Annotated[dict[Key, Annotated[float, Field(ge=0, le=1e9)]], Field(max_length=26)]
Places = Annotated[dict[Key, Annotated[float, Field(ge=1, le=26)]], Field(max_length=26)]
Rating = Annotated[float, Field(ge=-WIDEST, le=WIDEST)]
Values = Annotated[dict[Key, Rating], Field(min_length=1, max_length=26)]
Logit = Annotated[float, Field(ge=-1e39, le=1e39)]  # any number of single precision
Logits = Annotated[dict[Key, Logit], Field(min_length=1, max_length=26)]
Sources = tuple[dict[str, float], ...]


class HlvJudge(Message):
    """Settings for prompting `model` as a judge: methods, repetitions and sampling."""

    methods: tuple[Method, ...] = Field(
        default=METHODS,
        min_length=1,
        max_length=3,
        description="`rank`: the judge lists the options from best to worst. `logits`: the "
        "probability of each option's letter as the first token. `score`: the judge rates "
        "each option from 1 to 5. The score uses the first method",
    )
    runs: int = Field(
        default=3,
        ge=1,
        le=MOST_RUNS,
        description="number of answers to average for `rank` and `score`",
    )
    order: Literal["fixed", "rotated"] = Field(
        default="fixed",
        description="`rotated`: run r shows the options rotated by r positions under the same "
        "letters, and `logits` is averaged over all rotations",
    )
    temperature: float = Field(
        default=0.7, ge=0, le=5, description="sampling temperature; 0: greedy, with one run"
    )
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=64, ge=1, le=4_096, description="maximum tokens of an answer")
    chat: bool = Field(
        default=True, description="false: send raw text, for a model without a chat template"
    )

    @field_validator("methods")
    @classmethod
    def _once_each(cls, methods: tuple[Method, ...]) -> tuple[Method, ...]:
        if len(set(methods)) < len(methods):
            raise ValueError("a method is listed twice; list each method once")
        return methods


class HlvScale(Message):
    """The ends of a rating scale."""

    low: float = Field(
        default=1, ge=-WIDEST, le=WIDEST, description="rating of an impossible option"
    )
    high: float = Field(
        default=5, ge=-WIDEST, le=WIDEST, description="rating of a very likely option"
    )

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if not self.low < self.high:
            raise ValueError("`low` must be below `high`")
        return self


class HlvHuman(Message):
    """Exactly one of `votes`, `ratings` and `ranking`, as an object or as a list with one object
    per source.

    A source is an annotator or a data set. Sources are averaged.
    """

    votes: Annotated[
        Annotated[tuple[Counts, ...], SOME] | Counts | None,
        Field(
            description="option → number of votes; a missing option has 0. Each source is "
            "normalised before sources are averaged",
        ),
    ] = None
    ratings: Annotated[
        Annotated[tuple[Values, ...], SOME] | Values | None,
        Field(
            description="option → plausibility on `scale`, for every option; sources are averaged",
        ),
    ] = None
    ranking: Annotated[
        Annotated[tuple[Places, ...], SOME] | Places | None,
        Field(
            description="option → position, 1 = best; equal positions tie, and missing options tie "
            "for last. The fractional ranks of the sources are averaged and ranked again",
        ),
    ] = None
    scale: HlvScale = Field(default_factory=HlvScale, description="scale of `ratings`")

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        kinds = [kind for kind in (self.votes, self.ratings, self.ranking) if kind is not None]
        if len(kinds) != 1:
            raise ValueError("give exactly one of `votes`, `ratings` and `ranking`")
        if self.votes is not None and not all(sum(source.values()) > 0 for source in self.sources):
            raise ValueError("a source in `votes` has no vote; leave it out")
        return self

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        low, high = self.scale.low, self.scale.high
        for source in self.sources if self.ratings is not None else ():
            if not all(low <= value <= high for value in source.values()):
                raise ValueError(f"a rating is outside the scale, {low:g} to {high:g}")
        return self

    @property
    def sources(self) -> Sources:
        """Return the field that is present, `votes`, `ratings` or `ranking`, as a tuple."""
        kinds = (self.votes, self.ratings, self.ranking)
        sources = next(kind for kind in kinds if kind is not None)
        return (sources,) if isinstance(sources, dict) else sources


class HlvAnswers(Message):
    """A judge's answers in each run, as option → value."""

    rankings: tuple[Places, ...] = Field(
        default=(),
        max_length=MOST_RUNS,
        description="option → position, 1 = best; missing options tie for last",
    )
    distributions: tuple[Counts, ...] = Field(
        default=(), max_length=MOST_RUNS, description="probabilities, or weights of any sum > 0"
    )
    logits: tuple[Logits, ...] = Field(
        default=(), max_length=MOST_RUNS, description="logit of each option's letter"
    )
    scores: tuple[Values, ...] = Field(
        default=(), max_length=MOST_RUNS, description="rating of each option on `human.scale`"
    )

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if not (self.rankings or self.distributions or self.logits or self.scores):
            raise ValueError("there are no answers; give at least one list")
        if self.distributions and self.logits:
            raise ValueError("give `distributions` or `logits`, not both")
        if not all(sum(row.values()) > 0 for row in self.distributions):
            raise ValueError("a distribution sums to 0; give at least one option some weight")
        return self

    @property
    def rows(self) -> tuple[dict[str, float], ...]:
        return (*self.rankings, *self.distributions, *self.logits, *self.scores)


class HlvPredictions(Message):
    """Answers of a judge that you ran yourself."""

    explained: HlvAnswers | None = Field(
        default=None, description="the judge's answers when it saw the explanations"
    )
    baseline: HlvAnswers | None = Field(
        default=None, description="the judge's answers without the explanations"
    )

    @model_validator(mode="after")
    def _check_predictions(self) -> Self:
        if self.explained is None and self.baseline is None:
            raise ValueError("give `explained`, `baseline` or both")
        return self

    @property
    def sides(self) -> tuple[HlvAnswers, ...]:
        return tuple(side for side in (self.explained, self.baseline) if side is not None)


class HlvRequest(LanguageRequest):
    """A question, the human answers to it, and a judge: a model or its answers."""

    question: Annotated[Question, Input] = Field(
        description="a string; or `premise` and `hypothesis`; or `scenario` and `question`"
    )
    options: Annotated[Options, Input]
    explanations: Annotated[tuple[Explanation, ...], Input] = Field(
        default=(),
        max_length=200,
        description="explanations shown to the judge; the baseline never sees them",
    )
    rationale: Annotated[RequiredText | None, Input] = Field(
        default=None, description="an explanation as one text, such as a chain of thought"
    )
    human: Annotated[HlvHuman, Input]
    judge: HlvJudge | None = Field(
        default=None, description="how `model` is prompted; absent: the defaults"
    )
    prompt: Annotated[PromptKeys | None, Parameter] = Field(
        default=None,
        description="replaces keys of the model entry's `prompt`, if the entry has "
        "`allow_request_prompt`. For causal models and chat servers, with `logits` only. "
        "`{text}`, the default of `user`, is the prompt of Table 6 with question, options and "
        "explanations; `{premise}` and `{hypothesis}` come from the question. Labels of "
        "`verbalizers` are the keys or texts of the options; absent: the keys",
    )
    predictions: Annotated[HlvPredictions | None, Input] = Field(
        default=None, description="answers of your own judge; no model is called"
    )
    normalisation: Normalisation | None = Field(
        default=None,
        description="how logits become a distribution; absent: as the variant says "
        "(`abs_sum_reference` for `reference`, which needs `predictions` with `logits`)",
    )
    epsilon: float | None = Field(
        default=None,
        ge=0,
        le=0.01,
        description="smaller probabilities of both distributions are raised to this value for "
        "KL; 0: unchanged, as printed in the paper. Absent: 1e-10, or 0 for variant `paper`",
    )
    log_base: Literal["e", "2"] = Field(
        default="e", description="base of the logarithm in the Jensen-Shannon distance"
    )

    @field_validator("explanations", "human", "predictions")
    @classmethod
    def _check_keys(cls, value: object, info: ValidationInfo) -> object:
        keys = {option.key for option in info.data.get("options", ())}
        unknown = sorted(_keys(value) - keys) if keys else []
        if unknown:
            raise ValueError(f"there is no option {unknown[0]}; use the keys of `options`")
        if keys and any(set(row) < keys for row in _complete_rows(value)):
            raise ValueError("an option has no value; give one for every option")
        return value

    @model_validator(mode="after")
    def _model_or_predictions(self) -> Self:
        if (self.model is None) == (self.predictions is None):
            raise ValueError("give either `model` or `predictions`")
        if self.predictions is not None and self.judge is not None:
            raise ValueError(
                "`judge` sets how `model` is prompted; leave it out with `predictions`"
            )
        if self.predictions is not None and self.prompt is not None:
            raise ValueError(
                "`prompt` sets how `model` is prompted; leave it out with `predictions`"
            )
        return self


def _keys(value: object) -> set[str]:
    match value:
        case HlvHuman():
            rows: list[dict[str, float]] = list(value.sources)
        case HlvPredictions():
            rows = [row for side in value.sides for row in side.rows]
        case tuple():
            return {explanation.label for explanation in value}
        case _:
            return set()
    return {key for row in rows for key in row}


def _complete_rows(value: object) -> list[dict[str, float]]:
    """Return the rows, each of which must have a value for every option."""
    match value:
        case HlvHuman():
            return list(value.sources) if value.ratings is not None else []
        case HlvPredictions():
            return [row for side in value.sides for row in (*side.logits, *side.scores)]
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
        "baseline": {"distributions": [{"A": 0.6, "B": 0.15, "C": 0.25}]},
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
    "predictions": {
        "baseline": {"scores": [{"A": 2, "B": 3, "C": 4}]},
        "explained": {"scores": [{"A": 5, "B": 3, "C": 1}]},
    },
}


def cost(request: HlvRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost of prompts, with and without explanations. Answers are not counted."""
    if request.model is None or (request.judge is None and request.prompt is None):
        return ()  # `predictions`, a classifier's one pair, or the default judge's few prompts
    judge, options = request.judge or HlvJudge(methods=("logits",)), len(request.options)
    question = words_of(to_prompt(request.question)) + words_of(format_options(request.options))
    question += prompt_tokens(request.prompt) if request.prompt else 0
    explanation_words = sum(
        words_of(explanation.explanation) for explanation in request.explanations
    )
    explanation_words += words_of(request.rationale or "")
    has_explanations = bool(request.explanations or request.rationale)
    conditions = 2 if has_explanations else 1
    runs = Size("prompts of `judge` (`runs`, `methods`)", _prompts(judge, options), "/judge/runs")
    words = question + (
        explanation_words / 2 if has_explanations else 0
    )  # only half of the prompts show explanations
    return (
        Work((runs, Size("conditions", conditions), Size("tokens of a prompt", max(1, words)))),
    )


def _prompts(judge: HlvJudge, options: int) -> int:
    """Return the number of prompts per condition (with or without explanations). A greedy judge
    with a fixed order of options needs only one run."""
    runs = judge.runs if judge.temperature > 0 or judge.order == "rotated" else 1
    counts = {
        "rank": runs,
        "score": runs * options,
        "logits": options if judge.order == "rotated" else 1,
    }
    return sum(counts[method] for method in judge.methods)


CONTRACT = MetricContract(
    name="hlv",
    version="1.1",
    summary="Does a judge rank options as humans do, and do explanations bring it closer?",
    request=HlvRequest,
    report=HlvResult,
    model_kinds=("causal", "classifier"),
    default_model=None,
    model_optional=True,
    cost=cost,
    needs=lambda _: (),  # any judge or writer
    examples={
        "your own distributions": _OWN_DISTRIBUTIONS,
        "your own ratings": _OWN_RATINGS,
        "a classifier as the judge": _CLASSIFIER,
    },
    batch_report=HlvBatchReport,
    batch_summary="Correlations and divergences over many results, with and without explanations",
    clustered_by=("question",),
    batch_intervals=46,
    finding=finding,
    problems=PROBLEMS,
    facts=FactPaths(
        text="question",
        chance_score=0.0,
        gain=GainWords(
            path="parts.kendall_gain.mean",
            closer="the explanations bring the judge closer to people",
            farther="the explanations lead the judge away from people",
        ),
    ),
)
