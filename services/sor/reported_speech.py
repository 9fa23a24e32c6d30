"""A sentence that reports what somebody else says, and where the platform speaks again.

"You write that all accounts are closed for 30 days" closes no account and lasts no days. Who speaks
is the subject of a verb of speech: the platform (with its people, decisions and rules), the post
and its author, or somebody else. Words and verbs are those of `english_speech`, `german_speech`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from services.sor.sentences import Span, StatementSentence, quotations

Speaker = Literal["post", "other", "platform"]
Region = tuple[int, int]  # numbers of words, half open

PRINTED = frozenset(("article", "artikel"))  # of a law only with a number
CLAUSE = 3  # words of a quotation that says something
REACH = 14  # words in which a subject, or a rule that is broken, is sought
CLOSING = "\"\u201c\u201d\u2019'\u00bb"
BORDERS = ',:;()\u2013\u2014"\u201c\u201d\u201e'


@dataclass(frozen=True)
class SpokenSentence:
    """A sentence with what stands between its words. after_platform: the sentence before is about
    the platform or a rule, so that "it" and "she" may be these."""

    text: str
    sentence: StatementSentence
    after_platform: bool = False

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def words(self) -> list[str]:
        return [word.folded for word in self.sentence.words]

    @cached_property
    def borders(self) -> frozenset[int]:
        """Numbers of the words before which a comma, a colon, a dash or a bracket stands."""
        gaps = ((place, self.gap(place)) for place in range(1, len(self)))
        return frozenset(
            place for place, gap in gaps if " - " in gap or not set(BORDERS).isdisjoint(gap)
        )

    def gap(self, place: int) -> str:
        """What stands before this word, which is not the first."""
        words = self.sentence.words
        return self.text[words[place - 1].end : words[place].start]

    def clause(self, place: int) -> Region:
        """Of the words between two borders those about this one, at most `REACH` to each side."""
        start, end = place, place + 1
        while start > max(0, place - REACH) and start not in self.borders:
            start -= 1
        while end < min(len(self), place + REACH) and end not in self.borders:
            end += 1
        return start, end

    def part(self, start: int, count: int) -> list[str]:
        return self.words[max(0, start) : max(0, start + count)]

    def has(self, known: frozenset[str], start: int, count: int) -> bool:
        """Whether one of so many words from this place on is known."""
        return not known.isdisjoint(self.part(start, count))

    def is_of_rule(self, at: int, rules: frozenset[str], broken: tuple[str, ...]) -> bool:
        """Whether soon a rule is named, or a word begins as those of which one is broken."""
        rest = self.part(at, REACH)
        return not rules.isdisjoint(rest) or any(word.startswith(broken) for word in rest)

    def span(self, region: Region) -> Span:
        """With the mark that closes a quotation at its end, which would open one by itself."""
        start, end = self.sentence.words[region[0]].start, self.sentence.words[region[1] - 1].end
        closing = self.text[end : end + 1]
        return start, end + (closing != "" and closing in CLOSING)


class KnownWords(NamedTuple):
    """Of a language: those of the platform, of its rules, of a post and its author."""

    platform: frozenset[str]
    rules: frozenset[str]
    post: frozenset[str]


class Grammar(NamedTuple):
    """Of a language. is_verb: of speech, at this place; speaker: of the verb here, given where the
    region before ends and who spoke last; region: what the word here brings, given the same."""

    is_verb: Callable[[SpokenSentence, int], bool]
    speaker: Callable[[SpokenSentence, int, int, Speaker | None], Speaker | None]
    region: Callable[[SpokenSentence, int, int, Speaker | None], Region | None]


def reports(
    sentences: Sequence[SpokenSentence], grammar: Grammar, known: KnownWords
) -> Iterator[Span]:
    """What others are reported to say, or are quoted with, in order; no two overlap."""
    found = sorted((*_told(sentences, grammar), *_quoted(sentences, known)))
    last = 0
    for start, end in found:
        if end > last:
            yield max(start, last), end
            last = end


def _told(sentences: Iterable[SpokenSentence], grammar: Grammar) -> Iterator[Span]:
    for one in sentences:
        end, speaker = 0, None
        for place in range(len(one)):
            if place < end:
                continue
            if grammar.is_verb(one, place):
                speaker = grammar.speaker(one, place, end, speaker)
            found = grammar.region(one, place, end, speaker)
            if found is not None and found[0] < found[1]:
                yield one.span(found)
                end = found[1]


def _quoted(sentences: Iterable[SpokenSentence], known: KnownWords) -> Iterator[Span]:
    """Quoted clauses, unless the platform or a rule is named: "its caption is 'Closed in all
    countries!'"."""
    for one in sentences:
        rules = known.rules if any(map(str.isdigit, one.words)) else known.rules - PRINTED
        if not rules.isdisjoint(one.words):
            continue
        starts = [word.start for word in one.sentence.words]
        ours = [word.start for word in one.sentence.words if word.folded in known.platform]
        start, end = max(0, one.sentence.span[0] - 1), one.sentence.span[1] + 2
        for span in quotations(one.text[start:end]):
            first, last = span[0] + start, span[1] + start
            outside = len(ours) - _between(ours, first, last)
            if _between(starts, first, last) >= CLAUSE and not outside:
                yield first, last


def _between(places: Sequence[int], first: int, last: int) -> int:
    """How many of these, which are in order, are in [first, last)."""
    return bisect_left(places, last) - bisect_left(places, first)


def spoken(
    text: str, sentences: Sequence[StatementSentence], known: KnownWords
) -> Iterator[SpokenSentence]:
    """Each sentence, which knows whether the one before began with the platform or a rule."""
    after = False
    for sentence in sentences:
        one = SpokenSentence(text, sentence, after)
        yield one
        of_ours = one.has(known.platform | known.rules, 0, 6)
        after = of_ours and not one.has(known.post, 0, 6)


def word_set(text: str) -> frozenset[str]:
    """Folded, as the words of a sentence are."""
    return frozenset(text.casefold().split())
