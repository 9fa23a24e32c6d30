"""What a report on many HateXScore results holds, and how one is asked for.

Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from services.hatexscore.report import Label, Probability, Reader
from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.messages import Count, Message
from shared.contracts.reports import Interval

ROUNDING = 1e-9  # of shares that add up to 1
MOST_NAMED = 100  # results with a label conflict


class HatexscoreBatchReportRequest(BatchReportRequest):
    """Whose results are summed up, and for which mix of decisions."""

    reference_mix: dict[Label, Probability] | None = Field(
        default=None,
        examples=[{"hateful": 0.1, "non-hateful": 0.9}],
        description="shares of the two decisions, which add up to 1, that the mean score is "
        "standardised to: batches of other mixes can then be compared",
    )

    @field_validator("reference_mix")
    @classmethod
    def _adds_up(cls, mix: dict[Label, float] | None) -> dict[Label, float] | None:
        if mix is not None and abs(sum(mix.values()) - 1) > ROUNDING:
            raise ValueError("the shares of the two decisions must add up to 1")
        return mix


class HatexscoreLabelConflicts(Message):
    """Where an explanation states another decision than the one it was sent for."""

    compared: int = Field(ge=0, description="results with both a sent and a stated label")
    conflicting: int = Field(ge=0, description="of these, results in which they differ")
    no_conclusion: int = Field(ge=0, description="results whose explanation states no decision")
    conflicts: tuple[str, ...] = Field(
        max_length=MOST_NAMED, description="the first of them, by custom_id, else by job"
    )


class HatexscoreQuoteCounts(Message):
    """What became of what the explanations quote of their texts: all quotations that are said to be
    of the text, by how they were found there; and results, by the worst of theirs."""

    exact: Count = Field(description="quotations found word for word")
    inflected: Count = Field(description="found, but for the ending of one word")
    fuzzy: Count = Field(description="found with at most 15 % of the characters edited")
    missing: Count = Field(description="not in the text: `hallucinated_quotes`")
    unsearched: Count = Field(description="not found word for word; near passages not looked for")
    results_exact: Count = Field(description="results whose quotations are all found exactly")
    results_rough: Count = Field(
        description="results with a quotation found roughly, `inflected` or `fuzzy`, or "
        "`unsearched`, and none missing"
    )
    results_missing: Count = Field(description="results with a quotation that the text has not")
    results_without: Count = Field(description="results that quote nothing of their text")


TextLength = Literal["short", "longer", "unknown"]


class HatexscoreLengthScores(Message):
    """The results whose text is so long. A short one may be quoted whole, and few random spans of
    it can be drawn."""

    results: Count
    undefined: Count = Field(description="of these, results without a score")
    score: Interval


Decision = Literal["hateful", "non-hateful", "unknown"]


class HatexscoreDecisionMeans(Message):
    """Means over the results of one decision: what should be high for one is low for another."""

    results: int = Field(ge=0)
    score: Interval
    components: dict[str, Interval] = Field(description="mean of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(description="as in the report")
    qf_excess: Interval | None = Field(
        default=None, description="QF above that of random quotes, mean; 0 is chance"
    )


class HatexscoreModelAgreement(Message):
    """Does the asked model make the decisions that are explained? QF rests on that."""

    agreement: Interval = Field(description="share of results where the model decides so")
    by_decision: dict[Decision, Interval] = Field(description="the same of each decision")
    kappa: float | None = Field(
        ge=-1, le=1, description="Cohen's, of model and decision; null where both are constant"
    )
    qf_where_agreeing: Interval = Field(description="mean QF where the model makes the decision")
    corr_p_qf: Interval = Field(description="Pearson's r of P(hateful) and QF")


class HatexscoreReaderScores(Message):
    """The results whose explanation was read by one of the two."""

    results: Count
    htc: Interval
    tgi: Interval
    score: Interval


class HatexscoreBatchReport(BatchReport):
    """Means over the results in which the quantity is defined."""

    label_mix: dict[Decision, int] = Field(
        default_factory=dict, description="decision → results with a score: what `score` is of"
    )
    standardised_score: Interval | None = Field(
        default=None,
        description="mean score of `reference_mix`: the mean of each decision, weighted by its "
        "share; null where none was sent, or a decision that has a share has no score",
    )
    components: dict[str, Interval] = Field(description="mean of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(
        description="mean share of random spans that the quotations beat; 0.5 is chance"
    )
    by_decision: dict[Decision, HatexscoreDecisionMeans] = Field(
        default_factory=dict, description="the same for each decision; `unknown`: none was found"
    )
    model_agreement: HatexscoreModelAgreement | None = Field(
        default=None, description="null where no model was asked about a decision"
    )
    evidence: Interval | None = Field(
        default=None,
        description="share of hateful decisions whose quotes move P more than random spans do, "
        "p <= 0.05, of those where so small a p can be had; 0.05 is chance",
    )
    labels: HatexscoreLabelConflicts
    quotes: HatexscoreQuoteCounts | None = Field(
        default=None, description="null in reports of earlier versions"
    )
    text_lengths: dict[TextLength, HatexscoreLengthScores] = Field(
        default_factory=dict,
        description="`short`: of at most `short_text_max_words` words of its request; `unknown`: "
        "the text is not kept",
    )
    groups: dict[str, int] = Field(description="group that counts as identified → results")
    categories: dict[str, int] = Field(
        default_factory=dict,
        description="category of the policy that such a group is of → results: one name for "
        "`women`, `girls` and `sex`; empty in reports of earlier versions",
    )
    languages: dict[str, int] = Field(description="language of the text → results")
    readers: dict[Reader, HatexscoreReaderScores] = Field(
        default_factory=dict,
        description="what read the explanation → its results: rules and models are no same measure",
    )


# What a report counts of results, as their table finds them: (name, SQL/JSON path of words).
_MISSING = "exists($.hallucinated_quotes[*])"
_ROUGH = (
    'exists($.evidence[*] ? (@.kind == "quote" && @.match != "exact")) || $.quotes_unsearched > 0'
)
_QUOTED = 'exists($.evidence[*] ? (@.kind == "quote"))'
FACETS = (
    ("group", "$.groups[*]"),
    ("category", '$.evidence[*] ? (@.kind == "group" && @.counts == true).category'),
    ("conclusion", '"as sent" ? ($.label_match == true)'),
    ("conclusion", '"another" ? ($.label_match == false)'),
    ("conclusion", '"none sent" ? ($.label_match == null && $.stated_label != null)'),
    ("conclusion", '"none" ? ($.stated_label == null && $.components.htc != null)'),
    ("conclusion", '"unread" ? ($.stated_label == null && $.components.htc == null)'),
    ("quotes", f'"all exact" ? (!({_MISSING}) && !({_ROUGH}) && {_QUOTED})'),
    ("quotes", f'"some roughly" ? (!({_MISSING}) && ({_ROUGH}))'),
    ("quotes", f'"none" ? (!({_MISSING}) && !({_ROUGH}) && !({_QUOTED}))'),
)
