"""The result types of ICE: a test for each explanation, budget and operator, and comparisons of
explanations. Imports only pydantic. Source: Basu & Chakraborty, arXiv:2603.18579, section 3."""

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
    "relevant",
    "no evidence",
    "against",
    "undecidable",
    "undefined",
]
StratumKind = Literal["frequency", "pos"]
Name = Annotated[str, Word]
Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(ge=0, le=1, description="probability of the target label")]
Place = Annotated[int, Field(ge=0, description="index into `tokens`")]

MOST = 1e300  # of a value's magnitude: sums over a text stay finite


class IceSpan(Message):
    """A span of the text, or of its pair."""

    start: int = Field(ge=0, description="character offset (Unicode code points)")
    end: int = Field(ge=1, description="character offset, exclusive")
    of: Of = Field(default="text", description="the text that the offsets point into")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a span must end after its start")
        return self


class IceAttributedSpan(IceSpan):
    """A span with its importance."""

    value: float = Field(ge=-MOST, le=MOST, description="importance, in your own units")


class IceScores(Message):
    """The target label's probability for variants of the text, under one operator."""

    full: Probability = Field(description="s(x): score of the whole text")
    rationale: Probability = Field(description="s(r): score if only the rationale stays")
    empty: Probability | None = Field(description="s(empty): score if nothing of the text stays")
    without: Probability | None = Field(
        default=None,
        description="s(x without r): score if everything except the rationale stays; null if not "
        "requested, or if nothing would be left for the model to read",
    )


class IceNull(CalibratedNull):
    """The null distribution: scores of random token sets. A score is the target's probability, or
    the probability's retained share in `paper` and `reference`."""

    kind: NullKind = Field(
        default="tokens",
        description="the property that random rationales share with the tested one: the number of "
        "tokens, the numbers of whole words and tokens, the lengths of passages, or also the gaps "
        "between them. For rows of words, `words` is the number of words",
    )
    strata: StratumKind | None = Field(
        default=None,
        description="a further property that random rationales share with the tested one, token by "
        "token",
    )
    match_tokens: bool = Field(
        default=False,
        description="whether random rationales must have about as many tokens as the tested one",
    )
    attainable_p: Share | None = Field(
        default=None,
        description="the smallest possible p-value, with all draws that the request allows or "
        "with all placements; one-sided if `alternative` is `greater`",
    )
    sd: float | None = Field(
        default=None,
        description="standard deviation over n - 1 (variants paper and reference: n); "
        "null if undefined",
    )


class IceTest(Message):
    """The test of one explanation, for one budget (share of tokens), operator (way to remove
    tokens) and aspect."""

    __test__ = False  # no test case of pytest

    explanation: Name
    aspect: Aspect = Field(
        default="sufficiency",
        description="the tested quantity: the probability s(r) that remains with the rationale "
        "alone, or the loss s(x) - s(x without r) when it is removed",
    )
    k: float | None = Field(
        description="share of the eligible tokens; null for a rationale sent as spans"
    )
    tokens: int = Field(ge=1, description="size of the rationale")
    operator: TestedOperator = Field(
        description="`mean`: NSR averaged over the operators (variants paper and reference)"
    )
    win_rate: Share | None = Field(
        description="share of random rationales with a lower score; ties count half; 0.5 is chance"
    )
    strict_win_rate: Share | None = Field(description="win rate with ties counted as losses")
    tie_rate: Share | None
    effect: float | None = Field(description="(observed - null mean) / null sd; null if sd is 0")
    p_value: Share | None = Field(
        description="one-sided p-value: P(a random rationale scores at least as high)"
    )
    p_anti: Share | None = Field(
        description="one-sided p-value of the opposite test: P(a random rationale scores at most "
        "as high)"
    )
    p_two_sided: Share | None = Field(
        description="two-sided p-value: twice the smaller of the two, at most 1"
    )
    p_adjusted: Share | None = Field(
        default=None,
        description="p-value corrected for all tests of the request; null in variants paper and "
        "reference",
    )
    verdict: Verdict | None = Field(
        description="verdict at level alpha, by `p_adjusted` (variants paper and reference: "
        "`p_two_sided`), or by `null.p_calibrated` for necessity with few placements; "
        "`undecidable`: `null.attainable_p` is above alpha, so no other verdict was possible"
    )
    drop: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="probability of the target label that is lost: s(x) - s(r); in a necessity "
        "test s(x) - s(x without r)",
    )
    nsr: float | None = Field(description="Eq. 1; null if |s(x) - s(empty)| < epsilon")
    scores: IceScores | None = Field(description="null for operator `mean`")
    null: IceNull

    @property
    def title(self) -> str:
        """Return the name of this test for warnings."""
        side = "" if self.aspect == "sufficiency" else f", {self.aspect}"
        return f"{self.explanation}, k {self.k}, {self.operator}{side}"


