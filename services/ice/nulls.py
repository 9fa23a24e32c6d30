"""Draws random sets of words or tokens to compare with the words that an explanation marks.

Quoted passages are compared with passages of the same lengths (`spans`), scattered words with words
(`words`), and the tokens of highest value with tokens. If all were compared with tokens, random
quotes would seem anti-faithful, and an irrelevant pair of neighbours faithful. Spans stay within
their text. Pure functions."""

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
    """The random token sets of one kind and shape, from which a null distribution is sampled."""

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
        """Return the length of the longest marked passage, in words or tokens."""
        return max(length for lengths in self.shape for length in cast(tuple[int, ...], lengths))

    @property
    def others(self) -> int:
        """Return the number of random sets without the observed one."""
        return self.space.count - 1

    def drawn(self, rankings: Rankings, random: np.random.Generator, most: int) -> Iterator[Subset]:
        """Yield every set at most once in uniform random order, including the set that is marked.
        If there are at most `most` others, they come in the order of their ranks."""
        if self.choice is not None:
            return rankings.distinct(self.space, self.choice, most)
        return map(self.tokens_of, placed(self.space, random, most))

    def tokens_of(self, units: Places) -> Subset:
        return tuple(position for unit in units for position in self.units[unit])


def any_tokens(tokens: int, size: int, kind: NullKind = "tokens") -> NullSpace:
    """Return the null distribution of all sets of `size` tokens, or of `size` words if `kind` is
    words."""
    return NullSpace(kind, (size,), size, Subsets(tokens, size), choice=first_units(size))


def tokens_of_strata(
    labels: Sequence[str], rationale: Subset, strata_kind: StratumKind, kind: NullKind = "tokens"
) -> NullSpace:
    """Return all possible random sets with the same number of tokens from each stratum (group of
    words). `labels` has the stratum of each token."""
    taken, whole = Counter(labels[position] for position in rationale), Counter(labels)
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
    """Return all possible random sets of units to compare with the rationale (the marked spans). If
    `kind` is None, the kind of null distribution follows from the spans."""
    request = units.tokenized.request
    if kind == "tokens":
        return tokens_null(units, rationale)
    split = not units.is_word_aligned(rationale)
    members = tuple((index,) for index in range(units.tokens)) if split else units.words
    passages = units.token_passages if split else units.passages
    inside = set(rationale)
    touched = tuple(index for index, unit in enumerate(members) if unit[0] in inside)
    by_passage = [[p for p in touched if p in set(passage)] for passage in passages]
    null_kind = kind or _select_kind(by_passage)
    sizes = tuple(map(len, members))
    if null_kind == "words" and request.options.strata is not None:
        passages = _by_stratum(passages, [units.labels[unit[0]] for unit in members])
        by_passage = [[p for p in touched if p in set(passage)] for passage in passages]
    parts = [
        _part(null_kind, passage, here, sizes)
        for passage, here in zip(passages, by_passage, strict=True)
    ]
    null_space = NullSpace(
        null_kind,
        tuple(shape for shape, _ in parts),
        len(rationale),
        Product(tuple(space for _, space in parts), tuple(map(tuple, passages))),
        members,
        split=split,
        strata=request.options.strata if null_kind == "words" else None,
    )
    return _match_size(null_space, touched, units) if request.options.match_tokens else null_space


def tokens_null(units: TextUnits, rationale: Subset) -> NullSpace:
    """Return all possible random sets of the same number of tokens, by stratum (group of words) if
    the request has strata."""
    kind = units.tokenized.request.options.strata
    if kind is None:
        return any_tokens(units.tokens, len(rationale), units.kind)
    return tokens_of_strata(units.labels, rationale, kind, units.kind)


def _by_stratum(passages: Sequence[list[int]], labels: Sequence[str]) -> list[list[int]]:
    """Split each passage by the strata (groups of units) of its units. Return one list of units for
    each passage and stratum."""
    groups: list[list[int]] = []
    for passage in passages:
        names = sorted({labels[unit] for unit in passage})
        groups += [[unit for unit in passage if labels[unit] == name] for name in names]
    return groups


@dataclass(frozen=True)
class ExplicitPlacements(Placements):
    """Placements given by an explicit list of random token sets."""

    places: tuple[Places, ...]

    @property
    def count(self) -> int:
        return len(self.places)

    def at(self, rank: int) -> Places:
        return self.places[rank]


def _match_size(null: NullSpace, observed: Places, units: TextUnits) -> NullSpace:
    """Keep the random sets in the same size class (range of token counts) as the observed set. If
    there are too few of these, keep all sets. Of more than 20,000 sets, 20,000 are drawn."""
    if null.kind not in ("spans", "spans_gaps") or null.split:
        return null
    size_class = _class_of(null.size)
    random = random_of(units.tokenized.request, "class", *null.key)
    every = islice(placed(null.space, random, PERMUTED), PERMUTED)
    matched = [
        units_drawn
        for units_drawn in check_each(every)
        if _class_of(len(null.tokens_of(units_drawn))) == size_class
    ]
    if len(matched) < FEWEST_MATCHED + (observed in matched):
        return null
    if observed not in matched:
        matched.append(observed)
    sampled = null.sampled or null.space.count > PERMUTED + 1
    return replace(
        null,
        shape=(*null.shape, "class", size_class),
        space=ExplicitPlacements(tuple(matched)),
        matched=True,
        sampled=sampled,
    )


