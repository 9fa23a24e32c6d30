"""Classifies the quotations of an explanation: from the text, invented, or of another kind.

A quotation that is not in the text counts as hallucinated only in two cases. Its clause attributes
it to the text ("the word ...", "it says ..."), or it alters a passage. Source: Hu & Lee,
arXiv:2601.13547, section 3.2 and Eq. 3.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from services.hatexscore.conclusion import label_of
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import DetectedLanguages, QuotedSpans, quote_evidence
from services.hatexscore.lexicon import lexicon_names
from services.hatexscore.quote_search import (
    SENTENCE_END,
    Haystack,
    Quote,
    QuoteSearch,
    is_trivial,
    searchable,
    word_spans,
)
from services.hatexscore.quotes import (
    Quotation,
    code_as_quotations,
    count_units,
    mask_spans,
    merge_spans,
    overlap_words,
    quotations,
    quoted_parts,
    quoted_spans,
    scripts_of,
)
from services.hatexscore.report import (
    HatexscoreHallucinatedQuote,
    HatexscoreOtherQuotation,
    QuotationReason,
)
from services.hatexscore.structured import given_spans, plain_explanation
from services.hatexscore.vocabulary import Vocabulary
from services.hatexscore.words import Span
from shared.queue.job_context import check_each
from shared.text.changed_meaning import negates
from shared.text.language import UNDECIDED

COVERAGE = 0.9  # of the text's words: who quotes more, quotes the text (Eq. 3, Q = {T})
PART = 0.6  # of the text's words: who quotes at most so many, quotes a part of it
FEWEST_NEGATED = 4  # words of a quotation that a warning calls negated
REACH = 160  # characters of the clause on either side of a quotation
BLANK = "\u25a1"  # stands for a quotation
LONGEST_NAME = 60  # characters of a label
_OMITS = re.compile(r"(?:\.{3}|\u2026)\]?\s*$")  # an ellipsis before a quotation
_WITH_NOTHING = re.compile(r"\b(?:with|for|from) (?:no|nothing)\b", re.IGNORECASE)  # denies no verb


def read_quotations(request: HatexscoreRequest, languages: DetectedLanguages) -> QuotedSpans:
    """Find the quotations of an explanation in the text. A quotation of a single function word does
    not count."""
    search = QuoteSearch(
        Haystack(request.text, searchable(request.text)),
        lexicon_names(request.options.policy, languages.explanation),
    )
    plain = plain_explanation(request, code_as_quotations(request.explanation_text, request.text))
    given_parts = given_spans(request, plain, "quotes")
    groups = quoted_parts(plain.text, given_parts)
    exact = {
        part: _word_for_word(search, plain.text, part)
        for part in check_each([part for group in groups for part in group])
    }
    passages: dict[Quotation, str | None] = {}
    parts: list[Quotation] = []
    for group in groups:
        changed = _changed_by_ellipses(request.text, plain.text, group, exact)
        if changed is None:
            parts += group
        else:
            start, end = group[0].start, group[-1].end
            passages[Quotation(start, end, plain.text[start:end])] = request.text[slice(*changed)]
    clauses = clauses_of(plain.text, parts) if given_parts is None else {}
    other = {
        part: kind
        for part, clause in clauses.items()
        if (kind := _kind(request.vocabulary, part, clause, occurs=bool(exact[part])))
    }
    attributed = [part for part in parts if part not in other]
    trivial = [part for part in attributed if is_trivial(part, languages.text)]
    quotes_by_part: dict[Quotation, tuple[Quote, ...]] = {}
    unsearched = 0
    for part in check_each([part for part in attributed if part not in trivial]):
        quotes = exact[part] or search.nearest(part)
        if quotes:
            quotes_by_part[part] = quotes
        elif quotes is None:
            unsearched += 1
        elif part not in search.misquoted and _may_be_translated(request.text, part, languages):
            other[part] = "translation"
        elif part in search.misquoted or given_parts is not None or is_attributed(clauses[part]):
            passages[part] = search.changed_passage(part)
        else:
            other[part] = "unattributed"
    counted = word_spans(request.text, languages.text)
    echoes = _full_text_quotations(counted, quotes_by_part)
    other.update(dict.fromkeys(echoes, "echo"))
    quotes_in_order = _ordered(
        quotes for part, quotes in quotes_by_part.items() if part not in echoes
    )
    spans = _merge_neighbors(
        request.text, merge_spans((quote.start, quote.end) for quote in quotes_in_order)
    )

    def sent(quotation: Quotation) -> dict[str, Any]:
        start, end = plain.original(quotation.start, quotation.end)
        return {"start": start, "end": end, "text": request.explanation_text[start:end]}

    return QuotedSpans(
        evidence=quote_evidence(quotes_in_order),
        hallucinated=tuple(
            HatexscoreHallucinatedQuote(**sent(passage), misquotes=passages[passage])
            for passage in sorted(passages, key=lambda one: one.start)
        ),
        masked=mask_spans(request.text, spans) if spans else None,
        # A short text may be quoted whole: what else is there? Deviates: the paper's Table 3
        # scores a whole quotation 1 where Eq. 3 says 0.
        trivial=len(counted) > request.options.short_text_max_words
        and _share(counted, spans) >= COVERAGE,
        spans=tuple(spans),
        other=tuple(
            HatexscoreOtherQuotation(**sent(quotation), reason=other[quotation])
            for quotation in sorted(other, key=lambda one: one.start)
        ),
        unsearched=unsearched,
        located=tuple(plain.original(quote.start, quote.end) for quote in quotes_by_part),
        negated=tuple(
            dict.fromkeys(
                quote.text
                for quote in quotes_in_order
                if len(count_units(quote.text)) >= FEWEST_NEGATED
                and _is_negated_before(request.text, quote.start)
            )
        ),
    )


def _word_for_word(
    search: QuoteSearch, explanation: str, quotation: Quotation
) -> tuple[Quote, ...]:
    """Find a quotation, or its parts, in the text exactly or in another spelling."""
    if quotes := search.exact(quotation) or search.respelled(quotation):
        return quotes
    is_cut = explanation[quotation.end :].startswith("...")
    begins = not explanation[: quotation.start].endswith("...")
    if begins == is_cut:
        quotes = search.fragment(quotation, begins=begins, ends=not is_cut)
        if quotes:
            return quotes
    inner = quotations(f" {quotation.text} ")
    return tuple(quote for quotation in inner for quote in search.exact(quotation))


def _changed_by_ellipses(
    text: str,
    explanation: str,
    group: Sequence[Quotation],
    exact: dict[Quotation, tuple[Quote, ...]],
) -> Span | None:
    """Return the passage whose meaning a quotation changes by its ellipses, or None. The quoted
    parts must be in the order of the text. An ellipsis must not omit a negation, nor the beginning
    of the sentence in which the next part stands."""
    start = group[0].start
    omits = _OMITS.search(explanation, max(0, start - 8), start) is not None
    if not (omits or len(group) > 1) or not all(exact[part] for part in group):
        return None
    chain = [exact[group[0]][0]]
    for part in group[1:]:
        later = [quote for quote in exact[part] if quote.start >= chain[-1].end]
        if not later:
            first = [exact[part][0] for part in group]
            return min(quote.start for quote in first), max(quote.end for quote in first)
        chain.append(later[0])
    span = chain[0].start, chain[-1].end
    for before, after in pairwise(chain):
        gap = _WITH_NOTHING.sub("", text[before.end : after.start])
        *ended, last = SENTENCE_END.split(gap)
        if negates(gap) or (ended and any(map(str.isalnum, last))):
            return span
    if omits and _is_negated_before(text, span[0]):
        sentence = SENTENCE_END.split(text[max(0, span[0] - 240) : span[0]])[-1].lstrip()
        return span[0] - len(sentence), span[1]
    return None


def _is_negated_before(text: str, start: int) -> bool:
    return negates(SENTENCE_END.split(text[max(0, start - 240) : start])[-1])


def _may_be_translated(text: str, quotation: Quotation, languages: DetectedLanguages) -> bool:
    """Return True if the quotation may be a translation. This is so if it has another script than
    the text, or if the explanation has another language than the text."""
    quoted_scripts, there = scripts_of(quotation.text), scripts_of(text)
    if quoted_scripts and there and quoted_scripts.isdisjoint(there):
        return True
    codes = {
        language.code.partition("-")[0]
        for language in (languages.found_text, languages.found_explanation)
    }
    return len(codes - {UNDECIDED}) > 1


def _merge_neighbors(text: str, spans: Sequence[Span]) -> list[Span]:
    """Merge neighbouring spans without a word between them, so that they are masked like random
    passages, which are runs of words. `spans` must be merged and in order."""
    starts = [start for start, _ in count_units(text)]
    joined: list[Span] = []
    for start, end in spans:
        if joined and bisect_left(starts, joined[-1][1]) == bisect_left(starts, start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _ordered(quotes: Iterable[Sequence[Quote]]) -> list[Quote]:
    """Return the quotes in order without duplicate spans. The first quotation of a span is kept."""
    by_span: dict[Span, Quote] = {}
    different = {id(several): several for several in quotes}.values()
    for quote in (quote for several in different for quote in several):
        by_span.setdefault((quote.start, quote.end), quote)
    return [by_span[span] for span in sorted(by_span)]


def _full_text_quotations(
    counted: Sequence[Span], found: dict[Quotation, tuple[Quote, ...]]
) -> list[Quotation]:
    """Return the quotations that cover nearly the whole text. The list is empty unless another
    quotation covers only a part of the text."""
    different = {id(quotes): quotes for quotes in found.values()}
    shares = {
        name: _share(counted, [(quote.start, quote.end) for quote in quotes])
        for name, quotes in different.items()
    }
    if not any(share <= PART for share in shares.values()):
        return []
    return [quotation for quotation, quotes in found.items() if shares[id(quotes)] >= COVERAGE]


def _share(counted: Sequence[Span], spans: Sequence[Span]) -> float:
    """Return the share of the text's words that overlap with the spans."""
    touched = sum(last - first for first, last in overlap_words(counted, spans))
    return touched / max(1, len(counted))