class IceCausalReading(Message):
    """Sufficiency and necessity of one explanation, read together."""

    explanation: Name
    k: float | None
    operator: Operator
    interaction: float | None = Field(
        description="g(x) - g(r) - g(x without r) + g(empty), g = log odds of s: above 0 the "
        "rationale and the rest need each other, below 0 they replace each other; null without "
        "s(empty)"
    )
    p_interaction: Share | None = Field(
        description="two-sided p-value of the interaction, compared with those of random rationales"
    )
    p_value: Share | None = Field(
        default=None,
        description="corrected p-value of both tests together; null with several budgets or "
        "operators",
    )
    reading: Reading = Field(
        description="`cause`: the rationale alone is sufficient, and it is needed; `redundant`: it "
        "is sufficient, but so is the rest of the text; `partner`: it is needed, but works only "
        "together with the rest; `sufficient`, `needed`: only this is shown, without a clear "
        "interaction; `relevant`: only both together are significant; `against`: the prediction is "
        "stronger without it; `undecidable`: there are too few random rationales; `undefined`: "
        "there is no random rationale"
    )


class IceDistance(Message):
    """Measures how unlike natural text the perturbed inputs are; answers to unnatural inputs
    may mean little."""

    rows: int = Field(ge=0, description="number of perturbed texts")
    kept: Share | None = Field(description="mean share of the tokens that perturbed texts keep")
    entropy_gain: float | None = Field(
        description="mean entropy of the model's answers to perturbed texts minus that of its "
        "answer to the text, nats; null if the units are words"
    )
    flip_share: Share | None = Field(
        description="share of random rationales that change the likeliest label; null if the units "
        "are words"
    )
    length_share: Share | None = Field(
        default=None,
        description="share of perturbed texts outside the range of lengths of 98 % of the training "
        "texts; null if the model's card does not state it, or if the units are words",
    )
    ece_perturbed: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="the largest excess of calibration error on such inputs, from the model's card "
        "(nearest operator and share that stays); null if the card does not state it",
    )
    perplexity_ratio: float | None = Field(
        default=None,
        gt=0,
        description="perplexity of the text reduced to 50 random rationales, under "
        "`fluency_model`, divided by that of the whole text: first explanation, "
        "budget and operator; null without a model, or if it cannot read them",
    )
    rationale_perplexity_ratio: float | None = Field(
        default=None, gt=0, description="perplexity ratio of the explanation's rationale"
    )


class IceArea(Message):
    """Area under a curve over the budgets, divided by their range."""

    explanation: Name
    operator: TestedOperator
    k_from: float
    k_to: float
    win_rate: float | None = Field(
        description="area under the win rates of sufficiency over the budgets; 0.5 is chance"
    )
    nsr: float | None = Field(
        description="area under NSR over the budgets; null if one of the values is null"
    )


class IceComparison(Message):
    """Two explanations at one budget, compared on the same random token sets."""

    first: Name
    second: Name
    k: float
    operator: TestedOperator
    score_difference: float = Field(
        description="s(first) - s(second), a difference of probabilities that involves no sampling"
    )
    win_rate_difference: float | None = Field(
        ge=-1,
        le=1,
        description="difference of win rates, first - second, over the random rationales "
        "of `draws`",
    )
    low: float | None = Field(
        description="95 % Wilson interval over the draws; for an exact test, the value itself"
    )
    high: float | None
    draws: int = Field(ge=0, description="number of random rationales with which both are compared")


