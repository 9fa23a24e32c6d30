"""Variant `paper`: the equations as printed, with shared runs of tokens and n-grams of lemmas.

Source: Hu & Lee, arXiv:2601.13547, Eqs. 2 to 5 and section 3.3. Q is "extracted by overlapping
normalized tokens between the explanation and the input text" and must be "a non-trivial span":
here the maximal runs of two tokens or more that both share, one of them no function word, beside
what stands in quotation marks. Runs of one token would make Q of "the" and contradict Table 4,
perturbed 1.

TGI takes lemma n-grams up to trigrams against the printed terms, slurs among them, and nothing
that we add; longer terms cannot be found. Quotations are not taken out and a denial is not seen,
because the paper speaks of neither; so the printed 0 of Table 4, perturbed 2, is not met: its group
word stands inside a quoted slur. "NER and part-of-speech patterns" names no rule: the
hateful-context check is ours (`link`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import pairwise

from services.hatexscore.conclusion import ConclusionRead
from services.hatexscore.conclusion_printed import statement_anywhere
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import (
    PRINTED,
    DetectedLanguages,
    ParsedExplanation,
    QuotedSpans,
    detect_languages,
    lexicon_of,
    parsed_explanation,
    quote_evidence,
)
from services.hatexscore.group_terms import (
    FOLDER,
    FoundAs,
    TermMatch,
    compile_cue,
)
from services.hatexscore.lexicon import Lexicon, LexiconEntry
from services.hatexscore.quote_search import Quote, fold, locate, word_spans
from services.hatexscore.quotes import mask_spans, merge_spans, quotations, quoted_spans
from services.hatexscore.report import HatexscoreGroupEvidence
from services.hatexscore.words import Language, Span, TextWord, words
from shared.process.cached import cache_results
from shared.text.normalized import as_sent
from shared.text.sentences import sentences

SHORTEST_RUN = 2  # tokens
KEPT_BYTES, LISTED_BYTES = 2**23, 100  # of lists that are kept; a character of their terms
LONGEST_TERM = 3  # words: "up to trigrams"

Range = tuple[int, int]  # first, last + 1
Gram = tuple[str, ...]


def read_as_printed(request: HatexscoreRequest) -> ParsedExplanation:
    languages = detect_languages(request, PRINTED)
    language, explanation = languages.explanation, request.explanation_text
    statement = statement_anywhere(explanation)
    label = request.decision or (statement.label if statement else None)
    found = mentions_as_printed(
        read_passage(explanation, language, quoted_spans(explanation)),
        lexicon_of(request, language),
        hateful=label != "non-hateful",  # section 3.3; an unknown decision: the stricter test
    )
    return parsed_explanation(
        request, languages, ConclusionRead(statement), _quoted(request, languages), found
    )


def _quoted(request: HatexscoreRequest, languages: DetectedLanguages) -> QuotedSpans:
    """Quoted material and shared runs; one of them over all tokens is Q = {T}, however short T."""
    located = locate(request.text, quotations(request.explanation_text))
    quotes = located.quotes
    runs = common_spans(request.text, request.explanation_text, languages.text)
    counted = word_spans(request.text, languages.text)
    spans = merge_spans([*((quote.start, quote.end) for quote in quotes), *runs])
    return QuotedSpans(
        evidence=quote_evidence([*quotes, *_unquoted(request.text, runs, quotes)]),
        hallucinated=tuple((one, None) for one in located.missing),
        masked=mask_spans(request.text, spans) if spans else None,
        trivial=any(
            _spans_all(counted, span) for span in (*runs, *((q.start, q.end) for q in quotes))
        ),
        spans=tuple(spans),
        unsearched=len(located.unsearched),
    )


def _spans_all(counted: Sequence[Span], span: Span) -> bool:
    """Does the span reach from the text's first word to its last?"""
    return bool(counted) and span[0] < counted[0][1] and span[1] > counted[-1][0]


def _unquoted(text: str, runs: Sequence[Span], quotes: Sequence[Quote]) -> Iterator[Quote]:
    """Runs as evidence: none twice, and of overlapping runs the later one from the first's end."""
    known = {(quote.start, quote.end) for quote in quotes}
    covered = 0
    for start, end in runs:
        begin = max(start, covered)
        covered = max(end, covered)
        part = text[begin:end].strip()
        if part and (start, end) not in known:
            begin = text.index(part, begin)
            yield Quote(begin, begin + len(part), part, part, "exact", 1.0)