_BORDER = re.compile(
    r"[.!?;\n\u3002\uff01\uff1f\uff1b](?=\s|$)|[\u3002\uff1b\n]|,\s(?=(?:but|while|whereas|which"
    r"|although"
    r"|though|because|so|where|not|unlike|instead)\b)|\b(?:but|whereas|while|although)\b|지만|는데|但",
    re.IGNORECASE,
)
_LABELS = re.compile(
    r"(?:labels?|verdict|conclusion|decision|answer|class(?:ified)?|categor\w+|rat(?:ed|ing)|as"
    r"|is|are|be"
    r"|not|called|considered|severity|side|policy|为|是|作|标签|结论|判断|类别|属于|라벨|결론|분류|판정)\W{0,4}$",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(
    r"\b(?:words?|phrases?|terms?|expressions?|slogans?|sentences?|hashtags?|verbs?|nouns?"
    r"|adjectives?"
    r"|epithets?|slurs?|nicknames?|insults?|commands?|statements?|openings?|lines?|claims?"
    r"|wording"
    r"|quot\w+|emojis?|metaphors?|remarks?|questions?|threats?)\W{0,3}(?:such as |of |is |are )?"
    r"(?:□\W{0,3}(?:and |or |, )?){0,5}□"
    r"|\b(?:says?|said|saying|writes?|wrote|written|writing|us(?:es?|ed|ing)|calls?|called"
    r"|calling|states?|stated"
    r"|reads?|tells?|claims?|asks?|shouts?|declares?|adds?|mentions?|contains?|includ\w+"
    r"|describ\w+"
    r"|accus\w+|compar\w+|refer\w*|employs?|ends?|begins?|opens?|urges?|labels|brands|likens?"
    r"|demands?"
    r"|insults)\b[^□]{0,50}□(?:[^□]{0,20}□){0,4}"
    r"|□(?:[^□]{0,12}□){0,4}\W{0,3}(?:is|are|was|were) (?:a|an|the)? ?(?:\w+ )?(?:phrase|word"
    r"|slur|insult|threat|term|command|claim)"
    r"|(?:写|说|称|骂|用|提到|使用|一词|词语|叫|喊|词|句|表示|声称|形容|比作)[^□。]{0,8}□"
    r"|□[^□。]{0,4}(?:这样的字眼|一词|这个词|这句|等词|的说法|等字眼|一语|一句)"
    r"|□\W{0,2}(?:이?라는|이?라고|라며|등의|같은)\s?(?:말|표현|단어|문구|구절|부르|부른|쓰|쓴"
    r"|적|말한|말하|비|지칭|주장|하|한|그|쫓)|□는\s?표현"
    r"|(?:표현|단어|말|문구|욕설)\s?(?:인\s)?□",
    re.IGNORECASE,
)
_POST_SAYS = re.compile(  # at the end of what stands before a quotation
    r"(?<!\bif )(?<!\bhad )(?<!\bunless )(?<!\bwhen )(?<!\bwhere )\b(?:it|(?:the|this) (?:\w+'s )?"
    r"(?:post|text|comment|tweet|message|content|author|poster|writer))"
    r" (?:\w+ly )?(?:says|said|states|stated|reads|writes|wrote|claims|claimed|puts it"
    r"|call(?:s|ed)(?: \w+){1,4})(?: that)?[\s,:]*$",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:polic(?:y|ies)|guidelines?|rules?|standards?|terms of service|definitions?"
    r"|dictionar\w+|section|tier"
    r"|law|criteri\w+|means?|meaning|i\.e|impl(?:y|ies|ied|ying)|suggest\w*|stands? for"
    r"|equivalent|translat\w+"
    r"|amounts?|if|had the|would|could|might|may|readers?|instead of|unlike|rather than|no"
    r"|nobody|nowhere|nothing|neither|never|nor|refrains?|stops? short"
    r"|(?:\w+n't|not)(?! (?:only|just|hesitate|stop|leave|kind))|in effect|in other words|like|i"
    r"|we|my|our|above|earlier|previous\w*|so[- ]called|another|other users?"
    r"|repl(?:y|ies|ied)|commenters?|report\w*|complain\w*|appeal|appellant|objection"
    r"|moderators?|headline|song|proverb|saying|supposed"
    r"|contrast|(?:sort|kind) of|tone|severity)\b"
    r"|规定|政策|准则|定义|意思|意味|所谓|如果|没有|并未|而不是|我|投诉|上文|前述|定为|暗示|即"
    r"|정책|규정|지침|기준|뜻|의미|이른바|만약|없|아니|않|검토자|신고|위에서|앞에서|저는|내가|대신",
    re.IGNORECASE,
)


def _kind(
    vocabulary: Vocabulary, quotation: Quotation, clause: tuple[str, str], *, occurs: bool
) -> QuotationReason | None:
    """Return the reason why quoted words are not a quotation of the text, or None if they are. The
    name of a label that occurs in the text is a quotation, unless it is assigned as a label."""
    before, after = clause
    name = quotation.text
    if len(name) <= LONGEST_NAME and label_of(vocabulary, name) is not None:
        alone = not any(map(str.isalnum, before + after))
        return "label" if not occurs or alone or _LABELS.search(before) else None
    return "other_source" if not occurs and _is_of_another(before, after) else None


def is_attributed(clause: tuple[str, str]) -> bool:
    """Return True if the explanation attributes the quotation to the text."""
    before, after = clause
    if _POST_SAYS.search(before):
        return True
    phrases = _ATTRIBUTES.finditer(before + BLANK + after)
    return any(
        phrase.start() <= len(before) < phrase.end() for phrase in phrases
    ) and not _is_of_another(before, after)


def _is_of_another(before: str, after: str) -> bool:
    if _POST_SAYS.search(before):
        return False
    return bool(_ELSEWHERE.search(before) or _ELSEWHERE.search(after))


def clauses_of(explanation: str, quoted: Sequence[Quotation]) -> dict[Quotation, tuple[str, str]]:
    """Return the clause before and after each quotation. Other quotations in these clauses are
    replaced with a box character."""
    spans = quoted_spans(explanation)
    pieces, gaps, position, length = [], [], 0, 0
    for start, end in spans:
        pieces += [explanation[position:start], BLANK]
        gaps.append(length + start - position)
        length = gaps[-1] + 1
        position = end
    masked = "".join([*pieces, explanation[position:]]).replace("\u2019", "'")
    clauses = {}
    number = 0
    for quotation in sorted(quoted, key=lambda one: one.start):
        while number + 1 < len(spans) and spans[number][1] <= quotation.start:
            number += 1
        box = gaps[number] if spans else 0
        before, after = masked[max(0, box - REACH) : box], masked[box + 1 : box + 1 + REACH]
        borders = [match.end() for match in _BORDER.finditer(before)]
        border = _BORDER.search(after)
        clauses[quotation] = (
            before[borders[-1] :] if borders else before,
            after[: border.start()] if border else after,
        )
    return clauses
