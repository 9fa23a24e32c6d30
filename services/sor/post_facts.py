"""Which facts of a post a statement names: quotations that stand in it, and its words.

A quotation is what stands in quotation marks, or four words in a row that both have, two of them
content words; the weaker form is a content word of the post that the statement uses of its own.
Words of a rule do not count. An ellipsis parts a
quotation: its parts stand in the post in their order, and no negation is left out between them.
Both texts are normalised. Every search is linear: a quotation is looked up in the folded words of
the post, 64 quotations at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from services.sor.words import StatementWord, StemOf, english_stem, quotations, words
from shared.text.changed_meaning import negates
from shared.text.normalized import normalize
from shared.text.sentences import Span

MOST_QUOTATIONS = 64
RUN = 4  # words in a row that both texts have
CONTENT_OF_RUN = 2  # of them
ENOUGH = 3  # different content words of the post that name its facts


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """A quotation that stands in the post, or a part of one. statement: the whole inside of its
    quotation marks; post: where the part stands."""

    statement: Span
    post: Span


Quotes = tuple[list[QuoteMatch], list[Span]]  # in the post; in no post, of the statement


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A content word of the post that the statement uses, where both have it first."""

    statement: Span
    post: Span
    stem: str


@dataclass(frozen=True)
class PostWords:
    """A post as it is searched. words: of the normalised text, with offsets into `text`."""

    text: str
    words: list[StatementWord] = field(default_factory=list)
    joined: str = ""
    starts: dict[int, int] = field(default_factory=dict)  # offset into `joined` -> number of a word
    stems: dict[str, int] = field(default_factory=dict)  # of content words -> number of the first
    runs: dict[tuple[str, ...], int] = field(default_factory=dict)  # four words -> number of theirs

    @classmethod
    def of(cls, text: str, stem_of: StemOf = english_stem) -> PostWords:
        """stem_of: of a word that says something, None of all others."""
        normalized = normalize(text)
        found = []
        for word in words(normalized.text):
            start, end = normalized.original(word.start, word.end)
            found.append(replace(word, start=start, end=end))
        starts, offset, parts = {}, 1, []
        for number, word in enumerate(found):
            starts[offset] = number
            parts.append(word.folded)
            offset += len(word.folded) + 1
        stems: dict[str, int] = {}
        for number, word in enumerate(found):
            if (stem := stem_of(word)) is not None:
                stems.setdefault(stem, number)
        rows = zip(*(parts[start:] for start in range(RUN)), strict=False)
        runs = {row: number for number, row in reversed(list(enumerate(rows)))}
        return cls(text, found, f" {' '.join(parts)} ", starts, stems, runs)

    def find(self, parts: Sequence[Sequence[StatementWord]]) -> list[Span]:
        """Return where the parts of a quotation first stand, one behind the other.

        Empty where a part is not found, or a negation stands between two of them.
        """
        found: list[Span] = []
        place = 0
        for part in parts:
            needle = f" {' '.join(word.folded for word in part)} "
            place = self.joined.find(needle, place)
            if place < 0:
                return []
            first = self.starts[place + 1]
            found.append((self.words[first].start, self.words[first + len(part) - 1].end))
            place += len(needle) - 1
        left_out = (self.text[end:start] for (_, end), (start, _) in pairwise(found))
        return [] if any(map(negates, left_out)) else found


@dataclass(frozen=True)
class PostFacts:
    """The facts of one post in one statement, and the quotations that are in no post."""

    quotes: tuple[QuoteMatch, ...]
    shared: tuple[WordMatch, ...]
    missing: tuple[Span, ...]  # of the statement
    words: int  # different content words of the post

    @property
    def weight(self) -> int:
        """Content words of the post in the statement, each quotation 3 more; compared with other
        posts."""
        return ENOUGH * self.quotations + len(self.shared)

    @property
    def quotations(self) -> int:
        """How many quotations and runs of words stand in the post."""
        return len({quote.statement for quote in self.quotes})

    @property
    def enough(self) -> int:
        return max(1, min(ENOUGH, self.words))


@dataclass(frozen=True)
class StatementWords:
    """A statement as it is compared with posts: its words, the insides of its quotation marks in
    parts between ellipses, and its content words that are no rule's, each stem where it comes
    first."""

    words: list[StatementWord]
    quoted: list[tuple[Span, list[list[StatementWord]]]]
    own: dict[str, StatementWord] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> StatementWords:
        """text: normalised."""
        quoted = []
        for start, end in quotations(text)[:MOST_QUOTATIONS]:
            parts = (words(part) for part in text[start:end].split("..."))
            quoted.append(((start, end), [part for part in parts if part]))
        return cls(words(text), quoted)

    def with_content(self, text: str, stem_of: StemOf) -> StatementWords:
        """text: the statement, quotations of the post and rules blanked."""
        own: dict[str, StatementWord] = {}
        for word in words(text):
            if (stem := stem_of(word)) is not None:
                own.setdefault(stem, word)
        return replace(self, own=own)


def match_quotes(statement: StatementWords, post: PostWords) -> Quotes:
    """Those that stand in the post, and those that do not."""
    located, missing = [], []
    for span, parts in statement.quoted:
        places = post.find(parts) if any(map(_has_content, parts)) else []
        located += [QuoteMatch(span, place) for place in places]
        if parts and not places:
            missing.append(span)
    return located, missing


def _has_content(quoted: Sequence[StatementWord]) -> bool:
    """Quoting "the" points at nothing; two words of any kind do."""
    return len(quoted) > 1 or any(word.is_content for word in quoted)


def match_ngrams(statement: StatementWords, post: PostWords) -> Iterator[QuoteMatch]:
    """Four words or more in a row that both have, without quotation marks."""
    found = statement.words
    place = 0
    while place + RUN <= len(found):
        run = found[place : place + RUN]
        first = post.runs.get(tuple(word.folded for word in run))
        if first is None or sum(word.is_content for word in run) < CONTENT_OF_RUN:
            place += 1
            continue
        there = post.words[first].start, post.words[first + RUN - 1].end
        yield QuoteMatch((run[0].start, run[-1].end), there)
        place += RUN


def match_words(statement: StatementWords, post: PostWords) -> Iterator[WordMatch]:
    """Each content word of the post, where the statement first uses it of this post."""
    for stem, word in statement.own.items():
        number = post.stems.get(stem)
        if number is not None:
            there = post.words[number]
            yield WordMatch((word.start, word.end), (there.start, there.end), stem)


def facts_of(statement: StatementWords, post: PostWords, known: Quotes | None = None) -> PostFacts:
    """The facts of this post that the statement names. known: its quotations, already matched."""
    quotes, missing = known or match_quotes(statement, post)
    marked = [quote.statement for quote in quotes]
    runs = [
        run
        for run in match_ngrams(statement, post)
        if not any(run.statement[0] < end and start < run.statement[1] for start, end in marked)
    ]
    shared = tuple(match_words(statement, post))
    return PostFacts((*quotes, *runs), shared, tuple(missing), len(post.stems))
