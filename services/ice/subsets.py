"""Random rationales: subsets of the eligible tokens.

Our own, after arXiv:2603.18579, Algorithm 1. The generator is counter-based (Philox) and keyed by
seed, text and size: neither the order of examples, nor a batch, nor the explanation moves a draw.
So several explanations of one text meet the same subsets, each less its own rationale; a uniform
rationale and its null are then an exchangeable sample without replacement_token.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

Subset = tuple[int, ...]  # ascending places among the eligible tokens

BLOCK = 64  # subsets drawn at a time; part of the definition of the draws
ENUMERATED = 20_000  # so many or fewer subsets are listed and shuffled


def count_others(eligible: int, size: int) -> int:
    """How many subsets of this size there are besides a given one."""
    return comb(eligible, size) - 1


def all_subsets(eligible: int, size: int) -> Iterator[Subset]:
    """All subsets of this size, in lexicographic order."""
    return combinations(range(eligible), size)


def distinct(random: np.random.Generator, eligible: int, size: int) -> Iterator[Subset]:
    """Uniform subsets without repetition, until there are no more. A longer draw only adds."""
    if comb(eligible, size) <= ENUMERATED:
        listed = list(all_subsets(eligible, size))
        yield from (listed[place] for place in random.permutation(len(listed)))
        return
    seen: set[Subset] = set()
    while True:
        for subset in _block(random, eligible, size):
            if subset not in seen:
                seen.add(subset)
                yield subset


def _block(random: np.random.Generator, eligible: int, size: int) -> list[Subset]:
    """Uniform subsets: the places of the smallest of uniform keys."""
    keys = random.random((BLOCK, eligible))
    chosen = np.sort(np.argpartition(keys, size - 1, axis=1)[:, :size], axis=1)
    return list(map(tuple, chosen.tolist()))


def independent(random: np.random.Generator, eligible: int, size: int) -> Iterator[Subset]:
    """Uniform subsets that may repeat, as Algorithm 1 draws them."""
    while True:
        yield from _block(random, eligible, size)


def released(seed: int, eligible: int, size: int) -> Iterator[Subset]:
    """As `ICEEvaluator` of ice-faithfulness 1.0.1 draws for the first example after this seed."""
    random = np.random.RandomState(seed % 2**32)
    while True:
        yield tuple(sorted(random.choice(eligible, size=size, replace=False).tolist()))