def common_spans(text: str, explanation: str, language: Language) -> list[Span]:
    """Maximal runs of consecutive tokens of the text that are consecutive in the explanation."""
    tokens = [word for word in words(text, language) if word.is_word]
    others = (_normal(word) for word in words(explanation, language) if word.is_word)
    spans: list[Span] = []
    for first, last in common_runs([_normal(word) for word in tokens], others):
        run = tokens[first:last]
        if last - first >= SHORTEST_RUN and not all(word.is_stop for word in run):
            spans.append((run[0].start, max(word.end for word in run)))
    return spans


def _normal(word: TextWord) -> str:
    return fold(as_sent(word.text)).text


def common_runs(tokens: Sequence[str], others: Iterable[str]) -> list[Range]:
    """The runs of `tokens` that occur in `others` and that no longer such run holds, in order."""
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
    """All runs of consecutive tokens, in linear time: each state's steps, link and length.

    Source: Blumer et al. (1985), Theoretical Computer Science 40.
    """
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
    passage: Passage, lexicon: Lexicon, *, hateful: bool
) -> list[HatexscoreGroupEvidence]:
    """Every printed term among the n-grams, in order; of overlapping ones the first and longest."""
    mentions = []
    for match in _matches(passage, lexicon):
        tie = link(passage, match) if hateful else EQUATION_4
        mentions.append(
            HatexscoreGroupEvidence(
                group=match.entry.group,
                category=match.entry.category,
                start=match.start,
                end=match.end,
                text=passage.text[match.start : match.end],
                found_as=match.found_as,
                counts=tie is not None,
                reason=tie or NO_LINK,
                attacked=tie is not None,
            )
        )
    return mentions


def _matches(passage: Passage, lexicon: Lexicon) -> Iterator[TermMatch]:
    """Scan the words once; n-grams of words only, punctuation left out."""
    listed = _listed(lexicon, passage.language)
    plain = [word for word in passage.words if word.is_word]
    first = 0
    while first < len(plain):
        match = _longest(plain[first : first + LONGEST_TERM], listed)
        if match is not None:
            yield match
        end = match.end if match else plain[first].end
        first += 1
        while first < len(plain) and plain[first].start < end:
            first += 1


def _longest(found: Sequence[TextWord], listed: dict[Gram, LexiconEntry]) -> TermMatch | None:
    """The longest n-gram at the first word that is a printed term."""
    lemmas = tuple(word.lemma for word in found)
    for size in range(len(found), 0, -1):
        entry = listed.get(lemmas[:size])
        if entry is not None:
            seen = " ".join(word.text.lower() for word in found[:size])
            kind: FoundAs = entry.kind if entry.kind != "term" or seen == entry.term else "lemma"
            return TermMatch(entry, found[0].start, found[size - 1].end, kind)
    return None


def _listed_bytes(_found: object, lexicon: Lexicon, _language: Language) -> int:
    return LISTED_BYTES * lexicon.characters


@cache_results(KEPT_BYTES, _listed_bytes)
def _listed(lexicon: Lexicon, language: Language) -> dict[Gram, LexiconEntry]:
    """The printed terms, "similarly processed": as lemmas of words; the first entry stays."""
    listed: dict[Gram, LexiconEntry] = {}
    for entry in lexicon.entries():
        if entry.kind in ("term", "slur_alias"):
            gram = tuple(word.lemma for word in words(entry.term, language) if word.is_word)
            if 0 < len(gram) <= LONGEST_TERM:
                listed.setdefault(gram, entry)
    return listed


@dataclass(frozen=True)
class Sentence:
    """One sentence, and whether it holds a quotation.

    attacks: attack predicates outside quotations that are not denied.
    rejects: it says of somebody "does not respect", "不尊重", "존중하지 않".
    """

    start: int
    end: int
    quotes: bool
    attacks: tuple[Span, ...]
    rejects: bool


@dataclass(frozen=True)
class Passage:
    """An explanation cut into sentences and words, quoted or not."""

    text: str
    language: Language
    words: tuple[TextWord, ...]
    sentences: tuple[Sentence, ...]


