"""The result types of HateXScore. Imports only pydantic. Source: Hu & Lee, EACL 2026,
arXiv:2601.13547, section 3."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.judgement import Reading
from shared.contracts.messages import Count, Evidence, Message, NullReason, ReasonCode, Share, Word
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

NO_EXPLANATION = "the explanation is empty"  # a warning
UNLISTED = "the policy contains none of the groups in `target_groups`"  # a warning

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
    """Return `hateful` for every class except `non-hateful`, because decisions for all other
    classes depend on quoted words."""
    if label is None:
        return None
    return "non-hateful" if label == "non-hateful" else "hateful"


class HatexscoreComponents(Message):
    """The four parts of the score; null if undefined, see `reasons`."""

    htc: Share | None = Field(
        description="1 if the explanation states a conclusion, which in `robust` must not "
        "contradict the decision sent"
    )
    qf: Share | None = Field(
        description="effect of masking the quotes, where dp is the drop of P(hateful): max(0, "
        "dp) if hateful, else 1 - max(0, dp); variants `paper` and `reference`: |dp|; 0 "
        "without a quote"
    )
    tgi: Share | None = Field(
        description="1 if the explanation names a protected group as the target; for a "
        "non-hateful decision, a group that the text names. Null if the text names none: "
        "`not_applicable`"
    )
    cc: Share | None = Field(description="1 if decision, QF and TGI are consistent")


class HatexscoreReaderUse(Message):
    """The source of the explanation's conclusion (HTC) and groups (TGI)."""

    by: Reader = Field(
        description="what read the explanation. `reader`: fields, and the trained reader for "
        "prose; `llm`: a language model; `rules`: the fields of a structured explanation, or "
        "the patterns of variants `paper` and `reference`"
    )
    model: Annotated[str, Word] | None = Field(
        default=None, description="model of `reader` and `llm`"
    )
    prompt: Annotated[str, Word] | None = Field(
        default=None, description="name and version of the prompt, for `llm`"
    )
    prompt_sha256: Annotated[str, Word] | None = Field(
        default=None, description="hash of the prompt's file"
    )


class HatexscoreReason(NullReason):
    """The reason why a part, or the score, is null."""

    component: Part


class HatexscoreQuoteEvidence(Evidence):
    """A span of the text that the explanation quotes."""

    kind: Literal["quote"] = "quote"
    offsets_into: Literal["text"] = "text"
    match: Literal["exact", "inflected", "fuzzy"] = Field(
        description="exact: equal after normalisation; inflected: a single word with a different "
        "ending in the text; fuzzy: at most 15 % of the characters differ"
    )
    quoted_as: str = Field(description="the quote as the explanation writes it")
    value: Share | None = Field(
        default=None, description="similarity: 1 - edit distance / longer length"
    )


class HatexscoreGroupEvidence(Evidence):
    """A mention of a protected group in the explanation. Offsets are into the explanation."""

    kind: Literal["group"] = "group"
    offsets_into: Literal["explanation"] = "explanation"
    start: Count | None = Field(
        description="character offset into the explanation, or into its fields written as one text"
    )
    end: Count | None = Field(description="character offset, exclusive")
    group: Annotated[str, Word] = Field(description="name of the group in the list")
    category: Annotated[str, Word] = Field(description="category of the group in the list")
    found_as: Annotated[str, Word] = Field(
        description="the kind of match between the mention and the list"
    )
    by: Reader = Field(
        default="rules",
        description="what read the mention; `rules`: a field, or only the list",
    )
    counts: bool = Field(description="whether the mention counts as identification of the target")
    reason: Annotated[str, Word] = Field(description="why the mention counts, or why it does not")
    attacked: bool = Field(
        default=False,
        description="whether the explanation says that the group is attacked",
    )
    in_text: bool | None = Field(
        default=None,
        description="whether the text names the same group; null if it names none, or if text"
        " and explanation have different languages",
    )


