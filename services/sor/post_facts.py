"""Parts of a post that a statement mentions: quotations of the post, and its words.

A quotation is text in quotation marks, or four consecutive words that both texts share, including
two content words. A weaker mention is a content word of the post that the statement uses. Words of
a cited rule do not count. An ellipsis divides a quotation into parts, which must occur in the post
in order, without an omitted negation between them."""

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
CONTENT_OF_RUN = 2  # content words of a run
ENOUGH = 3  # different content words of the post that count as its facts


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """A passage of the post that the statement repeats: a quotation, one part of a quotation, or a
    run of equal words without quotation marks."""

    statement: Span  # inside of the quotation marks
    post: Span  # of the part


Quotes = tuple[list[QuoteMatch], list[Span]]  # quotations in the post; spans of all others


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A content word of the post that the statement uses, with its first position in both."""

    statement: Span
    post: Span
    stem: str


@dataclass(frozen=True)
class PostWords:
    """A post, indexed for searches."""

    text: str
    words: list[StatementWord] = field(default_factory=list)  # normalised, offsets into `text`
    joined: str = ""
    starts: dict[int, int] = field(default_factory=dict)  # offset into `joined` → index of a word
    stems: dict[str, int] = field(default_factory=dict)  # of content words → index of the first
    runs: dict[tuple[str, ...], int] = field(default_factory=dict)  # four words → their first index

    @classmethod
    def of(cls, text: str, stem_of: StemOf = english_stem) -> PostWords:
        """Index a post. `stem_of` returns the stem of a word, or None for words without content."""
        normalized = normalize(text)
        post_words = []
        for word in words(normalized.text):
            start, end = normalized.original(word.start, word.end)
            post_words.append(replace(word, start=start, end=end))
        starts, offset, parts = {}, 1, []
        stems: dict[str, int] = {}
        for index, word in enumerate(post_words):
            starts[offset] = index
            parts.append(word.folded)
            offset += len(word.folded) + 1
            if (stem := stem_of(word)) is not None:
                stems.setdefault(stem, index)
        rows = zip(*(parts[start:] for start in range(RUN)), strict=False)
        runs = {row: index for index, row in reversed(list(enumerate(rows)))}
        return cls(text, post_words, f" {' '.join(parts)} ", starts, stems, runs)

    def find(self, parts: Sequence[Sequence[StatementWord]]) -> list[Span]:
        """Return the spans of a quotation's parts, in order. The list is empty if a part is
        missing, or if a negation between two parts is omitted."""
        spans: list[Span] = []
        offset = 0
        for part in parts:
            needle = f" {' '.join(word.folded for word in part)} "
            offset = self.joined.find(needle, offset)
            if offset < 0:
                return []
            first = self.starts[offset + 1]
            spans.append((self.words[first].start, self.words[first + len(part) - 1].end))
            offset += len(needle) - 1
        left_out = (self.text[end:start] for (_, end), (start, _) in pairwise(spans))
        return [] if any(map(negates, left_out)) else spans


@dataclass(frozen=True)
class PostFacts:
    """The overlap of one statement with one post: quotations of the post and shared words.
    `missing` holds quotations in the statement that are not in the post."""

    quotes: tuple[QuoteMatch, ...]
    shared: tuple[WordMatch, ...]
    missing: tuple[Span, ...]  # of the statement
    words: int  # different content words of the post

    @property
    def weight(self) -> int:
        """The number of the post's content words in the statement. Each quotation counts as 3."""
        return ENOUGH * self.quotations + len(self.shared)

    @property
    def quotations(self) -> int:
        """The number of quotations and runs of words from the post."""
        return len({quote.statement for quote in self.quotes})


@dataclass(frozen=True)
class StatementWords:
    """A statement, prepared for comparison with posts."""

    words: list[StatementWord]
    quoted: list[tuple[Span, list[list[StatementWord]]]]  # quotations, in parts between ellipses
    content: dict[str, StatementWord] = field(default_factory=dict)  # stem → first, without rules'

    @classmethod
    def of(cls, text: str) -> StatementWords:
        """Prepare a normalised text for comparison."""
        quoted = []
        for start, end in quotations(text)[:MOST_QUOTATIONS]:
            parts = (words(part) for part in text[start:end].split("..."))
            quoted.append(((start, end), [part for part in parts if part]))
        return cls(words(text), quoted)

    def with_content(self, text: str, stem_of: StemOf) -> StatementWords:
        """Return a copy with the content words of `text`. Sentences that state a rule, and
        quotations of the post, must be blanked out in `text`."""
        content: dict[str, StatementWord] = {}
        for word in words(text):
            if (stem := stem_of(word)) is not None:
                content.setdefault(stem, word)
        return replace(self, content=content)


def match_quotes(statement: StatementWords, post: PostWords) -> Quotes:
    """Return the quotations that are in the post, and the spans of those that are not."""
    located, missing = [], []
    for span, parts in statement.quoted:
        # quoting "the" points at nothing; two words of any kind do
        has_content = any(len(part) > 1 or part[0].is_content for part in parts)
        positions = post.find(parts) if has_content else []
        located += [QuoteMatch(span, position) for position in positions]
        if parts and not positions:
            missing.append(span)
    return located, missing


def match_ngrams(statement: StatementWords, post: PostWords) -> Iterator[QuoteMatch]:
    """Yield runs of four consecutive words that both texts share, with or without quotation marks.
    Runs with too few content words are left out."""
    start = 0
    while start + RUN <= len(statement.words):
        run = statement.words[start : start + RUN]
        first = post.runs.get(tuple(word.folded for word in run))
        if first is None or sum(word.is_content for word in run) < CONTENT_OF_RUN:
            start += 1
            continue
        span = post.words[first].start, post.words[first + RUN - 1].end
        yield QuoteMatch((run[0].start, run[-1].end), span)
        start += RUN


def match_words(statement: StatementWords, post: PostWords) -> Iterator[WordMatch]:
    """Yield each content word of the post that the statement uses, at its first use."""
    for stem, word in statement.content.items():
        index = post.stems.get(stem)
        if index is not None:
            first = post.words[index]
            yield WordMatch((word.start, word.end), (first.start, first.end), stem)


def facts_of(
    statement: StatementWords, post: PostWords, matched: Quotes | None = None
) -> PostFacts:
    """Return how a statement refers to a post: quotations, shared words, and quotations that are
    not in the post. `matched` holds the quotations if known."""
    quotes, missing = matched or match_quotes(statement, post)
    marked = [quote.statement for quote in quotes]
    runs = [
        run
        for run in match_ngrams(statement, post)
        if not any(run.statement[0] < end and start < run.statement[1] for start, end in marked)
    ]
    shared = tuple(match_words(statement, post))
    return PostFacts((*quotes, *runs), shared, tuple(missing), len(post.stems))
