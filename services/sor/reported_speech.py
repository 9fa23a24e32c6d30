"""A sentence that reports what somebody else says, and where the platform speaks again.

"You write that all accounts are closed for 30 days" closes no account and lasts no days. Who speaks
is the subject of a verb of speech: the platform (with its people, decisions and rules), the post
and its author, or somebody else. Words and verbs are those of `english_speech`, `german_speech`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from services.sor.sentences import Span, StatementSentence

Speaker = Literal["post", "other", "platform"]
Region = tuple[int, int]  # numbers of words, half open

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

    def span(self, region: Region) -> Span:
        """With the mark that closes a quotation at its end, which would open one by itself."""
        start, end = self.sentence.words[region[0]].start, self.sentence.words[region[1] - 1].end
        closing = self.text[end : end + 1]
        return start, end + (closing != "" and closing in CLOSING)


def spoken(text: str, sentences: Sequence[StatementSentence], of_platform: frozenset[str],
           of_post: frozenset[str]) -> Iterator[SpokenSentence]:  # fmt: skip
    """Each sentence, which knows whether the one before began with the platform."""
    after = False
    for sentence in sentences:
        one = SpokenSentence(text, sentence, after)
        yield one
        after = one.has(of_platform, 0, 6) and not one.has(of_post, 0, 6)


def word_set(text: str) -> frozenset[str]:
    """Folded, as the words of a sentence are."""
    return frozenset(text.casefold().split())