class IcePlausibility(Message):
    """Overlap of marked tokens with human marks."""

    explanation: Name
    k: float | None
    human_tokens: int
    iou: Share = Field(description="intersection over union of the tokens")
    precision: Share
    recall: Share
    f1: Share
    auprc: Share | None = Field(
        description="average precision of the ranking, independent of the budget; null for "
        "spans without values"
    )
    prevalence: Share = Field(
        description="share of tokens that people marked, which is the AUPRC expected by chance"
    )


class IceComponents(Message):
    """All tests and comparisons."""

    tests: tuple[IceTest, ...]
    areas: tuple[IceArea, ...] = Field(description="areas over the budgets, if there are several")
    comparisons: tuple[IceComparison, ...] = Field(
        description="comparisons of explanations, if there are several"
    )
    plausibility: tuple[IcePlausibility, ...] = Field(
        description="comparisons with tokens that people marked, if `human` was sent"
    )
    readings: tuple[IceCausalReading, ...] = Field(
        default=(), description="causal readings, if sufficiency and necessity were tested"
    )


class IceRationaleEvidence(Evidence):
    """A span that an explanation marks at the first budget `k` of the request."""

    kind: Literal["rationale"] = "rationale"
    offsets_into: Of = "text"
    explanation: Name
    value: float | None = Field(
        default=None, description="mean of the values sent for the span's tokens"
    )


class IceToken(Message):
    """A token of the model's input."""

    start: int | None = Field(
        ge=0, description="start, a character offset; null for tokens outside of text and pair"
    )
    end: int | None = Field(
        ge=0, description="end, exclusive; null for tokens outside of text and pair"
    )
    of: Part = Field(
        description="the text that the offsets point into, or another part of the input"
    )
    eligible: bool = Field(description="whether a rationale can contain this token")


class IceTokenValues(Message):
    """One explanation's value for each token."""

    explanation: Name
    values: tuple[float | None, ...] = Field(
        description="one value per token; null for tokens that are not eligible, and for "
        "spans without values"
    )
    rationale: tuple[Place, ...] = Field(
        description="the rationale's tokens at the first budget, ascending"
    )


class IceChance(Message):
    """The score that a random explanation would get."""

    win_rate: float = Field(description="mean of the score by chance, which follows from symmetry")
    sd: float | None = Field(
        description="standard deviation of the score: that of the operators' mean mid-ranks "
        "over random rationales. For one operator without ties, and in variants "
        "paper and reference, √((M+2)/(12M))"
    )
    draws: int = Field(description="M")


def _none(items: tuple[Message, ...]) -> bool:
    return not items


class IceResult(Report):
    """The result. The score is the sufficiency win rate of the first explanation at the first
    budget, averaged over operators."""

    range: tuple[float, float] = (0.0, 1.0)
    components: IceComponents
    evidence: tuple[IceRationaleEvidence, ...]
    control: IceChance | None = Field(description="null if undefined; `warnings` says why")
    decision: Name | None = Field(
        description="the explained decision, the label whose probability is the score s: as "
        "sent, else the model's own; null if none was sent and the model was not called"
    )
    model_decision: Name | None = Field(
        description="the model's own decision; null if the model was not called"
    )
    probabilities: dict[str, float] = Field(
        description="probabilities for the whole text, by label"
    )
    rows: RowKind = Field(
        default="tokens",
        description='the units of rationales; with `words`, read "word" for "token" in all fields',
    )
    eligible_tokens: int = Field(
        ge=0,
        description="number of tokens that a rationale may contain; 0 if the model was not called",
    )
    characters_read: tuple[int, int] = Field(
        description="characters of text and pair that the model read"
    )
    forward_rows: int = Field(ge=0, description="number of inputs sent to the model")
    reading: Reading | None = Field(
        default=None,
        description="causal reading of the first explanation at its first budget under the first "
        "operator; null unless sufficiency and necessity were tested",
    )
    distance: IceDistance | None = Field(
        default=None,
        description="null in results of earlier versions, and in the published variants",
    )
    tokens: tuple[IceToken, ...] = Field(
        default=(),
        exclude_if=_none,
        description="tokens in reading order, if `token_values` requests them",
    )
    token_values: tuple[IceTokenValues, ...] = Field(
        default=(),
        exclude_if=_none,
        description="one entry per explanation, if `token_values` requests them",
    )

    @property
    def unit(self) -> str:
        """Return the unit of the explanations, in the singular, such as `token`."""
        return self.rows.removesuffix("s")


