"""What a rationale is compared with: random rationales that are made in the way of its kind.

A test against random tokens measures contiguity where people quote passages: random quotes are then
called anti-faithful, and a causeless pair of neighbours faithful. So a quoted rationale meets
passages of the same lengths (`spans`), scattered words meet words (`words`), and values, whose
rationale is whatever ranks highest, meet tokens. Spans keep to their text. Pure.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from typing import cast

import numpy as np

from services.ice.explanations import TokenizedInput
from services.ice.operators import random_of
from services.ice.report import NullKind, StratumKind
from services.ice.variants import Subset
from shared.contracts.calls import Part
from shared.process.cached import cached_property
from shared.queue.job_context import check_each
from shared.statistics.draws import (
    PERMUTED,
    Choice,
    Rankings,
    first_of_strata,
    first_units,
    placed,
)
from shared.statistics.placements import (
    Placements,
    Places,
    Product,
    Runs,
    RunsWithGaps,
    Subsets,
    Words,
    runs_of,
    strata,
)
from shared.text.english import log_probabilities, parts_of_speech

CLASS_WIDTH = 1.25  # numbers of tokens are alike within a factor of this
ROUNDING = 1e-9
QUINTILES = (0.2, 0.4, 0.6, 0.8)  # of how rare English words are
NAMES = ("rarest", "rare", "medium", "frequent", "most frequent")
FEWEST_MATCHED = 19  # other placements in the class

# a word of its own: Han, kana and Hangul characters have no spaces between words; neither do signs
ALONE = re.compile(r"[^\w\s]|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@dataclass(frozen=True)
class NullSpace:
    """Where rationales of one kind and shape can stand."""

    kind: NullKind
    shape: tuple[object, ...]  # with the kind, what tells it apart within one text
    size: int  # tokens of the observed one
    space: Placements
    units: tuple[Subset, ...] = ()  # the tokens of each unit of the space; none: units are tokens
    choice: Choice | None = field(default=None, compare=False)  # of a ranking: nested over sizes
    split: bool = False  # whether a word lies half inside, so that units are tokens
    strata: StratumKind | None = None
    fixed: tuple[str, ...] = ()  # strata whose tokens are all in the rationale
    matched: bool = False  # placements of about as many tokens only
    sampled: bool = False  # the space is a sample of a larger one

    @property
    def key(self) -> tuple[object, ...]:
        return self.kind, *self.shape

    @property
    def longest(self) -> int:
        """Return how many units the longest passage has, of `spans`."""
        return max(length for lengths in self.shape for length in cast(tuple[int, ...], lengths))

    @property
    def others(self) -> int:
        """How many placements there are besides the observed one."""
        return self.space.count - 1

    def drawn(self, rankings: Rankings, random: np.random.Generator, most: int) -> Iterator[Subset]:
        """Placements in uniform order, each once, the observed one among them; by rank where there
        are no more than `most` others."""
        if self.choice is not None:
            return rankings.distinct(self.space, self.choice, most)
        return map(self.tokens_of, placed(self.space, random, most))

    def tokens_of(self, units: Places) -> Subset:
        return tuple(place for unit in units for place in self.units[unit])


def any_tokens(tokens: int, size: int, kind: NullKind = "tokens") -> NullSpace:
    """As many tokens, anywhere; in rows of words they are words."""
    return NullSpace(kind, (size,), size, Subsets(tokens, size), choice=first_units(size))


def tokens_of_strata(
    labels: Sequence[str], rationale: Subset, strata_kind: StratumKind, kind: NullKind = "tokens"
) -> NullSpace:
    """As many tokens of each stratum. labels: the stratum of each token."""
    taken, whole = Counter(labels[place] for place in rationale), Counter(labels)
    return NullSpace(
        kind,
        (strata_kind, *sorted(taken.items())),
        len(rationale),
        strata(labels, rationale),
        choice=first_of_strata(labels, taken),
        strata=strata_kind,
        fixed=tuple(sorted(name for name in taken if taken[name] == whole[name])),
    )


def null_of(units: TextUnits, rationale: Subset, kind: NullKind | None) -> NullSpace:
    """The null of a rationale of spans. kind: None for the one that suits it."""
    request = units.tokenized.request
    if kind == "tokens":
        return tokens_null(units, rationale)
    split = not units.is_word_aligned(rationale)
    members = tuple((place,) for place in range(units.tokens)) if split else units.words
    passages = units.token_passages if split else units.passages
    inside = set(rationale)
    touched = tuple(place for place, unit in enumerate(members) if unit[0] in inside)
    by_passage = [[p for p in touched if p in set(own)] for own in passages]
    chosen = kind or _select_kind(by_passage)
    sizes = tuple(map(len, members))
    if chosen == "words" and request.strata is not None:
        passages = _by_stratum(passages, [units.labels[unit[0]] for unit in members])
        by_passage = [[p for p in touched if p in set(own)] for own in passages]
    parts = [
        _part(chosen, own, here, sizes) for own, here in zip(passages, by_passage, strict=True)
    ]
    found = NullSpace(
        chosen,
        tuple(shape for shape, _ in parts),
        len(rationale),
        Product(tuple(space for _, space in parts), tuple(map(tuple, passages))),
        members,
        split=split,
        strata=request.strata if chosen == "words" else None,
    )
    return _match_size(found, touched, units) if request.match_tokens else found


def tokens_null(units: TextUnits, rationale: Subset) -> NullSpace:
    """As many tokens, of each stratum where the request asks for that."""
    kind = units.tokenized.request.strata
    if kind is None:
        return any_tokens(units.tokens, len(rationale), units.kind)
    return tokens_of_strata(units.labels, rationale, kind, units.kind)


def _by_stratum(passages: Sequence[list[int]], labels: Sequence[str]) -> list[list[int]]:
    """The units of each passage, apart by stratum."""
    found: list[list[int]] = []
    for own in passages:
        names = sorted({labels[place] for place in own})
        found += [[place for place in own if labels[place] == name] for name in names]
    return found


@dataclass(frozen=True)
class ExplicitPlacements(Placements):
    """Placements that are listed one by one."""

    places: tuple[Places, ...]

    @property
    def count(self) -> int:
        return len(self.places)

    def at(self, rank: int) -> Places:
        return self.places[rank]


def _match_size(null: NullSpace, observed: Places, units: TextUnits) -> NullSpace:
    """Placements in the observed one's class of numbers of tokens; all, where they are too few.

    The classes are fixed, not centred at the observed, so that it is exchangeable with the others.
    Of more than 20,000 placements as many are drawn, and those of the class stand for it.
    """
    if null.kind not in ("spans", "spans_gaps") or null.split:
        return null
    own = _class_of(null.size)
    random = random_of(units.tokenized.request, "class", *null.key)
    every = islice(placed(null.space, random, PERMUTED), PERMUTED)
    found = [one for one in check_each(every) if _class_of(len(null.tokens_of(one))) == own]
    if len(found) < FEWEST_MATCHED + (observed in found):
        return null
    if observed not in found:
        found.append(observed)
    sampled = null.sampled or null.space.count > PERMUTED + 1
    return replace(
        null,
        shape=(*null.shape, "class", own),
        space=ExplicitPlacements(tuple(found)),
        matched=True,
        sampled=sampled,
    )


def _class_of(tokens: int) -> int:
    return math.floor(math.log(tokens) / math.log(CLASS_WIDTH) + ROUNDING)


def _select_kind(by_passage: Sequence[Sequence[int]]) -> NullKind:
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
        """Kind of a place among the eligible ones."""
        return "tokens" if self.tokenized.words is None else "words"

    @cached_property
    def words(self) -> tuple[Subset, ...]:
        """(W,) the places of each word's tokens; a punctuation token is a word by itself. In rows
        of words every place is one."""
        if self.tokenized.words is not None:
            return tuple((place,) for place in range(self.tokens))
        found: list[list[int]] = []
        for place in range(self.tokens):
            if found and self._is_continuation(place):
                found[-1].append(place)
            else:
                found.append([place])
        return tuple(map(tuple, found))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """(E,) the stratum of each eligible token: that of its word."""
        kind = self.tokenized.request.strata
        if kind is None:
            return ("",) * self.tokens
        found = [""] * self.tokens
        written = [self._text_between(word[0], word[-1]) for word in self.words]
        for word, label in zip(self.words, strata_of(written, kind), strict=True):
            for place in word:
                found[place] = label
        return tuple(found)

    @cached_property
    def passages(self) -> list[list[int]]:
        """The words of each text: spans do not cross from one into the other."""
        parts = [self._part(word[0]) for word in self.words]
        return _group_by_part(parts)

    @cached_property
    def token_passages(self) -> list[list[int]]:
        return _group_by_part([self._part(place) for place in range(self.tokens)])

    def is_word_aligned(self, rationale: Subset) -> bool:
        """Whether every word lies inside the rationale or outside."""
        inside = set(rationale)
        return all(len(inside & set(word)) in (0, len(word)) for word in self.words)

    def _part(self, place: int) -> Part:
        return self.tokenized.tokens.parts[self.tokenized.eligible[place]]

    def _is_continuation(self, place: int) -> bool:
        """Whether a token belongs to the word of the one before it."""
        if self._part(place) != self._part(place - 1):
            return False
        tokens, eligible = self.tokenized.tokens, self.tokenized.eligible
        start, before = tokens.starts[eligible[place]], tokens.ends[eligible[place - 1]]
        # a token of some models begins with the space before its word
        touch = start is not None and start == before and not self._text(place)[start].isspace()
        return touch and not (self._is_separate(place) or self._is_separate(place - 1))

    def _is_separate(self, place: int) -> bool:
        written = self._text_between(place, place)
        return bool(written) and ALONE.fullmatch(written[0]) is not None

    def _text_between(self, first: int, last: int) -> str:
        """The text from one token to another."""
        tokens, eligible = self.tokenized.tokens, self.tokenized.eligible
        return self._text(first)[
            tokens.starts[eligible[first]] : tokens.ends[eligible[last]]
        ].strip()

    def _text(self, place: int) -> str:
        """Return the text that a token is of."""
        request = self.tokenized.request
        return request.text_pair or "" if self._part(place) == "text_pair" else request.text


def _group_by_part(parts: Sequence[Part]) -> list[list[int]]:
    numbered = groupby(enumerate(parts), key=lambda pair: pair[1])
    return [[place for place, _ in group] for _, group in numbered]


def strata_of(words: Sequence[str], kind: StratumKind) -> list[str]:
    """The stratum of each word of a text, in its order."""
    if kind == "pos":
        return parts_of_speech(words)
    known = log_probabilities()
    least = min(known.values())
    values = [known.get(word, known.get(word.lower(), least)) for word in words]
    edges = np.quantile(values, QUINTILES).tolist() if values else []
    return [NAMES[bisect_left(edges, value)] for value in values]