def _class_of(tokens: int) -> int:
    return math.floor(math.log(tokens) / math.log(CLASS_WIDTH) + ROUNDING)


def _select_kind(by_passage: Sequence[Sequence[int]]) -> NullKind:
    """Return `words` if the rationale is several isolated words, else `spans`."""
    runs = [run for here in by_passage for run in runs_of(tuple(here))]
    alone = all(end - start == 1 for start, end in runs)
    return "words" if alone and len(runs) > 1 else "spans"


def _part(
    kind: NullKind, passage: Sequence[int], here: Sequence[int], sizes: Sequence[int]
) -> tuple[tuple[int, ...], Placements]:
    """Return (shape, placements) for one passage. The shape holds the sizes of the marked parts and
    of fixed gaps. The placements are all sets of positions with this shape."""
    first = passage[0] if passage else 0
    positions = tuple(position - first for position in here)
    if kind == "words":
        tokens = sum(sizes[position] for position in here)
        return (len(here), tokens), Words(tuple(sizes[p] for p in passage), len(here), tokens)
    runs = runs_of(positions)
    lengths = tuple(sorted(end - start for start, end in runs))
    if kind == "spans":
        return lengths, Runs(len(passage), lengths)
    gaps = tuple(sorted(after[0] - before[1] for before, after in pairwise(runs)))
    return (*lengths, 0, *gaps), RunsWithGaps(len(passage), lengths, gaps)


@dataclass(frozen=True)
class TextUnits:
    """The words of a text as the model reads the text. A word is a run of adjacent tokens that may
    be removed in the test."""

    tokenized: TokenizedInput

    @property
    def tokens(self) -> int:
        return len(self.tokenized.eligible)

    @property
    def kind(self) -> NullKind:
        """Return the unit of a text: `tokens` or `words`."""
        return "tokens" if self.tokenized.words is None else "words"

    @cached_property
    def words(self) -> tuple[Subset, ...]:
        """The positions of each word's tokens. Punctuation is a separate word. If the model reads
        words instead of tokens, every position is a word."""
        if self.tokenized.words is not None:
            return tuple((position,) for position in range(self.tokens))
        groups: list[list[int]] = []
        for position in range(self.tokens):
            if groups and self._is_continuation(position):
                groups[-1].append(position)
            else:
                groups.append([position])
        return tuple(map(tuple, groups))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The stratum (group of words) to which each of the E testable tokens belongs."""
        kind = self.tokenized.request.options.strata
        if kind is None:
            return ("",) * self.tokens
        strata_names = [""] * self.tokens
        written = [self._text_between(word[0], word[-1]) for word in self.words]
        for word, label in zip(self.words, strata_of(written, kind), strict=True):
            for position in word:
                strata_names[position] = label
        return tuple(strata_names)

    @cached_property
    def passages(self) -> list[list[int]]:
        """Return the indices of the words of each text. The text and its pair have separate lists,
        so that no span crosses from one into the other."""
        parts = [self._part(word[0]) for word in self.words]
        return _group_by_part(parts)

    @cached_property
    def token_passages(self) -> list[list[int]]:
        return _group_by_part([self._part(position) for position in range(self.tokens)])

    def is_word_aligned(self, rationale: Subset) -> bool:
        """Return True if every word is either inside or outside the marked tokens."""
        inside = set(rationale)
        return all(len(inside & set(word)) in (0, len(word)) for word in self.words)

    def _part(self, position: int) -> Part:
        return self.tokenized.tokens.parts[self.tokenized.eligible[position]]

    def _is_continuation(self, position: int) -> bool:
        """Return True if a token continues the word of the token before it."""
        if self._part(position) != self._part(position - 1):
            return False
        tokens, eligible = self.tokenized.tokens, self.tokenized.eligible
        start, before = tokens.starts[eligible[position]], tokens.ends[eligible[position - 1]]
        # a token of some models begins with the space before its word
        touch = start is not None and start == before and not self._text(position)[start].isspace()
        return touch and not (self._is_separate(position) or self._is_separate(position - 1))

    def _is_separate(self, position: int) -> bool:
        written = self._text_between(position, position)
        return bool(written) and ALONE.fullmatch(written[0]) is not None

    def _text_between(self, first: int, last: int) -> str:
        """Return the text from the first character of one token to the last of another."""
        tokens, eligible = self.tokenized.tokens, self.tokenized.eligible
        return self._text(first)[
            tokens.starts[eligible[first]] : tokens.ends[eligible[last]]
        ].strip()

    def _text(self, position: int) -> str:
        """Return the text to which a token belongs."""
        request = self.tokenized.request
        return request.text_pair or "" if self._part(position) == "text_pair" else request.text


def _group_by_part(parts: Sequence[Part]) -> list[list[int]]:
    numbered = groupby(enumerate(parts), key=lambda pair: pair[1])
    return [[index for index, _ in group] for _, group in numbered]


def strata_of(words: Sequence[str], kind: StratumKind) -> list[str]:
    """Return the stratum (group) of each word of a text, in order."""
    if kind == "pos":
        return parts_of_speech(words)
    frequencies = log_probabilities()
    least = min(frequencies.values())
    values = [frequencies.get(word, frequencies.get(word.lower(), least)) for word in words]
    edges = np.quantile(values, QUINTILES).tolist() if values else []
    return [NAMES[bisect_left(edges, value)] for value in values]
