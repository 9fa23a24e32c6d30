"""An explanation cut into sentences and words, with its quotations kept apart."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from services.hatexscore.languages import Language, Span, Word, sentences, words


@dataclass(frozen=True)
class Sentence:
    """One sentence: its words outside quotation marks, and whether it holds a quotation."""

    start: int
    end: int
    words: tuple[Word, ...]
    quotes: bool


@dataclass(frozen=True)
class Passage:
    """The explanation as the rules look at it.

    words:      all of them, quoted or not.
    quotations: sorted spans that do not overlap.
    """

    text: str
    language: Language
    words: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    quotations: tuple[Span, ...]

    def quoted(self, start: int, end: int) -> bool:
        """Does any part of the span lie inside a quotation?"""
        return _touches(self.quotations, start, end)

    def sentence_at(self, position: int) -> int:
        """Index of the sentence that holds the character at `position`."""
        return max(0, bisect_right(self.sentences, position, key=lambda s: s.start) - 1)


def read(explanation: str, language: Language, quotations: Sequence[Span]) -> Passage:
    """Analyse the explanation once for all rules."""
    found = words(explanation, language)
    spans = _disjoint(quotations)
    cut = [_sentence(span, found, spans) for span in sentences(explanation, language)]
    return Passage(explanation, language, tuple(found), tuple(cut), spans)


def _sentence(span: Span, found: Sequence[Word], quotations: Sequence[Span]) -> Sentence:
    start, end = span
    first = bisect_left(found, start, key=lambda word: word.start)
    last = bisect_left(found, end, key=lambda word: word.start)
    plain = [word for word in found[first:last] if not _touches(quotations, word.start, word.end)]
    return Sentence(start, end, tuple(plain), _touches(quotations, start, end))


def _touches(disjoint: Sequence[Span], start: int, end: int) -> bool:
    """Do any of the sorted spans and start:end share a character?"""
    place = bisect_right(disjoint, start, key=lambda span: span[1])
    return place < len(disjoint) and disjoint[place][0] < end


def _disjoint(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same characters as spans that are sorted and do not overlap; empty ones dropped."""
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