def read_passage(explanation: str, language: Language, quotations: Sequence[Span]) -> Passage:
    found = words(explanation, language)
    spans = merge_spans(span for span in quotations if span[0] < span[1])
    cut = [_sentence(explanation, language, one, found, spans) for one in sentences(explanation)]
    openings = {start for start, _ in spans}
    for place, (one, following) in enumerate(pairwise(cut)):
        if following.start in openings and explanation[one.end - 1] in ":\uff1a":
            cut[place] = replace(one, quotes=True)  # "It says of X:", and the quotation below
        elif (one.start, one.end) in spans and "\n" in explanation[one.end : following.start]:
            cut[place + 1] = replace(following, quotes=True)  # on the block above
    return Passage(explanation, language, tuple(found), tuple(cut))


def _sentence(
    explanation: str,
    language: Language,
    span: Span,
    found: Sequence[TextWord],
    quotations: Sequence[Span],
) -> Sentence:
    """Read a sentence. In English and Chinese a denial runs forward from its negator to the end of
    the clause; in Korean the negator stands at the end, so a denial runs backward. "not only" and
    "no doubt" deny nothing; "does not respect" is an attack."""
    start, end = span
    cues = load_cues(language)
    first = bisect_left(found, start, key=lambda word: word.start)
    last = bisect_left(found, end, key=lambda word: word.start)
    plain = [word for word in found[first:last] if not _overlaps(quotations, word.start, word.end)]
    denied = list((_backward if language == "ko" else _forward)(plain, cues))
    predicates = cues.patterns["predicates"].finditer(explanation[start:end])
    spans = ((start + one.start(), start + one.end()) for one in predicates)
    return Sentence(
        start,
        end,
        quotes=_overlaps(quotations, start, end),
        attacks=tuple(
            one
            for one in spans
            if not (_overlaps(quotations, *one) or any(a <= one[0] < b for a, b in denied))
        ),
        rejects=any(
            _is_negator(plain, place, cues) and _has_neighbors(plain, place, cues.rejecting)
            for place in range(len(plain))
        ),
    )


def _overlaps(disjoint: Sequence[Span], start: int, end: int) -> bool:
    """Do any of the sorted spans and start:end share a character?"""
    place = bisect_right(disjoint, start, key=lambda span: span[1])
    return place < len(disjoint) and disjoint[place][0] < end


@dataclass(frozen=True)
class Cues:
    """The words of one language that decide whether a mention counts: data, our own work.

    The paper says only "NER and part-of-speech patterns to check for direct relationships (e.g.,
    verbs, adjectives)" (§3.3).

    negators:       open a denial, unless a word of `cancelling` ("not only") or of `rejecting`
                    ("does not respect") follows; the latter is an attack.
    clause_ends:    close a denial, as does a comma before one of `comma_starters`.
    linking:        Korean: endings that close a clause if a comma follows.
    deniable:       Korean: a negation denies if one of these, or a predicate, stands before it.
    """

    negators: frozenset[str]
    cancelling: frozenset[str]
    rejecting: frozenset[str]
    clause_ends: frozenset[str]
    comma_starters: frozenset[str]
    linking: frozenset[str]
    deniable: frozenset[str]
    patterns: dict[str, re.Pattern[str]]


@lru_cache(maxsize=3)
def load_cues(language: Language) -> Cues:
    content = json.loads((FOLDER / f"cues.{language}.json").read_text(encoding="utf-8"))
    patterns = {name: compile_cue(made) for name, made in content["patterns"].items()}
    names = [one.name for one in fields(Cues) if one.name != "patterns"]
    return Cues(**{name: frozenset(content[name]) for name in names}, patterns=patterns)


IN_SENTENCE = "in a sentence with an attack predicate"
IN_NEXT = "the next sentence refers to it with an attack predicate"
WITH_QUOTE = "linked to a quote in the same sentence"
NO_LINK = "no link to the hateful content"
EQUATION_4 = "named, and the text is judged non-hateful: Eq. 4 requires no link"


