"""The three variants of HateXScore: how each reads an explanation, and which rules it scores by.

`robust`, version 2.0, reads what the paper means, with the defects mended: it stands here; `paper`
and `reference` have files of their own.

Source: Hu & Lee, arXiv:2601.13547, sections 3.1 to 3.3; README.md lists the departures.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from services.hatexscore import variant_paper, variant_reference
from services.hatexscore.conclusion import ConclusionRead, ConclusionText, read_conclusions
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    BY_READER,
    DetectedLanguages,
    ParsedExplanation,
    QuotedSpans,
    detect_languages,
    lexicon_of,
    parsed_explanation,
    quote_evidence,
)
from services.hatexscore.group_terms import GroupMention
from services.hatexscore.groups import GroupText, groups_of_text, read_mentions
from services.hatexscore.lexicon import TextGroups, lexicon_names
from services.hatexscore.quote_kinds import attributed, kinds_of
from services.hatexscore.quote_search import (
    Haystack,
    Quote,
    QuoteSearch,
    check_parts,
    is_trivial,
    negated_before,
    word_spans,
)
from services.hatexscore.quotes import (
    Quotation,
    code_as_quotations,
    count_units,
    mask_spans,
    merge_spans,
    overlap_words,
    plain_format,
    quoted_parts,
    quoted_spans,
    scripts_of,
)
from services.hatexscore.report import ConsistencyRule, QuotationReason
from services.hatexscore.words import Language, Span
from shared.contracts.errors import BadInput
from shared.contracts.messages import Variant
from shared.queue.job_context import check_each
from shared.reports.metric import StatedDecision
from shared.text.language import UNDECIDED
from shared.text.normalized import NormalizedText, normalize

COVERAGE = 0.9  # of the text's words: who quotes more, quotes the text (Eq. 3, Q = {T})
FEWEST_NEGATED = 4  # words of a quotation that a warning calls negated
_OMITS = re.compile(r"(?:\.{3}|\u2026)\]?\s*$")  # an ellipsis before a quotation
MOST_POINTLESS = 5  # function words that a warning names
PART = 0.6  # of the text's words: who quotes at most so many, quotes a part of it


NO_GROUP = (
    "the decision is non-hateful, and neither the text nor the explanation names a group of the "
    "policy: there is none to identify"
)


def read_robust(requests: Sequence[HatexscoreRequest]) -> list[ParsedExplanation]:
    """Read a batch: the trained reader is asked for all verdicts, then for all mentions of groups.

    Raises Unavailable where it is away.
    """
    languages = list(map(detect_languages, requests))
    quoting = list(map(read_quotations, requests, languages))
    conclusions = list(map(_conclusion_text, requests, quoting, languages))
    asked = iter(read_conclusions([one for one in conclusions if one is not None]))
    read = [ConclusionRead(None) if one is None else next(asked) for one in conclusions]
    plains = [
        plain_format(request.explanation, normalize(request.text).text) for request in requests
    ]
    texts = list(map(_group_text, requests, languages, plains))
    hateful = [
        (request.decision or (one.statement and one.statement.label)) != "non-hateful"
        for request, one in zip(requests, read, strict=True)
    ]
    mentions = read_mentions(texts, hateful)
    return list(map(_parsed, requests, languages, read, quoting, mentions, texts, plains))


def _conclusion_text(
    request: HatexscoreRequest, quoting: QuotedSpans, languages: DetectedLanguages
) -> ConclusionText | None:
    """None where the language is not read."""
    if languages.no_rules is not None:
        return None
    explanation = normalize(request.explanation)
    quoted = [
        (bisect_left(explanation.starts, start), bisect_right(explanation.starts, end - 1))
        for start, end in quoting.located
    ]
    return ConclusionText(explanation, request.vocabulary, merge_spans(quoted))


def _group_text(
    request: HatexscoreRequest, languages: DetectedLanguages, plain: NormalizedText
) -> GroupText:
    """Without a word where the language is not read."""
    lexicon = lexicon_of(request, languages.explanation_names)
    text = plain.text if languages.no_rules is None else ""
    moderated = read_text_groups(request, languages)
    return GroupText(text, languages.explanation_names, lexicon, quoted_spans(text), moderated)


def _parsed(
    request: HatexscoreRequest,
    languages: DetectedLanguages,
    read: ConclusionRead,
    quoting: QuotedSpans,
    mentions: Sequence[GroupMention],
    text: GroupText,
    plain: NormalizedText,
) -> ParsedExplanation:
    count = len(quoting.hallucinated)
    said = "1 quotation is" if count == 1 else f"{count} quotations are"
    parsed = parsed_explanation(request, languages, read, quoting, mentions, plain)
    if parsed.languages.no_rules is None:
        attacked = any(mention.attacked for mention in mentions)
        parsed = replace(parsed, attacked=attacked, reader=BY_READER)
    parsed = replace(
        parsed,
        warnings=(
            *parsed.warnings,
            *_vocabulary_warnings(request),
            *((f"{said} said to be of the text and not in it",) if count else ()),
            *_negated_warnings(parsed),
            *_pointless_warnings(parsed),
            *_search_warnings(parsed),
        ),
    )
    if text.moderated is not None:
        parsed = replace(parsed, text_groups=tuple(sorted(text.moderated.groups)))
    if parsed.label != "non-hateful" or parsed.tgi != 0 or parsed.text_groups:
        return parsed
    return replace(parsed, tgi=None, tgi_not_applicable=NO_GROUP)


def read_stated(request: HatexscoreRequest, answer: str) -> StatedDecision | None:
    """The conclusion of an answer alone, in any language; None where there is none."""
    [read] = read_conclusions([ConclusionText(normalize(answer), request.vocabulary)])
    stated = read.statement
    if stated is None:
        return None
    span = stated.start, stated.end
    by: Literal["rules", "reader"] = "reader" if stated.by == "reader" else "rules"
    return StatedDecision(label=stated.label, start=span[0], end=span[1], words=span, by=by)


def _vocabulary_warnings(request: HatexscoreRequest) -> tuple[str, ...]:
    """One that nobody named is told of: other words for the same decision may have another."""
    if not request.vocabulary.of_decision:
        return ()
    return (
        f"`predicted_label` chose the vocabulary {request.vocabulary.name}; the explanation is "
        "read in its words and in the words of hate; set `labels` for another vocabulary",
    )


def _pointless_warnings(parsed: ParsedExplanation) -> tuple[str, ...]:
    """A quotation that vanishes is told of."""
    named = parsed.quoting.pointless
    if not named:
        return ()
    listed = ", ".join(f'"{one}"' for one in named[:MOST_POINTLESS])
    return (f"a function word quoted alone points at nothing, and is no evidence: {listed}",)


def _negated_warnings(parsed: ParsedExplanation) -> tuple[str, ...]:
    listed = ", ".join(f'"{one}"' for one in parsed.quoting.negated[:MOST_POINTLESS])
    return (f"the text has a negation before what is quoted of it: {listed}",) if listed else ()


def _search_warnings(parsed: ParsedExplanation) -> tuple[str, ...]:
    count = parsed.quoting.unsearched
    said = f"{count} quotations were looked for word for word only: the search for near passages "
    return (f"{said}had spent its budget",) if count else ()


def read_text_groups(request: HatexscoreRequest, languages: DetectedLanguages) -> TextGroups:
    """By the policy's list in the text's language; by none where there is no such list."""
    try:
        lexicon = lexicon_of(request, languages.text_names)
    except BadInput:
        return TextGroups(frozenset(), same_language=False)
    return groups_of_text(request.text, languages.text_names, lexicon, languages.explanation_names)


@dataclass(frozen=True, slots=True)
class SortedQuotations:
    """The quotations of an explanation: where each occurs in the text, or what else it is.

    Their offsets are into the explanation as sent.

    hallucinated: attributed to the text, searched for, and not in it; with the passage of the text
                  that a misquotation changes, or None.
    pointless:    function words of the text, alone.
    """

    found: dict[Quotation, tuple[Quote, ...]]
    other: dict[Quotation, QuotationReason]
    hallucinated: dict[Quotation, str | None]
    unsearched: tuple[Quotation, ...]
    pointless: tuple[Quotation, ...]


def read_quotations(request: HatexscoreRequest, languages: DetectedLanguages) -> QuotedSpans:
    """Quotations in quotation marks that occur in the text; function words alone point nowhere."""
    sorted_ = sort_quotations(request, languages)
    echoes = _full_text_quotations(request.text, languages.text, sorted_.found)
    kept = _ordered(quotes for q, quotes in sorted_.found.items() if q not in echoes)
    spans = _merge_neighbors(request.text, merge_spans((quote.start, quote.end) for quote in kept))
    other: dict[Quotation, QuotationReason] = {**sorted_.other}
    other.update(dict.fromkeys(echoes, "echo"))
    return QuotedSpans(
        evidence=quote_evidence(kept),
        hallucinated=tuple(sorted_.hallucinated.items()),
        masked=mask_spans(request.text, spans) if spans else None,
        trivial=_quotes_everything(request, languages.text, spans),
        spans=tuple(spans),
        other=tuple(sorted(other.items(), key=lambda item: item[0].start)),
        unsearched=len(sorted_.unsearched),
        echo=bool(echoes),
        located=tuple((one.start, one.end) for one in sorted_.found),
        pointless=tuple(dict.fromkeys(one.text for one in sorted_.pointless)),
        negated=tuple(
            dict.fromkeys(
                quote.text
                for quote in kept
                if len(count_units(quote.text)) >= FEWEST_NEGATED
                and negated_before(request.text, quote.start)
            )
        ),
    )


def _merge_neighbors(text: str, spans: Sequence[Span]) -> list[Span]:
    """Neighbours without a word between them as one span: one passage, masked as random ones are.

    spans: merged, in order.
    """
    starts = [start for start, _ in count_units(text)]
    joined: list[Span] = []
    for start, end in spans:
        if joined and bisect_left(starts, joined[-1][1]) == bisect_left(starts, start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def sort_quotations(request: HatexscoreRequest, languages: DetectedLanguages) -> SortedQuotations:
    """Exactly, then inflected, then among near passages; what is no quotation of the text is not
    looked for among those."""
    language = languages.explanation
    lexicon = lexicon_names(request.policy, language)
    search = QuoteSearch(Haystack.normalized(request.text), lexicon)
    marked = code_as_quotations(request.explanation)
    plain = plain_format(marked, normalize(request.text).text)
    quoted, exact = _resolve_quotations(search, plain.text)
    misquoted = _misquoted_parts(request.text, plain.text, quoted, exact)
    parts = [q for group in quoted if group[0] not in misquoted for q in group]
    other = kinds_of(plain.text, language, parts, {q for q in parts if exact[q]})
    own = [q for q in parts if q not in other]
    rest = [q for q in own if not is_trivial(q, languages.text)]
    near = {q: search.nearest(q) for q in check_each([q for q in rest if not exact[q]])}
    missing = [q for q, quotes in near.items() if quotes is not None and not quotes]
    there = scripts_of(request.text)
    changed = {q for q in missing if q in search.misquoted}
    translated = {
        q for q in missing if q not in changed and _may_be_translated(there, q, languages)
    }
    accused = (attributed(plain.text, missing) | changed) - translated
    unattributed = {one for one in missing if one not in accused and one not in translated}
    passages = {
        **{q: search.changed_passage(q) for q in missing if q in accused},
        **{
            _whole(plain.text, group): passage
            for group in quoted
            if (passage := misquoted.get(group[0]))
        },
    }

    def sent(quotation: Quotation) -> Quotation:
        start, end = plain.original(quotation.start, quotation.end)
        return Quotation(start, end, quotation.text)

    return SortedQuotations(
        found={sent(q): quotes for q in rest if (quotes := exact[q] or near[q])},
        other={
            **{sent(q): kind for q, kind in other.items()},
            **dict.fromkeys(map(sent, unattributed), "unattributed"),
            **dict.fromkeys(map(sent, translated), "translation"),
        },
        hallucinated={sent(q): passages[q] for q in sorted(passages, key=lambda one: one.start)},
        unsearched=tuple(q for q, quotes in near.items() if quotes is None),
        pointless=tuple(q for q in own if exact[q] and is_trivial(q, languages.text)),
    )


def _may_be_translated(
    there: frozenset[str], quotation: Quotation, languages: DetectedLanguages
) -> bool:
    """Is it in letters that the text has none of, or is the text in another language than what
    explains it? there: the alphabets of the text."""
    own = scripts_of(quotation.text)
    if own and there and own.isdisjoint(there):
        return True
    codes = {
        found.code.partition("-")[0]
        for found in (languages.found_text, languages.found_explanation)
    }
    return len(codes - {UNDECIDED}) > 1


def _resolve_quotations(
    search: QuoteSearch, explanation: str
) -> tuple[list[list[Quotation]], dict[Quotation, tuple[Quote, ...]]]:
    """What is quoted, by its quotation marks, and where the text has it word for word.

    Where the text does not have it but has quotations within it, or parts around a dash, those.
    """
    groups: list[list[Quotation]] = []
    exact: dict[Quotation, tuple[Quote, ...]] = {}
    for parts in quoted_parts(explanation):
        group: list[Quotation] = []
        for part in check_each(parts):
            quotation = _with_censors(explanation, part)
            quotes = search.exact(quotation) or search.inflected(quotation)
            if quotes or (quotes := search.respelled(quotation)):
                exact[quotation] = quotes
                group.append(quotation)
                continue
            cut = explanation[quotation.end :].startswith("...")
            begun = not explanation[: quotation.start].endswith("...")
            if begun == cut and (quotes := search.fragment(quotation, begins=begun, ends=not cut)):
                exact[quotation] = quotes
                group.append(quotation)
                continue
            inner = _nested_quotations(search, explanation, quotation) or _around_dashes(
                search, quotation
            )
            exact.update((one, search.exact(one)) for one in inner or [quotation])
            group += inner or [quotation]
        groups.append(group)
    return groups, exact


def _around_dashes(search: QuoteSearch, quotation: Quotation) -> list[Quotation]:
    """The parts of a quotation that a dash shortens: all of them stand in the text, or none."""
    parts = []
    start = quotation.start
    for text in re.split(r"(\s(?:--+|\u2013|\u2014)\s)", quotation.text):
        if text.strip(" -\u2013\u2014"):
            parts.append(Quotation(start, start + len(text), text))
        start += len(text)
    return parts if len(parts) > 1 and all(map(search.exact, parts)) else []


def _misquoted_parts(
    text: str,
    explanation: str,
    quoted: Sequence[Sequence[Quotation]],
    exact: dict[Quotation, tuple[Quote, ...]],
) -> dict[Quotation, str]:
    """Return the first part of each quotation whose ellipses change the text, and the passage."""
    found: dict[Quotation, str] = {}
    for group in quoted:
        omits = _OMITS.search(explanation, max(0, group[0].start - 8), group[0].start) is not None
        parts = [exact[part] for part in group]
        if (omits or len(parts) > 1) and all(parts):
            keeps, (start, end) = check_parts(text, parts, omits_beginning=omits)
            if not keeps:
                found[group[0]] = text[start:end]
    return found


def _whole(explanation: str, group: Sequence[Quotation]) -> Quotation:
    start, end = group[0].start, group[-1].end
    return Quotation(start, end, explanation[start:end])


def _with_censors(explanation: str, quotation: Quotation) -> Quotation:
    """ "b***": marks at the end that stand for letters, and are no emphasis, belong to it."""
    start, end = quotation.start, quotation.end
    marks = len(explanation) - end - len(explanation[end:].lstrip("*"))
    if not marks or not quotation.text[-1].isalpha() or explanation[start - 1 : start] == "*":
        return quotation
    return Quotation(start, end + marks, explanation[start : end + marks])


def _nested_quotations(
    search: QuoteSearch, explanation: str, quotation: Quotation
) -> list[Quotation]:
    within = quoted_spans(f" {quotation.text} ")
    if not within or search.exact(quotation):
        return []
    offset = quotation.start - 1
    inner = [
        Quotation(offset + start + 1, offset + end - 1, quotation.text[start : end - 2])
        for start, end in within
    ]
    return [one for one in inner if one.text and search.exact(one)]


def _ordered(quotes: Iterable[Sequence[Quote]]) -> list[Quote]:
    """Each span once, as it was quoted first. The same words have the same quotes: read once."""
    found: dict[Span, Quote] = {}
    different = {id(several): several for several in quotes}.values()
    for quote in (one for several in different for one in several):
        found.setdefault((quote.start, quote.end), quote)
    return [found[span] for span in sorted(found)]


def _full_text_quotations(
    text: str, language: Language, found: dict[Quotation, tuple[Quote, ...]]
) -> list[Quotation]:
    """Quotations of the whole text, where another quotes a part of it."""
    counted = word_spans(text, language)
    if not counted:
        return []
    different = {id(quotes): quotes for quotes in found.values()}
    shares = {
        name: _share(counted, [(quote.start, quote.end) for quote in quotes])
        for name, quotes in different.items()
    }
    if not any(share <= PART for share in shares.values()):
        return []
    return [quotation for quotation, f in found.items() if shares[id(f)] >= COVERAGE]


def _share(counted: Sequence[Span], spans: Sequence[Span]) -> float:
    """Of the text's words, those that the spans touch."""
    return sum(last - first for first, last in overlap_words(counted, spans)) / len(counted)


