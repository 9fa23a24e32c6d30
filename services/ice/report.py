"""What ICE reports: one test for each explanation, budget and operator, and how they compare.

Source: Basu & Chakraborty, arXiv:2603.18579, section 3. Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.calls import Part
from shared.contracts.messages import Evidence, Message, Report, Word
from shared.contracts.null_report import Null

Of = Literal["text", "text_pair"]
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


class IceNull(Null):
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
    sequential: bool = Field(
        description="whether the win rate's draws were ended by what they showed (`stop: anytime`)"
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
        description="corrected for all tests of the request: max-T over an explanation's own "
        "(Bonferroni where the first draws settle them all), Holm over explanations; null in "
        "variants paper and reference",
    )
    verdict: Verdict | None = Field(
        description="at level alpha, by `p_adjusted` (variants paper and reference: "
        "`p_two_sided`); `undecidable`: `null.attainable_p` is above alpha, so that no other "
        "could have come"
    )
    drop: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="probability of the target label that is lost: s(x) - s(r); of a necessity "
        "test s(x) - s(x without r)",
    )
    nsr: float | None = Field(description="Eq. 1; null where |s(x) - s(empty)| < epsilon")
    stopped_early: bool = Field(description="whether fewer draws than allowed settled it")
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
        "paper and reference: that. Null where M was decided by what the draws showed"
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
