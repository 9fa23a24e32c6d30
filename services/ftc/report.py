"""What FTC reports: the counterfactuals, how far the model bears them out, and what chance does.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2. Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts import Evidence, Histogram, Message, Report, Word

NliLabel = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[NliLabel, ...] = ("entailment", "neutral", "contradiction")
Kind = Literal["substituted", "a", "b"]
PhraseType = Literal["noun", "verb", "preposition", "adjective", "clause"]
Share = Annotated[float, Field(ge=0, le=1)]

SUM_TOLERANCE = 1e-6


class Distribution(Message):
    """Probabilities of the three labels; they sum to 1."""

    entailment: Share
    neutral: Share
    contradiction: Share

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        if abs(self.entailment + self.neutral + self.contradiction - 1) > SUM_TOLERANCE:
            raise ValueError("the three probabilities must sum to 1")
        return self


class Satisfaction(Message):
    """How far an answer agrees with the target; higher is better in every field."""

    delta: Share = Field(description="1: the answer's label is the target")
    k: float = Field(le=1, description="1 - KL(target || answer), natural logarithm")
    w: float = Field(ge=0, le=1, description="1 - Wasserstein-1 distance, as printed")
    w_normalized: float = Field(
        ge=0, le=1, description="the same over the largest distance that the target allows"
    )
    geometric_mean_p: Share = Field(
        description="exp(k - 1): for a hard target the answer's probability of it; of several, "
        "their geometric mean"
    )


class Components(Message):
    """Means over the counterfactuals; all null where the metric abstains."""

    delta: Share | None = Field(description="share whose likeliest label is the target")
    k: float | None = Field(le=1, description="1 - KL(target || answer), natural logarithm")
    w: float | None = Field(ge=0, le=1, description="1 - Wasserstein-1 distance, as printed")
    w_normalized: float | None = Field(
        ge=0, le=1, description="the same over the largest distance that the target allows"
    )
    geometric_mean_p: Share | None = Field(description="exp(k - 1)")


class SpanEvidence(Evidence):
    """A span of the explanation, A or B, or the span of the hypothesis that gave way."""

    kind: Literal["a", "b", "replaced"] = Field(
        description="`a`, `b`: the two sides of the relation; `replaced`: what gave way to one"
    )
    offsets_into: Literal["explanation", "hypothesis"]
    phrase: PhraseType | None = Field(description="null where the type is not known")


class Null(Message):
    """What random spans of the same type do in the place of the explanation's span."""

    draws: int = Field(ge=1, description="random substitutions, M")
    statistic: Literal["w_normalized"] = "w_normalized"
    observed: float = Field(ge=0, le=1, description="of the counterfactual")
    mean: float = Field(ge=0, le=1, description="over the draws")
    sd: float | None = Field(ge=0, description="over the draws (n - 1); null for a single draw")
    win_rate: Share = Field(description="draws that score lower, ties half; chance is 0.5")
    p_value: float = Field(gt=0, le=1, description="one-sided: a draw scores as high")
    histogram: Histogram | None = Field(
        default=None, description="of the draws' scores; null in results of before it was counted"
    )


class Counterfactual(Message):
    """A hypothesis made from the explanation, what should follow, and what the model says."""

    kind: Kind = Field(
        description="`substituted` for entailment and contradiction; `a` and `b` for neutral: the "
        "hypothesis that states A without B, and the one that states B"
    )
    text: str
    target: Distribution = Field(description="what the explanation's logic demands")
    answer: Distribution = Field(description="the model's probabilities")
    predicted: NliLabel | None = Field(description="its label; null where two labels tie")
    satisfaction: Satisfaction
    floored: bool = Field(description="whether epsilon stood in for a smaller probability in k")
    blank_premise: Satisfaction | None = Field(
        description="the same with an empty premise: what the hypothesis alone gives away"
    )
    null: Null | None = Field(description="null where undefined; see `warnings`")


class Baselines(Message):
    """What answers without any explanation earn on the same targets."""

    always_entailment: Satisfaction = Field(description="a model that always says entailment")
    uniform: Satisfaction = Field(description="a model that says one third each")
    unedited: Satisfaction | None = Field(
        description="the model's answer to the hypothesis as sent; null where it was not asked"
    )
    blank_premise: Satisfaction | None = Field(
        description="the model's answer to the counterfactuals without the premise"
    )
    null_win_rate: Share | None = Field(
        description="mean over the counterfactuals that have a null; chance is 0.5"
    )
    null_p_value: float | None = Field(
        gt=0, le=1, description="of the mean over the counterfactuals, draw by draw"
    )


class Extraction(Message):
    """How the counterfactuals came about."""

    extractor: Literal["rules", "llm", "supplied"]
    rule: Annotated[str, Word] | None = Field(
        description="the pattern that fired; null unless by rules"
    )
    transformation: Annotated[str, Word] | None = Field(
        description="how the hypothesis was changed"
    )
    completions: tuple[str, ...] = Field(
        default=(), description="what the language model wrote, in the order of the steps"
    )


class FtcReport(Report):
    """Higher is better. An explanation without a usable counterfactual is abstained from."""

    range: tuple[float, float] = (0.0, 1.0)
    components: Components
    evidence: tuple[SpanEvidence, ...]
    control: Baselines | None
    label: NliLabel = Field(description="the explained label: as sent, else the model's own")
    label_source: Literal["request", "model"]
    original: Distribution | None = Field(
        description="the model's answer to the hypothesis as sent; null where it was not asked"
    )
    abstained: Annotated[str, Word] | None = Field(
        description="why there is no score; null where there is one"
    )
    extraction: Extraction
    counterfactuals: tuple[Counterfactual, ...] = Field(max_length=2)