class HatexscoreCategoryEvidence(Evidence):
    """A further label of the guard model. It does not change any number."""

    kind: Literal["category"] = "category"
    start: None = None
    end: None = None
    category: Annotated[str, Word] = Field(description="the label as the model writes it")
    text: Annotated[str, Word] = Field(description="the label in the words of the model's entry")
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
        description="the passage of the text whose meaning the quotation changes (a negation,"
        " a number, a group, another word, an ellipsis); null if there is none",
    )


class HatexscoreOtherQuotation(Message):
    """A quotation of something other than the text. Offsets are into the explanation."""

    start: Offset
    end: Offset
    text: str
    reason: QuotationReason = Field(
        description="label: the name of a label; other_source: words of someone else, a "
        "paraphrase, or words that the text could have used; echo: the whole text, in "
        "addition to quotations of parts; translation: not in the text, and in another script "
        "or language; unattributed: not in the text, and not attributed to it"
    )


class HatexscoreConclusion(Message):
    """The sentence that states the decision. Offsets are into the explanation."""

    start: Offset
    end: Offset
    text: str
    by: Reader = Field(default="rules", description="what read the sentence; `rules`: a field")
    label: Label = Field(description="the stated side")
    probability: Probability | None = Field(
        default=None,
        description="the trained reader's probability of the label, to two decimals; null if "
        "the conclusion is in a field or was read by a language model",
    )


class HatexscoreRandomSpans(CalibratedNull):
    """The effect on P(hateful) of masking random spans of the same lengths. The scores for
    `p_value` are signed drops for hateful decisions in `robust`, else absolute drops."""

    kind: Literal["spans"] = Field(
        default="spans",
        description="the random spans are passages with as many words as the quotes",
    )
    draws: int = Field(ge=1, description="different random placements, the quoted one excluded")
    p_value: PValue | None = Field(
        default=None,
        description="one-sided p-value: how often random spans have at least the same effect; "
        "lower is stronger evidence. (1 + draws that reach the quotes) / (1 + draws), or by "
        "stage-wise ordering if the draws were extended in steps. Based on the signed drop "
        "for hateful decisions in `robust`, else on |dp|; not used in the verdict on a "
        "non-hateful decision",
    )
    rank: int = Field(
        ge=1,
        description="rank of the quotes among the quotes and the draws; 1 is best, ties count "
        "against the quotes",
    )
    quoted_drop: Share = Field(description="|dp| of masking the quotes, probability")
    mean_drop: Share = Field(description="mean |dp| over the draws, probability")
    sd_drop: Share | None = Field(
        description="standard deviation of |dp| (n - 1); null for a single draw"
    )
    share_beaten: Share = Field(
        description="share of draws that the quotes beat, by the same quantity as `p_value`; "
        "ties count half; 0.5 is chance"
    )
    drops: tuple[Probability, ...] = Field(
        default=(), description="|dp| of each draw, probability, in the order of drawing"
    )
    signed_drops: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = Field(
        default=(), description="dp of each draw, as `signed_drop`"
    )
    qf_mean: Share | None = Field(default=None, description="mean QF of the draws")
    qf_excess: float | None = Field(
        default=None, ge=-1, le=1, description="QF minus `qf_mean`; 0 is chance, higher is better"
    )


class HatexscoreProbabilityReading(Message):
    """The method that obtained P(hateful) from a model without a classifier head."""

    reading: Reading | None = Field(description="method for the first probability")
    mass: Share | None = Field(
        description="probability of all labels together, the smaller value of both texts; null: "
        "unknown"
    )
    uncertainty: Share = Field(
        description="uncertainty of P because of the way it was read, the larger value of both "
        "texts"
    )


class HatexscorePostWords(Message):
    """The content words that the explanation shares with the post."""

    words: Count = Field(
        description="number of different content words of the post that the explanation "
        "uses or quotes"
    )
    weight: float = Field(ge=0, description="weight of these words; a frequent word counts half")
    needed: float = Field(
        ge=0, description="least weight at which the explanation is about this post"
    )
    similarity: Probability | None = Field(
        default=None,
        description="similarity of post and explanation without these words, by the model "
        "`embedded-similarity`: from 0.3 the explanation is about this post. "
        "Computed for English if the words do not suffice; else null",
    )