def link(passage: Passage, match: TermMatch) -> str | None:
    """How the mention is tied to the hateful content (§3.3); None if it is not.

    Deviates: the paper uses "NER and part-of-speech patterns"; here a mention is tied if its
    sentence holds an attack predicate that is not denied, or a quotation, or if the next sentence
    refers back to it ("they", 该群体, 이들) with such a predicate. The released code has no check.
    """
    found = passage.sentences
    place = max(0, bisect_right(found, match.start, key=lambda one: one.start) - 1)
    if _attacks(found[place], match):
        return IN_SENTENCE
    if found[place].quotes:
        return WITH_QUOTE
    if place + 1 == len(found) or not _attacks(found[place + 1], match):
        return None
    text = passage.text[found[place + 1].start : found[place + 1].end]
    follows = load_cues(passage.language).patterns["follow_up"].search(text)
    return IN_NEXT if follows else None


def _attacks(sentence: Sentence, match: TermMatch) -> bool:
    """Does the sentence hold an attack predicate other than the mention itself?

    "racist" and "islamophobic" are both at once; a printed term is only a group.
    """
    own = (match.start, match.end) if match.entry.kind == "term" else (0, 0)
    others = (not (own[0] <= start and end <= own[1]) for start, end in sentence.attacks)
    return sentence.rejects or any(others)


REACH_DENIABLE = 5  # morphemes between what is denied and a Korean negator
REACH_DIRECT = 2  # morphemes: noun + particle right before a Korean negator


def _forward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From each negator to the end of its clause."""
    opened: int | None = None
    for place, word in enumerate(found):
        if opened is not None and _is_clause_end(found, place, cues):
            yield opened, word.start
            opened = None
        if opened is None and _starts_denial(found, place, cues):
            opened = word.end
    if opened is not None:
        yield opened, found[-1].end


def _backward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From the start of the clause to a negator, if a predicate stands right before that.

    A contrast, or a linking ending before a comma, is where a clause ends. Denied are an attack,
    and being the object or the content of one.
    """
    opened = 0
    for place, word in enumerate(found):
        is_linking = word.text in cues.linking
        if _text_at(found, place + 1) == "," if is_linking else word.text in cues.clause_ends:
            opened = place + 1
        if not _starts_denial(found, place, cues):
            continue
        deniable = any(
            not cues.deniable.isdisjoint((one.text, one.lemma))
            or cues.patterns["predicates"].search(one.text)
            for one in found[max(opened, place - REACH_DENIABLE) : place]
        )
        first = opened if deniable else max(opened, place - REACH_DIRECT)
        yield found[min(first, place)].start, word.end


def _starts_denial(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does a denial open here?"""
    return (
        _is_negator(found, place, cues)
        and not _has_neighbors(found, place, cues.cancelling)
        and not _has_neighbors(found, place, cues.rejecting)
    )


def _is_negator(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """One word, its lemma, or two words: "rather than"."""
    word = found[place]
    pair = f"{_lower(word)} {_text_at(found, place + 1)}"
    lemma_pair = f"{word.lemma} {_text_at(found, place + 1)}"
    return not cues.negators.isdisjoint({_lower(word), word.lemma, pair, lemma_pair})


def _has_neighbors(found: Sequence[TextWord], place: int, listed: frozenset[str]) -> bool:
    """Is a listed word next to the negator: after it, or (in Korean) before it?"""
    if f"{_lower(found[place])} {_text_at(found, place + 1)}" in listed:
        return True
    korean = found[place].lemma.endswith("다") or found[place].text == "무관"
    near = found[max(0, place - 4) : place] if korean else found[place + 1 : place + 3]
    return any(_lower(word) in listed or word.lemma in listed for word in near)


def _is_clause_end(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does the clause end before this word?"""
    word = found[place]
    if _lower(word) in cues.clause_ends:
        return True
    following = _text_at(found, place + 1)
    if word.text == ",":
        return following in cues.comma_starters or _is_finite(following, cues)
    return _lower(word) in ("and", "or") and _is_finite(following, cues)


def _is_finite(text: str, cues: Cues) -> bool:
    """ "…, attacking Muslims", "and attacks Muslims": a new predicate, not one more object."""
    return text.endswith(("s", "ing")) and cues.patterns["predicates"].search(text) is not None


def _lower(word: TextWord) -> str:
    return word.text.lower().replace("\u2019", "'")


def _text_at(found: Sequence[TextWord], place: int) -> str:
    return _lower(found[place]) if place < len(found) else ""
