"""What ICE reports: one test for each explanation, budget and operator, and how they compare.

Source: Basu & Chakraborty, arXiv:2603.18579, section 3. Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.calls import Part
from shared.contracts.messages import Count, Evidence, Message, Report, Variant, Word
from shared.contracts.null_report import CalibratedNull
from shared.contracts.reports import Interval, ValueHistogram

Of = Literal["text", "text_pair"]
TEXTS: tuple[Of, ...] = ("text", "text_pair")
Operator = Literal["delete", "mask", "mask_unk", "mask_pad", "infill"]
RowKind = Literal["tokens", "words"]
TestedOperator = Operator | Literal["mean"]
NullKind = Literal["tokens", "words", "spans", "spans_gaps"]
Aspect = Literal["sufficiency", "necessity"]
Verdict = Literal["faithful", "inconclusive", "anti-faithful", "undecidable"]
Reading = Literal[
    "cause",
    "redundant",
    "sufficient",
    "partner",
    "needed",
    "no evidence",
    "against",
    "undecidable",
    "undefined",
]
StratumKind = Literal["frequency", "pos"]
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
    without: Probability | None = Field(
        default=None,
        description="s(x without r): everything but the rationale stays; null where it was not "
        "asked for, and where nothing would be left that the model can read",
    )


class IceNull(CalibratedNull):
    """What random rationales of the same kind score: probabilities of the target label (variants
    paper and reference: NSR)."""

    kind: NullKind = Field(
        default="tokens",
        description="as many tokens, as many whole words with as many tokens, passages of the same "
        "lengths, or those with the same gaps; in rows of words `words` are as many words",
    )
    strata: StratumKind | None = Field(
        default=None, description="what else they have in common, token by token"
    )
    match_tokens: bool = Field(
        default=False, description="whether they have about as many tokens as the rationale"
    )
    attainable_p: Share | None = Field(
        default=None,
        description="the least p that could have come, one-sided where `alternative` is `greater`: "
        "of as many draws as the request allows, or of all placements",
    )
    sd: float | None = Field(
        default=None, description="n - 1 (variants paper and reference: n); null if undefined"
    )


class IceTest(Message):
    """One explanation at one budget under one operator, from one side."""

    __test__ = False  # no test case of pytest

    explanation: Name
    aspect: Aspect = Field(
        default="sufficiency",
        description="what is compared with that of random rationales: what the rationale alone "
        "keeps, s(r), or what its removal costs, s(x) - s(x without r)",
    )
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
    p_adjusted: Share | None = Field(
        default=None,
        description="corrected for all tests of the request: max-T over an explanation's own, Holm "
        "over explanations; null in variants paper and reference",
    )
    verdict: Verdict | None = Field(
        description="at level alpha, by `p_adjusted` (variants paper and reference: "
        "`p_two_sided`); `undecidable`: `null.attainable_p` is above alpha, so that no other "
        "could have come. Of necessity, with few placements, by `null.p_calibrated`"
    )
    drop: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="probability of the target label that is lost: s(x) - s(r); of a necessity "
        "test s(x) - s(x without r)",
    )
    nsr: float | None = Field(description="Eq. 1; null where |s(x) - s(empty)| < epsilon")
    scores: IceScores | None = Field(description="null for operator `mean`")
    null: IceNull

    @property
    def title(self) -> str:
        """How a warning begins that tells of this test."""
        side = "" if self.aspect == "sufficiency" else f", {self.aspect}"
        return f"{self.explanation}, k {self.k}, {self.operator}{side}"


class IceCausalReading(Message):
    """Both sides of one explanation at one budget under one operator."""

    explanation: Name
    k: float | None
    operator: Operator
    interaction: float | None = Field(
        description="g(x) - g(r) - g(x without r) + g(empty), g = log odds of s: above 0 the "
        "rationale and the rest need each other, below 0 they replace each other; null without "
        "s(empty)"
    )
    p_interaction: Share | None = Field(
        description="two-sided, among the interactions of random rationales"
    )
    reading: Reading = Field(
        description="`cause`: enough alone and needed; `redundant`: enough, and the rest is enough "
        "too; `partner`: needed, but only together with the rest; `sufficient`, `needed`: one of "
        "them, and the interaction does not say how; `against`: the prediction does better "
        "without it; `undecidable`: too few random rationales; `undefined`: there is none"
    )


class IceDistance(Message):
    """How far the asked inputs lie from texts: what a model says of such may mean little."""

    rows: int = Field(ge=0, description="perturbed texts that the model was asked about")
    kept: Share | None = Field(description="mean share of the tokens that they keep")
    entropy_gain: float | None = Field(
        description="mean entropy of the model's answers to them less that of the text, nats; null "
        "of rows of words, where the target's probability alone is read"
    )
    flip_share: Share | None = Field(
        description="share of random rationales' rows whose likeliest label is not the text's; "
        "null likewise"
    )
    length_share: Share | None = Field(
        default=None,
        description="share of rows shorter or longer than 98 % of the texts that the model was "
        "trained on; null where the model's card does not say, and of rows of words",
    )
    ece_perturbed: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="the largest excess of calibration error on such inputs, by the model's card "
        "(nearest operator and share that stays); null where it does not say",
    )
    perplexity_ratio: float | None = Field(
        default=None,
        gt=0,
        description="perplexity, under `fluency_model`, of what 50 random rationales leave of the "
        "text, over that of the text: first explanation, budget and operator; null where no model "
        "was named, or it cannot read them",
    )
    rationale_perplexity_ratio: float | None = Field(
        default=None, gt=0, description="the same of what the explanation's own rationale leaves"
    )


class IceArea(Message):
    """Area under a curve over the budgets k, divided by the range of k: a mean height."""

    explanation: Name
    operator: TestedOperator
    k_from: float
    k_to: float
    win_rate: float | None = Field(description="of sufficiency; 0.5 is chance")
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
    readings: tuple[IceCausalReading, ...] = Field(
        default=(), description="where both sides were tested"
    )


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
    """What the score would be of an explanation that knows nothing."""

    win_rate: float = Field(description="mean of the mid-rank win rate under the null, by symmetry")
    sd: float | None = Field(
        description="standard deviation of the score: over random rationales, of the mean over "
        "operators of their mid-ranks; of one operator without ties √((M+2)/(12M)). Variants "
        "paper and reference: that"
    )
    draws: int = Field(description="M")


def _none(items: tuple[Message, ...]) -> bool:
    return not items


class IceResult(Report):
    """The score is the sufficiency win rate averaged over operators, first explanation, first
    budget."""

    range: tuple[float, float] = (0.0, 1.0)
    components: IceComponents
    evidence: tuple[IceRationaleEvidence, ...]
    control: IceChance | None = Field(description="null where undefined; see `warnings`")
    decision: Name | None = Field(
        description="the explained decision, the label whose probability is the score s: as sent, "
        "else the model's own; null if none was sent and the model was not asked"
    )
    model_decision: Name | None = Field(
        description="the model's own decision; null if the model was not asked"
    )
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
    reading: Reading | None = Field(
        default=None,
        description="of the first explanation at its first budget under the first operator; null "
        "where one side was tested",
    )
    distance: IceDistance | None = Field(
        default=None, description="null in results of before, and in the published variants"
    )
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


class IceReportOptions(Message):
    """The levels at which results of ICE are tested."""

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


class IceBatchReportRequest(BatchReportRequest):
    """Which results to sum up."""

    options: IceReportOptions = IceReportOptions()


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
    aspect: Aspect = "sufficiency"


class IceOverExamples(Message):
    """Benjamini-Hochberg over examples, as the paper does it, and why it can hardly reject."""

    alpha: float
    rejected: int = Field(ge=0, description="examples whose one-sided p survives")
    least_p: float | None = Field(description="the smallest p that the draws allow, 1 / (M + 1)")
    needed: int | None = Field(
        description="examples that would have to reach it before any is rejected"
    )
    raw: int = Field(ge=0, description="examples with p <= alpha, uncorrected")


class IcePValueHistogram(Message):
    """One-sided p-values in equal bins (a, b] from 0 to 1. Of random explanations all bins are
    equally full, as far as the draws are fine enough; ties make p larger, never smaller."""

    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="p-values in each bin, the lowest first; as many bins, up to 20, as the "
        "p-values that the draws allow are spread evenly over",
    )
    expected: float = Field(
        ge=0, description="in each bin if all explanations were random: tests / bins"
    )


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
        "if all were random; null where draws could repeat",
    )
    omnibus_p: Share | None = Field(default=None, description="of omnibus_z, two-sided")
    effect: Interval = Field(
        description="median effect, distribution-free interval by order statistics"
    )
    exact: int = Field(ge=0, description="examples whose test was exact")
    verdicts: dict[Verdict, int] = Field(description="of the examples")
    win_rates: ValueHistogram | None = Field(
        default=None, description="of the examples; null in reports of earlier versions"
    )
    p_values: IcePValueHistogram | None = Field(
        default=None, description="of the examples; null likewise, and where none has one"
    )
    over_examples: IceOverExamples
    leads: bool = Field(
        default=False,
        description="whether it is the first test of every result: what tables of results show",
    )


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
    p_value: Share | None = Field(
        default=None, description="of Spearman's rho over the means of each text, two-sided"
    )
    q_value: Share | None = Field(default=None, description="Benjamini-Hochberg over this table")
    same_side: Share | None = Field(description="share on one side of 0.5 under both")
    same_verdict: Share | None


class IceOrthogonality(Message):
    """Faithfulness against plausibility over examples, as in the paper's Table 14."""

    configuration: IceConfiguration
    measure: str = Field(description="iou, f1 or auprc")
    mean: Interval = Field(description="of the measure")
    pearson: Interval = Field(description="with the win rate")
    spearman: float | None
    p_value: Share | None = Field(
        description="of Pearson's r over the means of each text, two-sided"
    )
    q_value: Share | None = Field(default=None, description="Benjamini-Hochberg over this table")


class IceAntiFaithful(Message):
    """What points at the wrong tokens: worse than chance, not merely no better."""

    configurations: tuple[IceConfiguration, ...]
    examples: tuple[str, ...] = Field(
        description="jobs (custom id, else id) whose first test is anti-faithful; at most 1,000"
    )
    examples_in_all: int = Field(ge=0)


class IceReadingCounts(Message):
    """How often an explanation was read as what."""

    model: str
    explanation: str
    k: float | None
    operator: Operator
    examples: int = Field(ge=0)
    readings: dict[Reading, int]


class IceBatchReport(BatchReport):
    """Win rates with intervals, tests at both levels, agreements, and a plot."""

    configurations: tuple[IceConfigurationResult, ...]
    differences: tuple[IceMeanDifference, ...]
    operator_agreement: tuple[IceAgreement, ...]
    readings: tuple[IceReadingCounts, ...] = Field(
        default=(), description="where both sides were tested"
    )
    orthogonality: tuple[IceOrthogonality, ...]
    anti_faithful: IceAntiFaithful