class HatexscoreResult(ExplainableReport):
    """The result. Higher is better. Read the parts before their mean."""

    range: tuple[float, float] = (0.0, 1.0)
    components: HatexscoreComponents
    reasons: tuple[HatexscoreReason, ...] = Field(
        default=(),
        description="why the score, or a part of it, is null; `warnings` has sentences with "
        "details",
    )
    not_applicable: dict[Part, Annotated[str, Word]] = Field(
        default_factory=dict,
        description="part that does not apply → reason; the other parts take over its weight",
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
        default=(), description="quotations of something other than the text, each with its reason"
    )
    quotes_unsearched: Count = Field(
        default=0,
        description="number of quotations of more than 2,000 characters, which were searched "
        "word for word only; none of them counts as hallucinated",
    )
    masked_text: str | None = Field(default=None, description="null if nothing is quoted")
    probability_original: Share | None = Field(
        default=None, description="P(hateful) of the text; null if not needed or not given"
    )
    probability_masked: Share | None = Field(
        default=None, description="P(hateful) of the masked text; null if not needed or not given"
    )
    model_agrees: bool | None = Field(
        default=None,
        description="whether the model makes the explained decision itself: P(hateful) is at "
        "least 0.5, or the `threshold` of its entry, for a hateful decision, else"
        " below. If not, QF is null in `robust`, and so is CC unless the "
        "explanation concludes the opposite. Null: no P, or no decision",
    )
    signed_drop: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="P(hateful) of the text minus that of the masked text, probability; > 0: "
        "the quoted words make the text more hateful; null if either is missing",
    )
    probability_reading: HatexscoreProbabilityReading | None = Field(
        default=None,
        exclude_if=lambda reading: reading is None,
        description="how P was read; absent if P is the output of a classifier",
    )
    decision: Label | None = Field(
        default=None,
        description="the decision that is scored: as sent, else as stated in the explanation; "
        "`hateful`, `non-hateful`, or a further class of `labels`",
    )
    stated_decision: Label | None = Field(default=None, description="the explanation's conclusion")
    decision_match: bool | None = Field(
        default=None,
        description="whether the stated label is the one sent; null if either is absent",
    )
    conclusion: HatexscoreConclusion | None = None
    language: Annotated[str, Word] = Field(
        description="language of the text: `languages.text.code`"
    )
    explanation_language: Annotated[str, Word] = Field(
        description="`languages.explanation.code`; the text's language if the explanation has"
        " no words"
    )
    reader: HatexscoreReaderUse | None = Field(
        default=None,
        description="null if no reader could read the explanation. Parts of the reader's answer "
        "that could not be used are null as well",
    )
    groups: tuple[Annotated[str, Word], ...] = Field(
        default=(), description="groups that count as identified, synonyms under one name, sorted"
    )
    text_groups: tuple[Annotated[str, Word], ...] | None = Field(
        default=None,
        description="groups of the policy that the text names, sorted; null if they were not "
        "searched",
    )
    post_words: HatexscorePostWords | None = Field(
        default=None,
        description="overlap with the post, for non-hateful decisions and explanations "
        "without quotes; else null",
    )
    control: HatexscoreRandomSpans | None = Field(
        default=None, description="null if undefined; `warnings` says why"
    )

    @property
    def unasked(self) -> frozenset[str]:
        return frozenset(self.not_applicable)


MOST_NAMED = 100  # results with a label conflict


class HatexscoreLabelConflicts(Message):
    """Counts of explanations that state a decision other than the one sent."""

    compared: Count = Field(description="results with both a sent and a stated label")
    conflicting: Count = Field(description="results in which the sent and the stated label differ")
    no_conclusion: Count = Field(description="results whose explanation states no decision")
    conflicts: tuple[str, ...] = Field(
        max_length=MOST_NAMED,
        description="the first of these results, by custom_id, else by job",
    )


