"""HateXScore reports its parts, the evidence they rest on and the control; means over many results.

Source: Hu & Lee, EACL 2026, arXiv:2601.13547, section 3. Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.judgement import Reading
from shared.contracts.messages import (
    Count,
    Evidence,
    Message,
    NullReason,
    ReasonCode,
    Word,
)
from shared.contracts.null_report import CalibratedNull, PValue
from shared.contracts.reports import Interval

# Where the asked model cannot witness at all: a CC that is 0 for some such texts and null for the
# others would have a mean that says nothing.
NO_WITNESS: frozenset[ReasonCode] = frozenset(
    {
        "untrained-language",
        "language-undecided",
        "model-disagrees",
        "quote-unread",
        "judge-has-no-such-label",
    }
)

NO_EXPLANATION = "there is no explanation: it is empty"  # a warning
UNLISTED = "the policy lists none of the groups that `target_groups` names"  # a warning

Side = Literal["hateful", "non-hateful"]
Label = Annotated[str, Word]  # a side, or a further class of the caller's vocabulary
Language = Literal["en", "zh", "ko"]  # that the paper prints lists in
Reader = Literal["rules", "reader", "llm"]
VocabularyName = Literal[
    "default", "hate", "toxicity", "safety", "policy", "three-way", "sentiment-free"
]
QuotationReason = Literal["label", "other_source", "echo", "translation", "unattributed"]
Part = Literal["htc", "qf", "tgi", "cc", "score"]
ConsistencyRule = Literal["causal", "eq5", "reference"]
Probability = Annotated[float, Field(ge=0, le=1)]
Offset = Annotated[int, Field(ge=0, description="character offset (Unicode code points)")]
QUOTED = "inside a quotation"  # why a mention of a group does not count


def side_of_label(label: Label | None) -> Side | None:
    """Return `hateful` for every class but `non-hateful`: its decision rests on what is quoted."""
    if label is None:
        return None
    return "non-hateful" if label == "non-hateful" else "hateful"


class HatexscoreComponents(Message):
    """The four parts of the score; null where undefined: `reasons` says why."""

    htc: float | None = Field(
        ge=0,
        le=1,
        description="1: the explanation states a conclusion; `robust`: and not the opposite of the "
        "decision that was sent",
    )
    qf: float | None = Field(
        ge=0,
        le=1,
        description="max(0, dp) of masking the quotes if hateful, else 1 - max(0, dp); `paper` and "
        "`reference`: |dp|; 0: no quote",
    )
    tgi: float | None = Field(
        ge=0,
        le=1,
        description="1: it names a protected group as the target; of a non-hateful decision, one "
        "that the text names, and null where the text names none: `not_applicable`",
    )
    cc: float | None = Field(ge=0, le=1, description="1: decision, QF and TGI cohere")


class HatexscoreReaderUse(Message):
    """What read the conclusion and the groups off the explanation: HTC and TGI."""

    by: Reader = Field(
        description="`reader`: fields, and the trained reader for prose; `llm`: a language model; "
        "`rules`: the fields of a structured explanation; or the patterns of `paper` and "
        "`reference`, and of results before version 2.1"
    )
    model: Annotated[str, Word] | None = Field(default=None, description="of `reader` and `llm`")
    prompt: Annotated[str, Word] | None = Field(
        default=None, description="its name and version, of `llm`"
    )
    prompt_sha256: Annotated[str, Word] | None = Field(default=None, description="of its file")


class HatexscoreReason(NullReason):
    """Why a part, or the score, is null."""

    component: Part


class HatexscoreQuoteEvidence(Evidence):
    """A span of the text that the explanation quotes."""

    kind: Literal["quote"] = "quote"
    offsets_into: Literal["text"] = "text"
    match: Literal["exact", "inflected", "fuzzy"] = Field(
        description="exact: equal after normalisation; inflected: one word, which differs from "
        "that of the text by its ending; fuzzy: at most 15 % of the characters edited"
    )
    quoted_as: str = Field(description="how the explanation writes it")
    value: float | None = Field(
        default=None, ge=0, le=1, description="similarity: 1 - edit distance / longer length"
    )


class HatexscoreGroupEvidence(Evidence):
    """A mention of a protected group in the explanation. Offsets are into the explanation."""

    kind: Literal["group"] = "group"
    offsets_into: Literal["explanation"] = "explanation"
    start: int | None = Field(
        ge=0,
        description="character offset into the explanation as sent, or "
        "into its fields as they are written out",
    )
    end: int | None = Field(ge=0, description="character offset, exclusive")
    group: Annotated[str, Word] = Field(description="the list's name of the group")
    category: Annotated[str, Word] = Field(description="the list's category")
    found_as: Annotated[str, Word] = Field(description="how the mention matches the list")
    by: Reader = Field(
        default="rules", description="what read the mention; `rules`: a field, or the list alone"
    )
    counts: bool = Field(description="whether it counts as identification of the target")
    reason: Annotated[str, Word] = Field(description="why it counts, or why it does not")
    attacked: bool = Field(
        default=False,
        description="whether the explanation says that the group is attacked",
    )
    in_text: bool | None = Field(
        default=None,
        description="whether the text names the same group; null where it names none, or is in "
        "another language than the explanation",
    )


class HatexscoreCategoryEvidence(Evidence):
    """What the asked guard model names beside its label. It changes no number."""

    kind: Literal["category"] = "category"
    start: None = None
    end: None = None
    category: Annotated[str, Word] = Field(description="as the model writes it")
    text: Annotated[str, Word] = Field(description="in words, as the model's entry has it")
    model: Annotated[str, Word]


class HatexscoreHallucinatedQuote(Message):
    """A quotation that the explanation attributes to the text, and that does not occur there.

    Offsets are into the explanation.
    """

    start: Offset
    end: Offset
    text: str
    misquotes: str | None = Field(
        default=None,
        description="the passage of the text that the quotation changes, so that it says something "
        "else: a negation, a number, a group, another word, an ellipsis; null where there is none",
    )


class HatexscoreOtherQuotation(Message):
    """A quotation of something else than the text. Offsets are into the explanation."""

    start: Offset
    end: Offset
    text: str
    reason: QuotationReason = Field(
        description="label: the name of a label; other_source: words "
        "of somebody else, a paraphrase, or words that the text might have had; echo: the whole "
        "text, beside quotations of parts; translation: not in the text, and in letters or a "
        "language that it does not have; unattributed: not in the text, and not said to be"
    )


DELETED = frozenset({  # fields of results before version 2.2
    "other_verdicts", "quotes_matter", "other_variants", "partial_score", "partial_parts",
    "undefined", "echo", "relative_drop", "drop_direction", "predicted_label_sent",
})  # fmt: skip


def _without(dropped: frozenset[str], sent: Any) -> Any:
    """Results of version 2.0 have fields that the patterns filled."""
    if not isinstance(sent, dict):
        return sent
    return {name: value for name, value in sent.items() if name not in dropped}


class HatexscoreConclusion(Message):
    """The sentence that states the decision. Offsets are into the explanation."""

    start: Offset
    end: Offset
    text: str
    by: Reader = Field(default="rules", description="what read it; `rules`: a field")
    label: Label | None = Field(
        default=None, description="the side that it states; null in results before version 2.0"
    )
    probability: Probability | None = Field(
        default=None,
        description="of the label, to two places, as the trained reader gives it; null where the "
        "conclusion stands in a field or a language model read it",
    )

    @model_validator(mode="before")
    @classmethod
    def _reads_earlier_results(cls, sent: Any) -> Any:
        return _without(frozenset({"word", "form", "confidence"}), sent)


class HatexscoreRandomSpans(CalibratedNull):
    """The control: what masking random spans of the same lengths does to P(hateful).

    The scores of the null are what `p_value` is of: `robust`, hateful: the signed drop; else |dp|.
    """

    kind: Literal["spans"] = Field(
        default="spans", description="passages of as many words as the quotes"
    )
    draws: int = Field(ge=1, description="different random placements, the quoted one excluded")
    p_value: PValue | None = Field(
        default=None,
        description="one-sided: how often random spans do as well; lower is stronger. (1 + draws "
        "that reach the quotes) / (1 + draws); where draws go on look by look, p of stage-wise "
        "order. "
        "`robust`, hateful: of the signed drop; else of |dp|, which for a non-hateful decision is "
        "shown without judgement",
    )
    rank: int | None = Field(
        default=None,
        ge=1,
        description="of the quotes among themselves and the draws; 1 is the best, ties count "
        "against them; null in earlier results",
    )
    quoted_drop: float = Field(ge=0, le=1, description="|dp| of masking the quotes, probability")
    mean_drop: float = Field(ge=0, le=1, description="mean |dp| over the draws, probability")
    sd_drop: float | None = Field(
        ge=0, le=1, description="standard deviation of |dp| (n - 1); null for a single draw"
    )
    share_beaten: float = Field(
        ge=0,
        le=1,
        description="draws that the quotes beat, in what `p_value` is of, ties half; 0.5 is chance",
    )
    drops: tuple[Probability, ...] = Field(
        default=(), description="|dp| of each draw, probability, in the order of drawing"
    )
    signed_drops: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = Field(
        default=(), description="dp of each draw, as `signed_drop`"
    )
    qf_mean: float | None = Field(
        default=None, ge=0, le=1, description="QF that the draws would have, on average"
    )
    qf_excess: float | None = Field(
        default=None, ge=-1, le=1, description="QF less `qf_mean`; 0 is chance, higher is better"
    )


class HatexscoreProbabilityReading(Message):
    """How P was read off a model that does not state it: of text and masked text together."""

    reading: Reading | None = Field(description="the first of the two's")
    mass: float | None = Field(
        ge=0, le=1, description="what all labels had together, the smaller; null: unknown"
    )
    uncertainty: float = Field(ge=0, le=1, description="of P because of the reading, the larger")


class HatexscorePostWords(Message):
    """How much the explanation says about the post: the content words that both have."""

    words: Count = Field(description="different content words of the post that it uses or quotes")
    weight: float = Field(ge=0, description="of these words; a frequent one counts half")
    needed: float = Field(ge=0, description="weight from which it is about this post")
    similarity: Probability | None = Field(
        default=None,
        description="of the post and the explanation without these words, by the model "
        "`embedded-similarity`: from 0.3 it is about this post. Asked in English, where the words "
        "do not suffice; else null",
    )


class HatexscoreResult(ExplainableReport):
    """Higher is better; the parts are worth more than their mean."""

    range: tuple[float, float] = (0.0, 1.0)
    components: HatexscoreComponents
    reasons: tuple[HatexscoreReason, ...] = Field(
        default=(),
        description="why each part that is null, and the score, is null; `warnings` "
        "has more in sentences",
    )
    not_applicable: dict[Part, Annotated[str, Word]] = Field(
        default_factory=dict,
        description="part of which there is nothing to ask → why; its weight goes to the others",
    )
    evidence: tuple[
        Annotated[
            HatexscoreQuoteEvidence | HatexscoreGroupEvidence | HatexscoreCategoryEvidence,
            Field(discriminator="kind"),
        ],
        ...,
    ] = ()
    hallucinated_quotes: tuple[HatexscoreHallucinatedQuote, ...] = ()
    other_quotations: tuple[HatexscoreOtherQuotation, ...] = Field(
        default=(), description="of something else than the text, each with its reason"
    )
    quotes_unsearched: int = Field(
        default=0,
        ge=0,
        description="quotations of more than 2,000 characters, which were looked for word for word "
        "only; none of them is called hallucinated",
    )
    masked_text: str | None = Field(default=None, description="null where nothing is quoted")
    probability_original: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="P(hateful) of the text; null where it was not needed or not given",
    )
    probability_masked: float | None = Field(
        default=None, ge=0, le=1, description="P(hateful) of the masked text; null likewise"
    )
    model_agrees: bool | None = Field(
        default=None,
        description="whether the asked model makes the decision itself: P(hateful) >= 0.5, or the "
        "`threshold` of its entry, if it is hateful, else below; `robust`: where not, QF is null, "
        "and CC with it unless the explanation concludes the opposite. Null: no P, or no decision",
    )
    signed_drop: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="P(hateful) of the text less that of the masked text, probability; > 0: what "
        "is quoted makes the text more hateful; null where either is missing",
    )
    probability_reading: HatexscoreProbabilityReading | None = Field(
        default=None,
        exclude_if=lambda reading: reading is None,
        description="absent where a classifier's head tells P",
    )
    decision: Label | None = Field(
        default=None,
        description="in force: as sent, else as stated; `hateful`, `non-hateful`, or a further "
        "class of `labels`",
    )
    stated_decision: Label | None = Field(
        default=None, description="what the explanation concludes"
    )
    decision_match: bool | None = Field(
        default=None,
        description="whether the stated label is the one sent; null where either is absent",
    )
    conclusion: HatexscoreConclusion | None = None
    language: Annotated[str, Word] = Field(description="of the text: `languages.text.code`")
    explanation_language: Annotated[str, Word] = Field(
        description="`languages.explanation.code`; of one without words, the text's"
    )
    reader: HatexscoreReaderUse | None = Field(
        default=None,
        description="null where nothing could read it, and in results before version "
        "1.2; the parts of an answer that could not be used are null all the same",
    )
    groups: tuple[Annotated[str, Word], ...] = Field(
        default=(), description="groups that count as identified, sorted"
    )
    text_groups: tuple[Annotated[str, Word], ...] | None = Field(
        default=None,
        description="groups of the policy that the text names, sorted; null where nothing looked",
    )
    post_words: HatexscorePostWords | None = Field(
        default=None,
        description="of a non-hateful decision, and of an explanation without quotes; else null",
    )
    control: HatexscoreRandomSpans | None = Field(
        default=None, description="null where undefined; see `warnings`"
    )

    @model_validator(mode="before")
    @classmethod
    def _reads_earlier_results(cls, sent: Any) -> Any:
        return _without(DELETED, sent)

    @property
    def unasked(self) -> frozenset[str]:
        return frozenset(self.not_applicable)


MOST_NAMED = 100  # results with a label conflict


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


Decision = Label  # or `unknown`


class HatexscoreTestedTogether(Message):
    """All hateful decisions with a control in one test. It finds what single posts are too short
    for."""

    results: Count = Field(description="with a control")
    texts: Count = Field(description="clusters: results of one text count as one")
    z: float = Field(
        description="sum of (share_beaten - 1/2) over its standard deviation if all quotes were "
        "random spans; > 0: the quotes do more"
    )
    p_value: PValue = Field(description="two-sided, that all quotes are random spans")
    rate: Probability = Field(description="expected share of random spans among `found`, at most")
    found: Count = Field(
        description="results whose quotes do more than random spans, by local false discovery rates"
    )
    named: tuple[str, ...] = Field(
        max_length=MOST_NAMED, description="the first of `found`, by custom_id, else by job"
    )


class HatexscoreDecisionMeans(Message):
    """Means over the results of one decision: what should be high for one is low for another."""

    results: int = Field(ge=0)
    score: Interval
    components: dict[str, Interval] = Field(description="mean of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(description="as in the report")
    qf_excess: Interval | None = Field(
        default=None, description="QF above that of random quotes, mean; 0 is chance"
    )
    together: HatexscoreTestedTogether | None = Field(
        default=None, description="null without a control, and of other decisions than hateful"
    )


class HatexscoreModelAgreement(Message):
    """Does the asked model make the decisions that are explained? QF rests on that."""

    agreement: Interval = Field(description="share of results where the model decides so")
    by_decision: dict[Decision, Interval] = Field(description="the same of each decision")


class HatexscoreBatchReport(BatchReport):
    """Means over the results in which the quantity is defined."""

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
    groups: dict[str, int] = Field(description="group that counts as identified → results")
    categories: dict[str, int] = Field(
        default_factory=dict,
        description="category of the policy that such a group is of → results: one name for "
        "`women`, `girls` and `sex`; empty in reports of earlier versions",
    )
    languages: dict[str, int] = Field(description="language of the text → results")


# What a report counts of results, as their table finds them: (name, SQL/JSON path of words).
_MISSING = "exists($.hallucinated_quotes[*])"
_ROUGH = (
    'exists($.evidence[*] ? (@.kind == "quote" && @.match != "exact")) || $.quotes_unsearched > 0'
)
_QUOTED = 'exists($.evidence[*] ? (@.kind == "quote"))'
FACETS = (
    ("group", "$.groups[*]"),
    ("category", '$.evidence[*] ? (@.kind == "group" && @.counts == true).category'),
    ("conclusion", '"as sent" ? ($.decision_match == true)'),
    ("conclusion", '"another" ? ($.decision_match == false)'),
    ("conclusion", '"none sent" ? ($.decision_match == null && $.stated_decision != null)'),
    ("conclusion", '"none" ? ($.stated_decision == null && $.components.htc != null)'),
    ("conclusion", '"unread" ? ($.stated_decision == null && $.components.htc == null)'),
    ("quotes", f'"all exact" ? (!({_MISSING}) && !({_ROUGH}) && {_QUOTED})'),
    ("quotes", f'"some roughly" ? (!({_MISSING}) && ({_ROUGH}))'),
    ("quotes", f'"some missing" ? ({_MISSING})'),
    ("quotes", f'"none" ? (!({_MISSING}) && !({_ROUGH}) && !({_QUOTED}))'),
)
