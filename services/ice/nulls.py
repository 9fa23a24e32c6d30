"""What a rationale is compared with: random rationales that are made in the way of its kind.

A test against random tokens measures contiguity where people quote passages: random quotes are then
called anti-faithful, and a causeless pair of neighbours faithful. So a quoted rationale meets
passages of the same lengths (`spans`), scattered words meet words (`words`), and values, whose
rationale is whatever ranks highest, meet tokens. Spans keep to their text. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from services.ice.explanations import TokenizedInput
from services.ice.report import NullKind
from services.ice.subsets import Subset, count_others
from shared.models.calls import Part
from shared.statistics.draws import ranks_of
from shared.statistics.placements import (
    Placements,
    Places,
    Product,
    Runs,
    RunsWithGaps,
    Words,
    runs_of,
)

# a word of its own: Han, kana and Hangul characters have no spaces between words; neither do signs
ALONE = re.compile(r"[^\w\s]|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@dataclass(frozen=True)
class NullSpace:
    """Where rationales of one kind and shape can stand."""

    kind: NullKind
    shape: tuple[object, ...]  # with the kind, what tells it apart within one text
    size: int  # tokens of the observed one
    space: Placements | None = None  # None: any tokens
    units: tuple[Subset, ...] = ()  # the tokens of each unit of the space
    split: bool = False  # whether a word lies half inside, so that units are tokens

    @property
    def key(self) -> tuple[object, ...]:
        return self.kind, *self.shape

    def others(self, eligible: int) -> int:
        """How many placements there are besides the observed one."""
        return count_others(eligible, self.size) if self.space is None else self.space.count - 1

    def stream(self, random: np.random.Generator, first: int) -> Iterator[Subset]:
        """All placements in uniform order, the observed one among them; by rank where there are
        no more than `first` others."""
        if self.space is None:
            raise ValueError("tokens are drawn as the variant draws them")
        for rank in ranks_of(self.space.count, random, first):
            yield self.tokens_of(self.space.at(rank))

    def tokens_of(self, units: Places) -> Subset:
        return tuple(place for unit in units for place in self.units[unit])


def any_tokens(size: int, kind: NullKind = "tokens") -> NullSpace:
    """As many tokens, anywhere; in rows of words they are words."""
    return NullSpace(kind, (size,), size)


def null_of(units: TextUnits, rationale: Subset, kind: NullKind | None) -> NullSpace:
    """The null of a rationale of spans. kind: None for the one that suits it."""
    if kind == "tokens":
        return any_tokens(len(rationale), units.kind)
    split = not units.holds_whole(rationale)
    members = tuple((place,) for place in range(units.tokens)) if split else units.words
    passages = units.token_passages if split else units.passages
    inside = set(rationale)
    touched = tuple(place for place, unit in enumerate(members) if unit[0] in inside)
    by_passage = [[p for p in touched if p in set(own)] for own in passages]
    chosen = kind or _suiting(by_passage)
    sizes = tuple(map(len, members))
    parts = [
        _part(chosen, own, here, sizes) for own, here in zip(passages, by_passage, strict=True)
    ]
    return NullSpace(
        chosen,
        tuple(shape for shape, _ in parts),
        len(rationale),
        Product(tuple(space for _, space in parts), tuple(map(tuple, passages))),
        members,
        split,
    )


def _suiting(by_passage: Sequence[Sequence[int]]) -> NullKind:
    """`words` for single scattered words, else `spans`."""
    runs = [run for here in by_passage for run in runs_of(tuple(here))]
    alone = all(end - start == 1 for start, end in runs)
    return "words" if alone and len(runs) > 1 else "spans"


def _part(
    kind: NullKind, own: Sequence[int], here: Sequence[int], sizes: Sequence[int]
) -> tuple[tuple[int, ...], Placements]:
    """(what tells it apart, the placements) of one passage; places are counted from its begin."""
    first = own[0] if own else 0
    places = tuple(place - first for place in here)
    if kind == "words":
        tokens = sum(sizes[place] for place in here)
        return (len(here), tokens), Words(tuple(sizes[p] for p in own), len(here), tokens)
    runs = runs_of(places)
    lengths = tuple(sorted(end - start for start, end in runs))
    if kind == "spans":
        return lengths, Runs(len(own), lengths)
    gaps = tuple(sorted(after[0] - before[1] for before, after in pairwise(runs)))
    return (*lengths, 0, *gaps), RunsWithGaps(len(own), lengths, gaps)


@dataclass(frozen=True)
class TextUnits:
    """The words of a text as a model reads it: eligible tokens whose characters touch."""

    tokenized: TokenizedInput

    @property
    def tokens(self) -> int:
        return len(self.tokenized.eligible)

    @property
    def kind(self) -> NullKind:
        """What a place among the eligible ones is."""
        return "tokens" if self.tokenized.words is None else "words"

    @cached_property
    def words(self) -> tuple[Subset, ...]:
        """(W,) the places of each word's tokens; a punctuation token is a word by itself. In rows
        of words every place is one."""
        if self.tokenized.words is not None:
            return tuple((place,) for place in range(self.tokens))
        found: list[list[int]] = []
        for place in range(self.tokens):
            if found and self._continues(place):
                found[-1].append(place)
            else:
                found.append([place])
        return tuple(map(tuple, found))

    @cached_property
    def passages(self) -> list[list[int]]:
        """The words of each text: spans do not cross from one into the other."""
        parts = [self._part(word[0]) for word in self.words]
        return _grouped(parts)

    @cached_property
    def token_passages(self) -> list[list[int]]:
        return _grouped([self._part(place) for place in range(self.tokens)])

    def holds_whole(self, rationale: Subset) -> bool:
        """Whether every word lies inside the rationale or outside."""
        inside = set(rationale)
        return all(len(inside & set(word)) in (0, len(word)) for word in self.words)

    def _part(self, place: int) -> Part:
        return self.tokenized.tokens.parts[self.tokenized.eligible[place]]

    def _continues(self, place: int) -> bool:
        """Whether a token belongs to the word of the one before it."""
        if self._part(place) != self._part(place - 1):
            return False
        tokens, eligible = self.tokenized.tokens, self.tokenized.eligible
        start, before = tokens.starts[eligible[place]], tokens.ends[eligible[place - 1]]
        touch = start is not None and start == before
        return touch and not (self._alone(place) or self._alone(place - 1))

    def _alone(self, place: int) -> bool:
        tokens, token = self.tokenized.tokens, self.tokenized.eligible[place]
        request = self.tokenized.request
        text = request.text_pair or "" if self._part(place) == "text_pair" else request.text
        written = text[tokens.starts[token] : tokens.ends[token]].strip()
        return bool(written) and ALONE.fullmatch(written[0]) is not None


def _grouped(parts: Sequence[Part]) -> list[list[int]]:
    numbered = groupby(enumerate(parts), key=lambda pair: pair[1])
    return [[place for place, _ in group] for _, group in numbered]