class IceReportOptions(Message):
    """The levels at which results of ICE are tested."""

    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="which error rate is controlled over configurations"
    )
    example_alpha: float = Field(
        default=0.10,
        gt=0,
        lt=1,
        description="level of the false discovery rate over examples, as in the paper",
    )
    error: Literal["discovery", "family"] = Field(
        default="discovery",
        description="the error that `alpha` limits over configurations: the share of false "
        "verdicts (Benjamini-Hochberg), or the probability of any false verdict (Holm)",
    )


class IceBatchReportRequest(BatchReportRequest):
    """Selects the results of a batch report on ICE."""

    options: IceReportOptions = IceReportOptions()


BatchVerdict = Literal["faithful", "inconclusive", "anti-faithful", "undecidable"]


class IceConfiguration(Message):
    """The settings (such as model, explanation and operator) of tests that are averaged over all
    examples."""

    model: str
    variant: Variant
    explanation: str
    k: float | None = Field(description="null for rationales sent as spans")
    operator: TestedOperator
    rows: RowKind = Field(
        default="tokens",
        exclude_if=lambda rows: bool(rows == "tokens"),
        description="the units of rationales",
    )
    aspect: Aspect = "sufficiency"


class IceOverExamples(Message):
    """Tests of single examples, corrected by Benjamini-Hochberg as in the ICE paper."""

    alpha: float
    rejected: int = Field(ge=0, description="examples whose one-sided p-value stays significant")
    least_p: float | None = Field(
        description="the smallest p-value that the draws allow, 1 / (M + 1)"
    )
    needed: int | None = Field(
        description="number of examples that must reach this p-value before any is rejected"
    )
    raw: int = Field(ge=0, description="examples with p <= alpha, uncorrected")


class IcePValueHistogram(Message):
    """One-sided p-values in equal bins (a, b] from 0 to 1. Random explanations fill all bins
    equally if there are enough draws. Ties only make p larger."""

    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="counts of p-values, lowest bin first; the number of bins is at most 20 and "
        "is chosen so that the possible p-values are spread evenly over them",
    )
    expected: float = Field(
        ge=0, description="expected count in each bin if all explanations were random: tests / bins"
    )


class IceConfigurationResult(Message):
    """The results of one configuration, averaged over its examples."""

    configuration: IceConfiguration
    undefined: int = Field(ge=0, description="examples left out because their win rate is null")
    win_rate: Interval = Field(description="mean mid-rank win rate")
    strict_win_rate: float | None = Field(description="mean win rate with ties as losses")
    tie_rate: float | None = Field(description="mean")
    z: float | None = Field(
        default=None, description="only in reports before metric version 2.0; now `omnibus_z`"
    )
    t: float | None = Field(
        default=None,
        description="(mean - 1/2) / its standard error over texts; null without spread",
    )
    p_t: Share | None = Field(default=None, description="two-sided p-value of t")
    p_randomization: Share | None = Field(
        default=None, description="two-sided p-value of sign flips of whole texts"
    )
    p_value: Share | None = Field(
        description="p-value for a mean of 1/2: the larger of `p_t` and `p_randomization`"
    )
    q_value: Share | None = Field(description="p-value corrected over configurations, see `error`")
    verdict: BatchVerdict | None = Field(
        description="verdict on the configuration, from q and from whether the mean is above "
        "1/2; `undecidable`: there are too few texts to reach alpha"
    )
    omnibus_z: float | None = Field(
        default=None,
        description="tests whether any explanation is better or worse than random: (mean - "
        "1/2) / its exact sd if all were random; null if draws can repeat",
    )
    omnibus_p: Share | None = Field(default=None, description="two-sided p-value of omnibus_z")
    effect: Interval = Field(
        description="median effect, distribution-free interval by order statistics"
    )
    exact: int = Field(ge=0, description="examples whose test was exact")
    verdicts: dict[Verdict, int] = Field(description="verdicts of the examples")
    win_rates: ValueHistogram | None = Field(
        default=None,
        description="win rates of the examples; null in reports of earlier versions",
    )
    p_values: IcePValueHistogram | None = Field(
        default=None,
        description="one-sided p-values of the examples; null if none has one, and in "
        "reports of earlier versions",
    )
    over_examples: IceOverExamples
    leads: bool = Field(
        default=False,
        description="whether this is the first test of every result, the one that tables of "
        "results show",
    )