def _quotes_everything(
    request: HatexscoreRequest, language: Language, spans: Sequence[Span]
) -> bool:
    """Do the quotes cover the text? A short text may be quoted whole: what else is there?

    Deviates: the paper's Table 3 scores a whole quotation 1 where Eq. 3 says 0.
    """
    counted = word_spans(request.text, language)
    if len(counted) <= request.short_text_max_words:
        return False
    return _share(counted, spans) >= COVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreVariant:
    read: Callable[[Sequence[HatexscoreRequest]], list[ParsedExplanation]]
    consistency_rule: ConsistencyRule  # where the request names none
    reads_quotation_marks: bool = True
    tau: float | None = None  # None: the request's
    # Whether it matters which way masking moves P, whether the asked model makes the decision, and
    # whether the explanation concludes its opposite.
    decision_aware: bool = False
    why_no_control: str | None = None  # None: there is one
    first: int | None = None  # draws that settle p where enough reach it; None: all are made


def _each(
    read: Callable[[HatexscoreRequest], ParsedExplanation],
) -> Callable[[Sequence[HatexscoreRequest]], list[ParsedExplanation]]:
    return lambda requests: list(map(read, requests))


VARIANTS: dict[Variant, HatexscoreVariant] = {
    "robust": HatexscoreVariant(
        read=read_robust,
        consistency_rule="causal",
        decision_aware=True,
        first=39,
    ),
    "paper": HatexscoreVariant(read=_each(variant_paper.read_as_printed), consistency_rule="eq5"),
    "reference": HatexscoreVariant(
        read=_each(variant_reference.read_as_released),
        consistency_rule="reference",
        reads_quotation_marks=False,
        tau=variant_reference.TAU,
        why_no_control="variant reference masks letters inside words, which has no random "
        "counterpart",
    ),
}
