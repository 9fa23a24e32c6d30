"""Random rationales of the published variants: subsets of the eligible tokens that may repeat.

Those of variant robust are rankings and placements (services.ice.nulls).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

Subset = tuple[int, ...]  # ascending places among the eligible tokens

BLOCK = 64  # subsets drawn at a time; part of the definition of the draws


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