class IceMeanDifference(Message):
    """Compares two explanations, paired by example."""

    first: IceConfiguration
    second: IceConfiguration
    difference: Interval = Field(description="mean win rate, first - second")
    first_better: int = Field(ge=0, description="examples where the first has the higher win rate")
    second_better: int = Field(ge=0)
    equal: int = Field(default=0, ge=0, description="examples where both are equal")
    p_value: Share | None = Field(
        default=None,
        description="p-value for a mean difference of 0: the larger of `p_t` and `p_randomization`",
    )
    p_t: Share | None = Field(default=None, description="two-sided p-value of a t test over texts")
    p_randomization: Share | None = Field(
        default=None, description="two-sided p-value of sign flips of whole texts"
    )
    p_adjusted: Share | None = Field(
        default=None, description="p-value after Holm over all pairs of the report"
    )
    effect: float | None = Field(
        default=None,
        description="mean difference divided by its standard deviation over examples; "
        "null if that is 0",
    )


class IceAgreement(Message):
    """Agreement of two operators on the same tests."""

    first: IceConfiguration
    second: IceConfiguration
    examples: int = Field(ge=0)
    spearman: float | None = Field(
        description="Spearman's rho of the win rates; null if one is constant"
    )
    p_value: Share | None = Field(
        default=None, description="two-sided p-value of Spearman's rho over the means of each text"
    )
    q_value: Share | None = Field(
        default=None, description="p-value after Benjamini-Hochberg over this table"
    )
    same_side: Share | None = Field(description="share of tests on the same side of 0.5 under both")
    same_verdict: Share | None


class IceOrthogonality(Message):
    """The correlation of faithfulness and plausibility (Table 14 of the ICE paper)."""

    configuration: IceConfiguration
    measure: str = Field(description="measure of plausibility: iou, f1 or auprc")
    mean: Interval = Field(description="mean plausibility")
    pearson: Interval = Field(description="Pearson's correlation with the win rate")
    spearman: float | None
    p_value: Share | None = Field(
        description="two-sided p-value of Pearson's r over the means of each text"
    )
    q_value: Share | None = Field(
        default=None, description="p-value after Benjamini-Hochberg over this table"
    )


class IceAntiFaithful(Message):
    """The explanations whose tokens do significantly worse than random tokens."""

    configurations: tuple[IceConfiguration, ...]
    examples: tuple[str, ...] = Field(
        description="jobs whose first test is anti-faithful, by custom id or else by id; at most "
        "1,000"
    )
    examples_in_all: int = Field(ge=0)


class IceReadingCounts(Message):
    """The number of examples per reading, for one explanation, k and operator."""

    model: str
    explanation: str
    k: float | None
    operator: Operator
    examples: int = Field(ge=0)
    readings: dict[Reading, int]


class IceBatchReport(BatchReport):
    """The ICE batch report: win rates with intervals, tests per example and per configuration,
    agreements, and a plot."""

    configurations: tuple[IceConfigurationResult, ...]
    differences: tuple[IceMeanDifference, ...]
    operator_agreement: tuple[IceAgreement, ...]
    readings: tuple[IceReadingCounts, ...] = Field(
        default=(), description="causal readings, if sufficiency and necessity were tested"
    )
    orthogonality: tuple[IceOrthogonality, ...]
    anti_faithful: IceAntiFaithful
