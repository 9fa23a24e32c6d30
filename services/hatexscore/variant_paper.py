"""Variant `paper`: the equations as printed, with shared token runs and lemma n-grams.

The quotes Q are the texts in quotation marks and the longest shared runs of at least two tokens.
Runs of function words are left out. Runs of one token would include "the" and contradict Table 4,
perturbed 1. The group score TGI matches up to three lemmas with the printed terms, including slurs.
Terms in quotations count too, so the printed 0 of Table 4, perturbed 2, is not reproduced. The
paper does not define when a mention of a group is in a hateful context. Here a quotation in the
same sentence suffices, or an attack found by the trained reader (a text classifier). Source: Hu &
Lee, arXiv:2601.13547, Eqs. 2 to 5 and section 3.3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import pairwise

from services.hatexscore.conclusion import ConclusionRead, ConclusionText, read_conclusions
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    BY_READER,
    PRINTED,
    DetectedLanguages,
    ParsedExplanation,
    QuotedSpans,
    detect_languages,
    lexicon_of,
    parsed_explanation,
    quote_evidence,
)
from services.hatexscore.group_terms import FoundAs, TermMatch, TermTable
from services.hatexscore.groups import ATTACKED, EQUATION_4, GROUP, MOST_ASKED, READ, ask_mention
from services.hatexscore.lexicon import Lexicon
from services.hatexscore.quote_search import Quote, fold, locate, word_spans
from services.hatexscore.quotes import mask_spans, merge_spans, quotations, quoted_spans
from services.hatexscore.report import HatexscoreGroupEvidence, HatexscoreHallucinatedQuote
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language, Span, TextWord, words
from shared.process.cached import cache_results
from shared.readers.model import ask
from shared.text.normalized import as_sent, normalize
from shared.text.sentences import sentences

SHORTEST_RUN = 2  # tokens
KEPT_BYTES, LISTED_BYTES = 2**23, 100  # of lists that are kept; a character of their terms
LONGEST_TERM = 3  # words: "up to trigrams"
WITH_QUOTE = "the group is in the same sentence as a quote"
NO_LINK = "the group is not linked to the hateful content"

Range = tuple[int, int]  # first, last + 1


def read_as_printed(requests: Sequence[HatexscoreRequest]) -> list[ParsedExplanation]:
    """Parse a batch of explanations by the rules of `paper`. Raises Unavailable if the trained text
    classifier is unavailable."""
    vocabulary = built_in("default")
    texts = [
        ConclusionText(normalize(request.explanation_text), vocabulary) for request in requests
    ]
    return list(map(_read, requests, read_conclusions(texts)))


def _read(request: HatexscoreRequest, read: ConclusionRead) -> ParsedExplanation:
    languages = detect_languages(request, PRINTED)
    language = languages.explanation
    mentions = mentions_as_printed(
        request.explanation_text,
        language,
        lexicon_of(request, language),
        # section 3.3; an unknown decision: the stricter test
        hateful=(request.decision_class or read.label) != "non-hateful",
    )
    stated = ConclusionRead(read.statement)
    parsed = parsed_explanation(request, languages, stated, _quoted(request, languages), mentions)
    return parsed if languages.no_rules else replace(parsed, reader=BY_READER)


def _quoted(request: HatexscoreRequest, languages: DetectedLanguages) -> QuotedSpans:
    """Return the quotations, and the runs of words that text and explanation share. If a single
    quotation or run covers all words, the whole text counts as quoted (Q = {T})."""
    located = locate(request.text, quotations(request.explanation_text))
    quotes = located.quotes
    runs = common_spans(request.text, request.explanation_text, languages.text)
    counted = word_spans(request.text, languages.text)
    spans = merge_spans([*((quote.start, quote.end) for quote in quotes), *runs])
    return QuotedSpans(
        evidence=quote_evidence([*quotes, *_unquoted(request.text, runs, quotes)]),
        hallucinated=tuple(
            HatexscoreHallucinatedQuote(**asdict(quotation)) for quotation in located.missing
        ),
        masked=mask_spans(request.text, spans) if spans else None,
        trivial=any(
            _spans_all(counted, span) for span in (*runs, *((q.start, q.end) for q in quotes))
        ),
        spans=tuple(spans),
        unsearched=len(located.unsearched),
    )


def _spans_all(counted: Sequence[Span], span: Span) -> bool:
    """Return True if the span reaches from the first to the last of the text's words. `counted` has
    the spans of these words."""
    return bool(counted) and span[0] < counted[0][1] and span[1] > counted[-1][0]


def _unquoted(text: str, runs: Sequence[Span], quotes: Sequence[Quote]) -> Iterator[Quote]:
    """Yield passages shared by the explanation and the text as quotes, unless they are already
    quoted. A passage that overlaps an earlier one starts at its end."""
    quoted = {(quote.start, quote.end) for quote in quotes}
    covered = 0
    for start, end in runs:
        begin = max(start, covered)
        covered = max(end, covered)
        part = text[begin:end].strip()
        if part and (start, end) not in quoted:
            begin = text.index(part, begin)
            yield Quote(begin, begin + len(part), part, part, "exact", 1.0)


def common_spans(text: str, explanation: str, language: Language) -> list[Span]:
    """Return maximal runs of consecutive tokens of the text that also occur in the explanation."""
    tokens = [word for word in words(text, language) if word.is_word]
    explained = (_normal(word) for word in words(explanation, language) if word.is_word)
    spans: list[Span] = []
    for first, last in common_runs([_normal(word) for word in tokens], explained):
        run = tokens[first:last]
        if last - first >= SHORTEST_RUN and not all(word.is_stop for word in run):
            spans.append((run[0].start, max(word.end for word in run)))
    return spans


def _normal(word: TextWord) -> str:
    return fold(as_sent(word.text)).text


def common_runs(tokens: Sequence[str], others: Iterable[str]) -> list[Range]:
    """Return the maximal runs of `tokens` that also occur in `others`, in order."""
    steps, links, lengths = _suffix_automaton(others)
    state, length = 0, 0
    ending: list[int] = []  # at each position the longest run up to it that occurs
    for token in tokens:
        while state and token not in steps[state]:
            state = links[state]
            length = lengths[state]
        if token in steps[state]:
            state = steps[state][token]
            length += 1
        ending.append(length)
    return [
        (end - length, end)
        for end, (length, following) in enumerate(pairwise([*ending, 0]), start=1)
        if length and following <= length
    ]


def _suffix_automaton(tokens: Iterable[str]) -> tuple[list[dict[str, int]], list[int], list[int]]:
    """Build a suffix automaton in linear time. Return each state's transitions, link and length.
    Source: Blumer et al. (1985), Theoretical Computer Science 40."""
    steps: list[dict[str, int]] = [{}]
    links, lengths, last = [-1], [0], 0
    for token in tokens:
        current, state = len(steps), last
        steps.append({})
        lengths.append(lengths[last] + 1)
        links.append(0)
        while state >= 0 and token not in steps[state]:
            steps[state][token] = current
            state = links[state]
        if state >= 0:
            target = steps[state][token]
            if lengths[target] != lengths[state] + 1:  # split it: as short as the path to it
                clone = len(steps)
                steps.append(dict(steps[target]))
                lengths.append(lengths[state] + 1)
                links.append(links[target])
                links[target] = clone
                while state >= 0 and steps[state].get(token) == target:
                    steps[state][token] = clone
                    state = links[state]
                target = clone
            links[current] = target
        last = current
    return steps, links, lengths


def mentions_as_printed(
    text: str, language: Language, lexicon: Lexicon, *, hateful: bool
) -> list[HatexscoreGroupEvidence]:
    """Return the group terms of the paper's tables that occur in a text, in order. Where terms
    overlap, the first and longest is used."""
    matches = list(_matches(words(text, language), _listed(lexicon, language)))
    ties = _ties(text, matches) if hateful else [EQUATION_4] * len(matches)
    return [
        HatexscoreGroupEvidence(
            group=match.entry.group,
            category=match.entry.category,
            start=match.start,
            end=match.end,
            text=text[match.start : match.end],
            found_as=match.found_as,
            counts=tie is not None,
            reason=tie or NO_LINK,
            attacked=tie is not None,
            by="reader" if tie == READ["attacked"] else "rules",
        )
        for match, tie in zip(matches, ties, strict=True)
    ]


def _ties(text: str, matches: Sequence[TermMatch]) -> list[str | None]:
    """Return, for each mention, the reason why it is linked to hateful content, or None."""
    borders, quoted = sentences(text), quoted_spans(text)
    ties: list[str | None] = []
    for match in matches:
        start, end = next(border for border in reversed(borders) if border[0] <= match.start)
        ties.append(WITH_QUOTE if any(a < end and start < b for a, b in quoted) else None)
    left = [index for index, tie in enumerate(ties) if tie is None][:MOST_ASKED]
    rows = ask("group", [ask_mention(text, matches[index], borders) for index in left])
    for index, row in zip(left, rows, strict=True):
        if row[GROUP.index("attacked")] >= ATTACKED:
            ties[index] = READ["attacked"]
    return ties


def _matches(found: Sequence[TextWord], listed: TermTable) -> Iterator[TermMatch]:
    """Yield the n-grams in the table, in one pass over the words. No n-gram spans punctuation."""
    plain = [word for word in found if word.is_word]
    lemmas = [word.lemma for word in plain]
    first = 0
    while first < len(plain):
        last, entry = next(listed.starting_at(lemmas, first), (first + 1, None))
        start, end = plain[first].start, plain[last - 1].end
        if entry is not None:
            written = " ".join(word.text.lower() for word in plain[first:last])
            kind: FoundAs = entry.kind if entry.kind != "term" or written == entry.term else "lemma"
            yield TermMatch(entry, start, end, kind)
        first += 1
        while first < len(plain) and plain[first].start < end:
            first += 1


@cache_results(KEPT_BYTES, lambda _table, lexicon, _: LISTED_BYTES * lexicon.characters)
def _listed(lexicon: Lexicon, language: Language) -> TermTable:
    """Return a lookup table of the paper's printed terms and slurs, as lemmas, because the texts
    are lemmatised as well. An entry listed as both counts as a term."""
    listed = TermTable()
    for entry in lexicon.entries():
        if entry.kind in ("term", "slur_alias"):
            lemmas = tuple(word.lemma for word in words(entry.term, language) if word.is_word)
            if 0 < len(lemmas) <= LONGEST_TERM:
                listed.add(lemmas, entry)
    return listed
