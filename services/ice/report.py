"""What ICE reports: one test for each explanation, budget and operator, and how they compare.

Source: Basu & Chakraborty, arXiv:2603.18579, section 3. Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts import (
    BatchReport,
    BatchReportRequest,
    Evidence,
    Histogram,
    Interval,
    Message,
    Report,
    Variant,
    Word,
)
from shared.models.calls import Part

Of = Literal["text", "text_pair"]
Operator = Literal["delete", "mask", "mask_unk", "mask_pad", "infill"]
RowKind = Literal["tokens", "words"]
TestedOperator = Operator | Literal["mean"]
NullKind = Literal["tokens", "words", "spans", "spans_gaps"]
Verdict = Literal["faithful", "inconclusive", "anti-faithful"]
Name = Annotated[str, Word]
Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(ge=0, le=1, description="of the target label")]
Place = Annotated[int, Field(ge=0, description="in `tokens`")]

MOST = 1e300  # of a value's magnitude: sums over a text stay finite


class IceSpan(Message):
    """A span of the text, or of its pair."""

    start: int = Field(ge=0, description="character offset (Unicode code points)")
    end: int = Field(ge=1, description="character offset, exclusive")
    of: Of = Field(default="text", description="what the offsets point into")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a span must end after its start")
        return self


class IceAttributedSpan(IceSpan):
    """A span with its importance."""

    value: float = Field(ge=-MOST, le=MOST, description="importance, in units of your own")


class IceScores(Message):
    """The probability of the target label, under one operator."""

    full: Probability = Field(description="s(x): the whole text")
    rationale: Probability = Field(description="s(r): only the rationale stays")
    empty: Probability | None = Field(description="s(empty): nothing of the text stays")


class IceNull(Message):
    """What random rationales of the same kind score."""

    kind: NullKind = Field(
        default="tokens",
        description="as many tokens, as many whole words with as many tokens, passages of the same "
        "lengths, or those with the same gaps; in rows of words `words` are as many words",
    )
    placements: int | None = Field(
        default=None, ge=0, description="that exist besides the rationale; null above 1e15"
    )
    overlap: Share | None = Field(
        default=None,
        description="mean intersection over union of its tokens with a random one's: near 1 the "
        "null is the rationale itself, and the win rate tends to 1/2",
    )
    attainable_p: Share | None = Field(
        default=None, description="the least two-sided p that so many could have given"
    )

    draws: int = Field(ge=0, description="random rationales compared with")
    exact: bool = Field(description="whether they are all that there are")
    sequential: bool = Field(description="whether their number was decided while drawing")
    mean: float | None
    sd: float | None = Field(
        description="n - 1 (variants paper and reference: n); null if undefined"
    )
    deciles: tuple[float, ...] = Field(
        description="the 10 % to 90 % quantiles; empty without draws"
    )
    histogram: Histogram | None = Field(
        default=None,
        description="in 20 equal bins over their range; the values are probabilities of the target "
        "(variants paper and reference: NSR); null without draws",
    )


class IceTest(Message):
    """One explanation at one budget under one operator."""

    __test__ = False  # no test case of pytest

    explanation: Name
    k: float | None = Field(description="null for a rationale that was sent as spans")
    tokens: int = Field(ge=1, description="size of the rationale")
    operator: TestedOperator = Field(
        description="`mean`: NSR averaged over the operators (variants paper and reference)"
    )
    win_rate: Share | None = Field(
        description="share of random rationales that score lower, ties half; 0.5 is chance"
    )
    strict_win_rate: Share | None = Field(description="ties count as losses")
    tie_rate: Share | None
    effect: float | None = Field(description="(observed - null mean) / null sd; null if sd is 0")
    p_value: Share | None = Field(description="one-sided: P(a random rationale scores as high)")
    p_anti: Share | None = Field(description="the other side: as low")
    p_two_sided: Share | None = Field(description="twice the smaller, at most 1")
    verdict: Verdict | None = Field(description="two-sided, at level alpha")
    nsr: float | None = Field(description="Eq. 1; null where |s(x) - s(empty)| < epsilon")
    stopped_early: bool = Field(description="by the sequential test")
    scores: IceScores | None = Field(description="null for operator `mean`")
    null: IceNull


class IceArea(Message):
    """Area under a curve over the budgets k, divided by the range of k: a mean height."""

    explanation: Name
    operator: TestedOperator
    k_from: float
    k_to: float
    win_rate: float | None = Field(description="0.5 is chance")
    nsr: float | None = Field(description="null where one of the values is")


class IceComparison(Message):
    """Two explanations at the same budget, against the same random rationales."""

    first: Name
    second: Name
    k: float
    operator: TestedOperator
    score_difference: float = Field(description="s(first) - s(second), probability; no sampling")
    win_rate_difference: float | None = Field(
        ge=-1, le=1, description="first - second, over the random rationales of `draws`"
    )
    low: float | None = Field(description="95 % Wilson interval over the draws; exact: the value")
    high: float | None
    draws: int = Field(ge=0, description="random rationales that both were compared with")


class IcePlausibility(Message):
    """A rationale against the tokens that people marked."""

    explanation: Name
    k: float | None
    human_tokens: int
    iou: Share = Field(description="intersection over union of tokens")
    precision: Share
    recall: Share
    f1: Share
    auprc: Share | None = Field(
        description="average precision of the ranking, any budget; null for spans without values"
    )
    prevalence: Share = Field(description="share of marked tokens: what AUPRC is by chance")


class IceComponents(Message):
    """All that was tested."""

    tests: tuple[IceTest, ...]
    areas: tuple[IceArea, ...] = Field(description="where there are several budgets")
    comparisons: tuple[IceComparison, ...] = Field(
        description="where there are several explanations"
    )
    plausibility: tuple[IcePlausibility, ...] = Field(description="where `human` was sent")


class IceRationaleEvidence(Evidence):
    """A span that an explanation points at, at the first budget."""

    kind: Literal["rationale"] = "rationale"
    offsets_into: Of = "text"
    explanation: Name
    value: float | None = Field(default=None, description="mean value of its tokens, as given")


class IceToken(Message):
    """A token of what the model reads."""

    start: int | None = Field(ge=0, description="character offset; null outside text and pair")
    end: int | None = Field(ge=0, description="character offset, exclusive; null likewise")
    of: Part = Field(description="what the offsets point into, or what else it belongs to")
    eligible: bool = Field(description="whether a rationale may hold it")


class IceTokenValues(Message):
    """What an explanation says of each token."""

    explanation: Name
    values: tuple[float | None, ...] = Field(
        description="one a token; null for tokens that are not eligible, and for spans without "
        "values"
    )
    rationale: tuple[Place, ...] = Field(description="its tokens at the first budget, ascending")


class IceChance(Message):
    """What the score would be of an explanation that knows nothing, at the first test."""

    win_rate: float = Field(description="mean of the mid-rank win rate under the null, by symmetry")
    sd: float | None = Field(
        description="its exact standard deviation without ties, √((M+2)/(12M)); null where M was "
        "decided while drawing"
    )
    draws: int = Field(description="M")


def _none(items: tuple[Message, ...]) -> bool:
    return not items


class IceResult(Report):
    """The score is the win rate averaged over operators, first explanation, first budget."""

    range: tuple[float, float] = (0.0, 1.0)
    components: IceComponents
    evidence: tuple[IceRationaleEvidence, ...]
    control: IceChance | None = Field(description="null where undefined; see `warnings`")
    target: Name = Field(description="the label whose probability is the score s")
    predicted_label: Name | None = Field(description="null where the model was not asked")
    probabilities: dict[str, float] = Field(description="of the whole text, by label")
    rows: RowKind = Field(
        default="tokens",
        description="what rationales are made of; with `words`, all that is said of tokens here is "
        "of words",
    )
    eligible_tokens: int = Field(
        ge=0, description="tokens that a rationale may hold; 0 where the model was not asked"
    )
    characters_read: tuple[int, int] = Field(description="of text and pair, by the model")
    forward_rows: int = Field(ge=0, description="rows that the model was called with")
    tokens: tuple[IceToken, ...] = Field(
        default=(),
        exclude_if=_none,
        description="in reading order; where `token_values` was requested",
    )
    token_values: tuple[IceTokenValues, ...] = Field(
        default=(), exclude_if=_none, description="one an explanation; likewise"
    )

    @property
    def unit(self) -> str:
        """What a rationale is made of, singular."""
        return self.rows.removesuffix("s")


class IceBatchReportRequest(BatchReportRequest):
    """Whose results, and at which levels they are tested."""

    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="false discovery rate over configurations"
    )
    example_alpha: float = Field(
        default=0.10, gt=0, lt=1, description="false discovery rate over examples (the paper's)"
    )
    error: Literal["discovery", "family"] = Field(
        default="discovery",
        description="what `alpha` bounds over configurations: the share of false verdicts "
        "(Benjamini-Hochberg), or the chance of any (Holm)",
    )


BatchVerdict = Literal["faithful", "inconclusive", "anti-faithful", "undecidable"]


class IceConfiguration(Message):
    """What a result is averaged over: these tests of all examples."""

    model: str
    variant: Variant
    explanation: str
    k: float | None = Field(description="null for rationales that were sent as spans")
    operator: TestedOperator
    rows: RowKind = Field(
        default="tokens",
        exclude_if=lambda rows: bool(rows == "tokens"),
        description="what rationales are made of",
    )


class IceOverExamples(Message):
    """Benjamini-Hochberg over examples, as the paper does it, and why it can hardly reject."""

    alpha: float
    rejected: int = Field(ge=0, description="examples whose one-sided p survives")
    least_p: float | None = Field(description="the smallest p that the draws allow, 1 / (M + 1)")
    needed: int | None = Field(
        description="examples that would have to reach it before any is rejected"
    )
    raw: int = Field(ge=0, description="examples with p <= alpha, uncorrected")


class IceConfigurationResult(Message):
    """One configuration over its examples."""

    configuration: IceConfiguration
    undefined: int = Field(ge=0, description="examples whose win rate is null; left out")
    win_rate: Interval = Field(description="mean mid-rank win rate")
    strict_win_rate: float | None = Field(description="mean; ties count as losses")
    tie_rate: float | None = Field(description="mean")
    z: float | None = Field(
        default=None, description="of reports before metric version 2.0; now `omnibus_z`"
    )
    t: float | None = Field(
        default=None,
        description="(mean - 1/2) / its standard error over texts; null without spread",
    )
    p_t: Share | None = Field(default=None, description="of t, two-sided")
    p_randomization: Share | None = Field(
        default=None, description="of sign flips of whole texts, two-sided"
    )
    p_value: Share | None = Field(description="that the mean is 1/2: the larger of both")
    q_value: Share | None = Field(description="corrected over configurations, see `error`")
    verdict: BatchVerdict | None = Field(
        description="of the configuration, by q and the side of 1/2; `undecidable`: so few texts "
        "could not have reached alpha"
    )
    omnibus_z: float | None = Field(
        default=None,
        description="is any explanation better or worse than random? (mean - 1/2) / its exact sd "
        "if all were random; null where draws were adaptive or could repeat",
    )
    omnibus_p: Share | None = Field(default=None, description="of omnibus_z, two-sided")
    effect: Interval = Field(
        description="median effect, distribution-free interval by order statistics"
    )
    exact: int = Field(ge=0, description="examples whose test was exact")
    verdicts: dict[Verdict, int] = Field(description="of the examples")
    over_examples: IceOverExamples


class IceMeanDifference(Message):
    """Two explanations on the same examples, paired."""

    first: IceConfiguration
    second: IceConfiguration
    difference: Interval = Field(description="mean win rate, first - second")
    first_better: int = Field(ge=0, description="examples where first has the higher win rate")
    second_better: int = Field(ge=0)
    equal: int = Field(default=0, ge=0, description="examples where neither has")
    p_value: Share | None = Field(
        default=None, description="that the mean difference is 0: the larger of the next two"
    )
    p_t: Share | None = Field(default=None, description="of t over texts, two-sided")
    p_randomization: Share | None = Field(
        default=None, description="of sign flips of whole texts, two-sided"
    )
    p_adjusted: Share | None = Field(default=None, description="Holm over all pairs of the report")
    effect: float | None = Field(
        default=None, description="mean difference in its sds over examples; null where that is 0"
    )


class IceAgreement(Message):
    """Two operators on the same tests: do they say the same?"""

    first: IceConfiguration
    second: IceConfiguration
    examples: int = Field(ge=0)
    spearman: float | None = Field(description="of the win rates; null where one is constant")
    same_side: Share | None = Field(description="share on one side of 0.5 under both")
    same_verdict: Share | None


class IceOrthogonality(Message):
    """Faithfulness against plausibility over examples, as in the paper's Table 14."""

    configuration: IceConfiguration
    measure: str = Field(description="iou, f1 or auprc")
    mean: Interval = Field(description="of the measure")
    pearson: Interval = Field(description="with the win rate")
    spearman: float | None
    p_value: Share | None = Field(description="of Pearson's r, two-sided")
    q_value: Share | None = Field(default=None, description="Benjamini-Hochberg over this table")


class IceAntiFaithful(Message):
    """What points at the wrong tokens: worse than chance, not merely no better."""

    configurations: tuple[IceConfiguration, ...]
    examples: tuple[str, ...] = Field(
        description="jobs (custom id, else id) whose first test is anti-faithful; at most 1,000"
    )
    examples_in_all: int = Field(ge=0)


class IceBatchReport(BatchReport):
    """Win rates with intervals, tests at both levels, agreements, and a plot."""

    configurations: tuple[IceConfigurationResult, ...]
    differences: tuple[IceMeanDifference, ...]
    operator_agreement: tuple[IceAgreement, ...]
    orthogonality: tuple[IceOrthogonality, ...]
    anti_faithful: IceAntiFaithful
