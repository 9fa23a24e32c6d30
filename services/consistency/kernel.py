"""The formulas of `consistency`: arrays in, numbers out; None is "undefined".

Source of precision: Chen et al. (2023), arXiv:2307.08678, section 3: the share of the
counterfactuals that the explanation predicts on which the model answers as predicted. Source of the
agreement: Parcalabescu & Frank, ACL 2024, arXiv:2311.07466, section 4: the cosine of the input's
contributions to answer and to explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Predictions = NDArray[np.int8]

CHANGES, STAYS, UNKNOWN = 1, 0, -1  # what is predicted of an edit's answer


def predictions(cited: Bools) -> Predictions:
    """(K, K) what citing the row's words predicts of an edit that takes the column's words away.

    cited: (K, n) words of each citation. All cited words gone: the answer changes; none: it stays;
    some: not predicted.
    """
    counts = cited.astype(np.int64)
    shared, sizes = counts @ counts.T, counts.sum(axis=1)[:, None]
    return np.where(shared == sizes, CHANGES, np.where(shared == 0, STAYS, UNKNOWN)).astype(np.int8)


@dataclass(frozen=True)
class Precision:
    """value: None where no edit is predicted, or, balanced, where those of one kind are missing."""

    value: float | None
    changes: float | None
    stays: float | None
    predicted: int


def precision(predicted: Predictions, changed: Bools, *, balanced: bool) -> Precision:
    """predicted: (K,). changed: (K,) whether the model's answer is another one, or (O, K)."""
    changed = np.atleast_2d(changed)
    will, wont = predicted == CHANGES, predicted == STAYS
    changes = float(changed[:, will].mean()) if will.any() else None
    stays = float((~changed[:, wont]).mean()) if wont.any() else None
    count = int(will.sum() + wont.sum())
    weights = (1, 1) if balanced else (int(will.sum()), int(wont.sum()))
    return Precision(
        value=_weighted((changes, stays), weights, demanding=balanced),
        changes=changes,
        stays=stays,
        predicted=count * len(changed),
    )


def _weighted(
    values: tuple[float | None, float | None], weights: tuple[int, int], *, demanding: bool
) -> float | None:
    known = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None]
    if not known or (demanding and len(known) < len(values)):
        return None
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known)


def agreeing(predicted: Predictions, changed: Bools) -> Bools:
    """(K,) whether the answer is as predicted; False where nothing is predicted."""
    return np.asarray((predicted == changed) & (predicted != UNKNOWN))


def cosine(first: Floats, second: Floats) -> float | None:
    """[-1, 1] of two (n,); None where one of them is zero throughout."""
    sizes = float(np.linalg.norm(first) * np.linalg.norm(second))
    return None if sizes == 0 else float(np.clip(first @ second / sizes, -1, 1))


def cosines(fixed: Floats, moved: Floats) -> Floats:
    """(M,) of (n,) with each row of (M, n) of the same length as each other."""
    sizes = np.linalg.norm(fixed) * np.linalg.norm(moved, axis=1)
    return np.asarray(np.clip(moved @ fixed / sizes, -1, 1))


def agreement(similarity: float | None) -> float | None:
    """[0, 1] from a cosine: chance, about 0, becomes 0.5."""
    return None if similarity is None else (1 + similarity) / 2


def mean(values: Sequence[float | None]) -> float | None:
    """Of what is defined; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def occlusion_rows(words: int) -> Bools:
    """(1 + n, n) which words stand in each row: all, then all but one."""
    return np.vstack([np.ones((1, words), dtype=bool), ~np.eye(words, dtype=bool)])


def occlusion(values: Floats) -> Floats:
    """(n, T) contributions from (1 + n, T) values of `occlusion_rows`: what is lost without."""
    return np.asarray(values[0] - values[1:])


def shapley_rows(orders: Sequence[Sequence[int]], words: int) -> Bools:
    """(Q (n + 1), n) which words stand in each row: of each order none, then one more each."""
    rows = np.zeros((len(orders), words + 1, words), dtype=bool)
    for number, order in enumerate(orders):
        for step, word in enumerate(order, 1):
            rows[number, step:, word] = True
    return rows.reshape(-1, words)


def shapley(values: Floats, orders: Sequence[Sequence[int]]) -> Floats:
    """(n, T) mean marginal contributions from (Q (n + 1), T) values of `shapley_rows`.

    Castro, Gómez & Tejada (2009), Comput. Oper. Res. 36: Shapley values by sampled orders; in each
    order contributions add up to all less nothing.
    """
    words = len(orders[0])
    steps = np.diff(values.reshape(len(orders), words + 1, -1), axis=1)  # (Q, n, T)
    total = np.zeros(steps.shape[1:])
    for order, step in zip(orders, steps, strict=True):
        total[list(order)] += step
    return total / len(orders)


def mean_ratios(contributions: Floats) -> Floats:
    """(n,) mean over tokens of each token's shares; tokens that no word moves are left out.

    contributions: (n, T). A token's share: contribution over the sum of absolute contributions.
    """
    sizes = np.abs(contributions).sum(axis=0)
    moved = sizes > 0
    if not moved.any():
        return np.zeros(len(contributions))
    return np.asarray((contributions[:, moved] / sizes[moved]).mean(axis=1))


def permutation_count(strata: Sequence[Sequence[int]]) -> int:
    """Orders that keep every stratum in its places, the given one among them."""
    return prod(factorial(len(stratum)) for stratum in strata)


def permuted(
    strata: Sequence[Sequence[int]], random: np.random.Generator, most: int
) -> NDArray[np.int64]:
    """(M, n) distinct orders of 0..n-1 within strata, without the given one: `most`, or all."""
    words = sum(map(len, strata))
    identity = tuple(range(words))
    drawn = (
        _every(strata, words)
        if permutation_count(strata) - 1 <= most
        else _drawn(strata, random, words)
    )
    seen: dict[tuple[int, ...], None] = {}
    for order in drawn:
        if order != identity:
            seen.setdefault(order)
        if len(seen) == most:
            break
    return np.array(list(seen), dtype=np.int64).reshape(len(seen), words)


def _every(strata: Sequence[Sequence[int]], words: int) -> Iterator[tuple[int, ...]]:
    for orders in product(*(permutations(stratum) for stratum in strata)):
        yield _placed(strata, orders, words)


def _drawn(
    strata: Sequence[Sequence[int]], random: np.random.Generator, words: int
) -> Iterator[tuple[int, ...]]:
    while True:
        orders = [random.permutation(np.array(stratum)).tolist() for stratum in strata if stratum]
        yield _placed([stratum for stratum in strata if stratum], orders, words)


def _placed(
    strata: Sequence[Sequence[int]], orders: Sequence[Sequence[int]], words: int
) -> tuple[int, ...]:
    found = [0] * words
    for stratum, order in zip(strata, orders, strict=True):
        for place, word in zip(stratum, order, strict=True):
            found[place] = word
    return tuple(found)


def orders_of(random: np.random.Generator, words: int, count: int) -> list[list[int]]:
    """So many uniform orders of the words."""
    return [random.permutation(words).tolist() for _ in range(count)]
