"""The page of a HateXScore job: the claims of the explanation, and the behaviour of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from services.hatexscore import verdict as sentences
from services.hatexscore.contract import HATEFUL, HatexscoreRequest
from services.hatexscore.report import (
    HatexscoreCategoryEvidence,
    HatexscoreComponents,
    HatexscoreGroupEvidence,
    HatexscoreQuoteEvidence,
    HatexscoreResult,
    Label,
    Part,
    QuotationReason,
    VocabularyName,
)
from services.hatexscore.vocabulary import (
    SIDES,
    built_in,
    fold,
    other_side,
    vocabulary_of_decision,
)
from shared.contracts.language_names import language_name
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import strip
from shared.reports.pages.page_text import (
    Mark,
    MarkedText,
    pieces,
    quote_links,
    quote_marks,
    significant,
)
from shared.reports.pages.report_design import (
    BAD,
    GOOD,
    NEUTRAL,
    NONE,
    Block,
    Record,
    count_bars,
    facet_filters,
    forest,
    integer,
    record,
    stacked_bar,
)

TEMPLATE = "hatexscore/page.html"
LENS_DRAWS = 19  # random phrases: enough for a look, and soon there
CHANCE = 0.1  # share of random phrases that may do as much as words that matter

MASK = re.compile(re.escape("[MASK]"))
QUOTATION_KINDS: dict[QuotationReason, str] = {
    "label": "the name of a label",
    "other_source": "another person's words, a paraphrase, or words that the text does not "
    "contain but could",
    "echo": "the whole text, quoted in addition to parts of it",
    "translation": "not in the text, and in a script or language that the text does not use",
    "unattributed": "not in the text, but the explanation does not claim to quote the text",
}


@dataclass(frozen=True, slots=True)
class ComponentRow:
    """A component, its weight in the score, and a reason if it is null or does not apply."""

    symbol: str
    value: float | None
    weight: float | None
    why: str


@dataclass(frozen=True, slots=True)
class HatexscoreView:
    """The data of the template. `text`, `explanation` and `masked` are None if the text was not
    stored. `own_labels` is True if the caller chose, or may have chosen, the labels."""

    text: list[MarkedText] | None
    explanation: list[MarkedText] | None
    masked: list[MarkedText] | None
    quotes: list[HatexscoreQuoteEvidence]
    mentions: list[HatexscoreGroupEvidence]
    categories: list[HatexscoreCategoryEvidence]
    parts: list[ComponentRow]
    moved: float | None
    strip: Chart | None
    policy: Any  # its name, or the caller's own groups by category
    own_labels: bool
    quotation_kinds: dict[QuotationReason, str]


def view(request: HatexscoreRequest | None, report: HatexscoreResult) -> HatexscoreView:
    """Return the data of the page for this result."""
    parameters = report.provenance.parameters
    masks = (
        Mark(*match.span(), "mask", "masked") for match in MASK.finditer(report.masked_text or "")
    )
    quotes = sentences.quotes(report)
    links = quote_links(quote.quoted_as for quote in quotes)
    quoted = (
        Mark(
            quote.start,
            quote.end,
            "quote",
            "quoted"
            if quote.match == "exact"
            else f"quoted, similar by {significant(quote.value)}",
            links.get(quote.quoted_as, ""),
        )
        for quote in quotes
        if quote.start is not None and quote.end is not None
    )
    return HatexscoreView(
        text=pieces(request.text, quoted) if request else None,
        explanation=pieces(
            request.explanation_text,
            [*_explanation_marks(report), *quote_marks(request.explanation_text, links, "quote")],
        )
        if request
        else None,
        masked=None if report.masked_text is None else pieces(report.masked_text, masks),
        quotes=quotes,
        mentions=sentences.mentions(report),
        categories=sentences.categories(report),
        parts=_parts(report),
        moved=None if report.signed_drop is None else abs(report.signed_drop),
        strip=_strip(report),
        policy=parameters.get("policy") or "",
        own_labels=not isinstance(parameters.get("labels", {}), str | None),
        quotation_kinds=QUOTATION_KINDS,
    )


def _explanation_marks(report: HatexscoreResult) -> Iterable[Mark]:
    if report.conclusion is not None:
        conclusion = f"conclusion: {report.stated_decision}"
        yield Mark(report.conclusion.start, report.conclusion.end, "conclusion", conclusion)
    for quote in report.hallucinated_quotes:
        yield Mark(quote.start, quote.end, "hallucinated", "a quotation that is not in the text")
    for mention in sentences.mentions(report):
        if mention.start is not None and mention.end is not None:
            kind, conclusion = ("group", "counts") if mention.counts else ("idle", "does not count")
            yield Mark(mention.start, mention.end, kind, f"group, {conclusion}: {mention.reason}")


def _parts(report: HatexscoreResult) -> list[ComponentRow]:
    weights = report.provenance.parameters.get("weights") or {}
    rows = []
    for part in HatexscoreComponents.model_fields:
        null = [reason.detail for reason in report.reasons if reason.component == part]
        why = report.not_applicable.get(cast(Part, part)) or "; ".join(null)
        value = getattr(report.components, part)
        rows.append(ComponentRow(part.upper(), value, weights.get(part), why))
    return rows


def _strip(report: HatexscoreResult) -> Chart | None:
    """Return a strip chart of the drops for random passages, or None without a control."""
    control = report.control
    if control is None or not control.drops:
        return None
    quoted, mean = significant(control.quoted_drop), significant(control.mean_drop)
    least, most = significant(min(control.drops)), significant(max(control.drops))
    caption = Caption(
        title="Change of P(hateful) when quotes or random spans are masked",
        summary=f"Masking the quotes changes P(hateful) by {quoted}. {control.draws} random draws "
        f"change it by {least} to {most}, on average by {mean}.",
        unit="change of P(hateful)",
    )
    return strip(control.drops, control.quoted_drop, caption, says="the quotes")


@dataclass(frozen=True, slots=True)
class Lens:
    """The probability of a label for a post with and without some of its words. `others` has the
    probabilities when random phrases of the same length are removed instead. `why` says what the
    numbers mean, or why `without` or `others` is missing."""

    words: str
    label: str
    model: str
    whole: float | None
    without: float | None
    others: list[float]
    why: str


def lens_request(
    request: HatexscoreRequest, report: HatexscoreResult, words: str
) -> dict[str, Any]:
    """Return a request with an explanation that quotes only `words`. Its decision is the decision
    of the model, because random phrases are compared only with that decision."""
    decision = report.decision or HATEFUL
    if report.model_agrees is False:
        decision = other_side(decision)
    kept = {"text", "model", "language", "accept_untrained_languages", "do_not_store_text"}
    options = request.options.model_dump(mode="json", include={"labels", "prompt"})
    body = request.model_dump(mode="json", include=kept) | {
        "decision": decision,
        "explanation": {"decision": decision, "quotes": [words]},
        "options": {**options, "control_draws": LENS_DRAWS},
    }
    return body if report.language == UNDECIDED else body | {"language": report.language}


def lens(request: HatexscoreRequest, report: HatexscoreResult) -> Lens:
    """Return what the page shows of a `lens_request`, a test of single words: the probability with
    and without these words."""
    fields, control, models = request.explanation_fields, report.control, report.provenance.models
    whole, without = report.probability_original, report.probability_masked
    drops = () if control is None else control.signed_drops
    why, words = "", " ".join(fields.quotes or ()) if fields else ""
    is_wordless = without is None and not re.search(r"\w", words)
    if report.hallucinated_quotes or is_wordless:
        why = "These words are not in the post."
    elif whole is None or without is None:
        why, without = report.reason, None
    elif not drops:
        why = "The post has no other phrases of that length to compare with."
    else:
        alike = sum(abs(drop) >= abs(whole - without) for drop in drops)
        ends = "matter to the model" if alike <= CHANCE * len(drops) else "do not clearly matter"
        why = f"{alike} of {len(drops)} random phrases change the probability at least as much, so "
        why += f"these words {ends}."
    return Lens(
        words=words,
        label=report.decision if report.decision and report.decision not in SIDES else HATEFUL,
        model=models[0].name if models else "",
        whole=whole,
        without=without,
        others=[(whole or 0.0) - drop for drop in drops],
        why=why,
    )


def third_classes(words: Sequence[str]) -> list[str]:
    """Return the labels for neither hateful nor non-hateful. Words for hate such as `toxic` are
    returned only if `words` also has a label for each of these two."""
    of_hate = {word: built_in("hate").label_of(word) for word in words}
    sides = {word: vocabulary_of_decision(word).label_of(word) for word in words}
    has_both = "hateful" in of_hate.values() and "non-hateful" in sides.values()
    own = ("non-hateful",) if has_both else (None, *SIDES)
    return [word for word in words if of_hate[word] is None and sides[word] not in own]


def labels_with(word: str, counts_as: str = "") -> VocabularyName | dict[Label, list[str]]:
    """Return labels with three classes: hateful, non-hateful, and a class for this word. If the
    word `counts_as` hateful or non-hateful, there are only these two classes. In the
    lists of hateful and non-hateful words, a Chinese or Korean word is left out if it contains a
    shorter listed word."""
    three_way = built_in("three-way")
    if counts_as in SIDES and built_in("default").label_of(word) == counts_as:
        return "default"
    if counts_as not in SIDES and three_way.label_of(word) not in (None, *SIDES):
        return "three-way"
    sides: dict[Label, list[str]] = {}
    for side in SIDES:
        texts = three_way.side(side)
        stems = [text for text in texts if not text.isascii()]
        sides[side] = [
            text for text in texts if not any(stem != text and stem in text for stem in stems)
        ]
    label = counts_as if counts_as in SIDES else fold(word)
    return {**sides, label: [*sides.get(label, ()), fold(word)]}


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    yield _conclusions(report)
    yield from _quotes(record(report, "quotes"))
    decisions = record(report, "by_decision")
    means = {name: record(means_of, "score") for name, means_of in decisions.items()}
    note = "Do not compare the rows, because each kind of decision is scored differently."
    yield forest("Mean score by decision", means, note=note)
    beaten = {name: record(means_of, "share_beaten") for name, means_of in decisions.items()}
    yield forest("Random spans beaten, by decision", beaten, level=0.5)
    agreement = record(report, "model_agreement")
    agreed = {"all": record(agreement, "agreement")}
    agreed |= {name: share for name, share in record(agreement, "by_decision").items()}
    note = (
        "Only results with a decision and a P(hateful) are counted. A model that disagrees with a "
        "decision cannot show whether its quotes matter."
    )
    yield forest("Does the model share the decisions?", agreed, note=note)
    categories = record(report, "categories")
    filters = facet_filters("category", {name: name for name in categories})
    note = "A ground is a category of the policy, for example religion or ethnicity."
    yield count_bars("Groups by ground", categories, note, filters)
    groups = record(report, "groups")
    filters = facet_filters("group", {group: group for group in groups})
    yield count_bars("Groups", groups, filters=filters)
    counted = record(report, "languages")
    count_by_name = {language_name(code): count for code, count in counted.items()}
    filters = {language_name(code): ("language", code) for code in counted if code != UNDECIDED}
    yield count_bars("Languages of the texts", count_by_name, filters=filters)


UNDECIDED = "und"
UNREAD = "4"  # a colour of its own, which no verdict has


def _conclusions(report: Record) -> Block:
    labels = record(report, "labels")
    compared, conflicting = integer(labels, "compared"), integer(labels, "conflicting")
    without = integer(labels, "no_conclusion")
    unread = min(without, integer(record(record(report, "parts"), "htc"), "undefined"))
    stated = {
        "state the decision that was sent": compared - conflicting,
        "state a different decision": conflicting,
        "state a decision, but none was sent": integer(report, "scored") - compared - without,
        "state no decision": without - unread,
        "could not be read": unread,
    }
    tones = dict(zip(stated, (GOOD, BAD, NEUTRAL, NONE, UNREAD), strict=True))
    words = dict(zip(stated, ("as sent", "another", "none sent", "none", "unread"), strict=True))
    filters = facet_filters("conclusion", words)
    return stacked_bar("Conclusions of the explanations", stated, filters=filters, tones=tones)


def _quotes(counted: Record) -> Iterator[Block]:
    """Yield two charts: how the quotations were found in the post, and how many explanations
    misquote the post."""
    roughly = ("inflected", "fuzzy", "unsearched")
    quotations = {
        "found exactly": integer(counted, "exact"),
        "found roughly": sum(integer(counted, kind) for kind in roughly),
        "not in the text": integer(counted, "missing"),
    }
    note = ""
    if quotations["found roughly"]:
        note = "“Roughly” allows a different word ending, or up to 15 % different characters."
    if (left := integer(counted, "unsearched")) > 0:
        note += f" For {left:,} long quotations, only exact matches were searched."
    tones = dict(zip(quotations, (GOOD, NEUTRAL, BAD), strict=True))
    yield stacked_bar("Quotations", quotations, note, tones=tones)
    results = {
        "all quotes found exactly": integer(counted, "results_exact"),
        "some quotes found only roughly": integer(counted, "results_rough"),
        "some quotes not in the text": integer(counted, "results_missing"),
        "no quotes": integer(counted, "results_without"),
    }
    words = ("all exact", "some roughly", "some missing", "none")
    filters = facet_filters("quotes", dict(zip(results, words, strict=True)))
    title = "How many explanations misquote the post"
    tones = dict(zip(results, (GOOD, NEUTRAL, BAD, NONE), strict=True))
    yield stacked_bar(title, results, filters=filters, tones=tones)