class HatexscoreQuoteCounts(Message):
    """Counts of quotations attributed to the text, by kind of match, and counts of results, by the
    kind of their worst quotation."""

    exact: Count = Field(description="quotations found word for word in the text")
    inflected: Count = Field(description="found except for the ending of one word")
    fuzzy: Count = Field(description="found with at most 15 % of the characters edited")
    missing: Count = Field(description="not in the text: `hallucinated_quotes`")
    unsearched: Count = Field(
        description="not found word for word; similar passages were not searched"
    )
    results_exact: Count = Field(description="results whose quotations are all found exactly")
    results_rough: Count = Field(
        description="results with an `inflected`, `fuzzy` or `unsearched` quotation, and none"
        " missing"
    )
    results_missing: Count = Field(description="results with a quotation that is not in the text")
    results_without: Count = Field(description="results without a quotation of their text")


Decision = Label  # or `unknown`


class HatexscoreTestedTogether(Message):
    """One joint test of all hateful decisions that have a comparison with random spans. It detects
    effects for which single posts are too short."""

    results: Count = Field(description="results with a comparison with random spans")
    texts: Count = Field(description="number of texts; several results of one text count once")
    z: float = Field(
        description="sum of (share_beaten - 1/2), divided by its standard deviation for "
        "random spans; > 0: the quotes do more than random spans"
    )
    p_value: PValue = Field(
        description="two-sided p-value for the hypothesis that all quotes are random spans"
    )
    rate: Probability = Field(
        description="upper bound on the expected share of `found` whose quotes do no more than "
        "random spans"
    )
    found: Count = Field(
        description="number of results whose quotes do more than random spans, by local false"
        " discovery rates"
    )
    named: tuple[str, ...] = Field(
        max_length=MOST_NAMED,
        description="the first results counted in `found`, by custom_id, else by job",
    )


class HatexscoreDecisionMeans(Message):
    """Means over the results of one decision, since the desired values depend on the decision."""

    results: Count
    score: Interval
    components: dict[str, Interval] = Field(description="means of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(
        description="mean share of random spans that the quotes beat; chance is 0.5"
    )
    qf_excess: Interval | None = Field(
        default=None, description="mean of QF minus the QF of random quotes; 0 is chance"
    )
    together: HatexscoreTestedTogether | None = Field(
        default=None,
        description="null without a comparison with random spans, and for "
        "decisions other than hateful",
    )


class HatexscoreModelAgreement(Message):
    """How often the model makes the same decision as the explanation, which QF requires."""

    agreement: Interval = Field(
        description="share of results where the model makes the explained decision"
    )
    by_decision: dict[Decision, Interval] = Field(
        description="decision → `agreement` over the results with this decision"
    )


class HatexscoreBatchReport(BatchReport):
    """The report on a batch. Means are over the results with a defined value."""

    components: dict[str, Interval] = Field(description="means of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(
        description="mean share of random spans that the quotations beat; 0.5 is chance"
    )
    by_decision: dict[Decision, HatexscoreDecisionMeans] = Field(
        default_factory=dict,
        description="decision → means over its results; `unknown`: no decision was found",
    )
    model_agreement: HatexscoreModelAgreement | None = Field(
        default=None, description="null if no model was asked about a decision"
    )
    evidence: Interval | None = Field(
        default=None,
        description="share of hateful decisions whose quotes change P more than random spans do "
        "(p <= 0.05), among decisions where such a p-value is possible; 0.05 is chance",
    )
    labels: HatexscoreLabelConflicts
    quotes: HatexscoreQuoteCounts
    groups: dict[str, int] = Field(description="identified group → results")
    categories: dict[str, int] = Field(
        default_factory=dict,
        description="category of the policy → results with an identified group of this category, "
        "so that `women`, `girls` and `sex` have one name",
    )
    languages: dict[str, int] = Field(description="language of the text → results")


# What a report counts of results, as their table finds them: (name, SQL/JSON path of words).
_MISSING = "exists($.hallucinated_quotes[*])"
_ROUGH = (
    'exists($.evidence[*] ? (@.kind == "quote" && @.match != "exact")) || $.quotes_unsearched > 0'
)
_QUOTED = 'exists($.evidence[*] ? (@.kind == "quote"))'
FACETS = (
    ("class", "$.decision"),
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
