"""The formulas of `consistency` as pure functions, which return None for an undefined value.

Precision is the share of correct predictions of the model's answers to edited texts: Chen et al.
(2023), arXiv:2307.08678, section 3. Agreement is the cosine between two vectors, the words'
contributions to the answer and to the explanation: Parcalabescu & Frank, ACL 2024,
arXiv:2311.07466, section 4."""

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

CHANGES, STAYS, UNKNOWN = 1, 0, -1  # predictions of an edit's answer


def predictions(cited: Bools) -> Predictions:
    """Predict the effect of K edits for each of K passages, as if that passage were the cited one.

    In the (K, K) result, row i cites passage i and column j removes passage j. `cited`, of shape
    (K, n), marks the words of each passage. Removing all cited words should change the answer, and
    removing none should keep it. Otherwise the prediction is unknown."""
    counts = cited.astype(np.int64)
    shared, sizes = counts @ counts.T, counts.sum(axis=1)[:, None]
    return np.where(shared == sizes, CHANGES, np.where(shared == 0, STAYS, UNKNOWN)).astype(np.int8)


@dataclass(frozen=True)
class Precision:
    """The share of predictions that came true. It is None if no edit has a prediction. The balanced
    share is also None if no edit, or every edit, is predicted to change the answer."""

    value: float | None
    changes: float | None
    stays: float | None
    predicted: int


def precision(predicted: Predictions, changed: Bools, *, balanced: bool) -> Precision:
    """Return the share of K predictions that were correct. `changed` is True where removing words
    changed the model's answer. Its shape is (K,), or (O, K) for O ways to remove words."""
    changed = np.atleast_2d(changed)
    changing, staying = predicted == CHANGES, predicted == STAYS
    changes = float(changed[:, changing].mean()) if changing.any() else None
    stays = float((~changed[:, staying]).mean()) if staying.any() else None
    counts = int(changing.sum()), int(staying.sum())
    value = None
    if changes is not None and stays is not None:
        weights = (1, 1) if balanced else counts
        value = (changes * weights[0] + stays * weights[1]) / sum(weights)
    elif not balanced:
        value = stays if changes is None else changes
    return Precision(value, changes, stays, predicted=sum(counts) * len(changed))


def agreeing(predicted: Predictions, changed: Bools) -> Bools:
    """Return which of K predictions came true. Unknown predictions count as False."""
    return np.asarray((predicted == changed) & (predicted != UNKNOWN))


def cosine(first: Floats, second: Floats) -> float | None:
    """Return the cosine of two vectors, in [-1, 1], or None if one of them is all zero."""
    sizes = float(np.linalg.norm(first) * np.linalg.norm(second))
    return None if sizes == 0 else float(np.clip(first @ second / sizes, -1, 1))


def cosines(fixed: Floats, moved: Floats) -> Floats:
    """Return the cosine of `fixed`, of shape (n,), with each row of `moved`, of shape (M, n). All
    rows must have the same norm."""
    sizes = np.linalg.norm(fixed) * np.linalg.norm(moved, axis=1)
    return np.asarray(np.clip(moved @ fixed / sizes, -1, 1))


def agreement(similarity: float | None) -> float | None:
    """Map a cosine to [0, 1]. Chance, a cosine of about 0, becomes 0.5."""
    return None if similarity is None else (1 + similarity) / 2


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the defined values; None if there are none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def occlusion_rows(words: int) -> Bools:
    """Return a mask of the words to keep, of shape (1 + words, words). The first row keeps all
    words, and each further row removes one word."""
    return np.vstack([np.ones((1, words), dtype=bool), ~np.eye(words, dtype=bool)])


def occlusion(values: Floats) -> Floats:
    """Return each word's contribution to T values: how much they drop without the word. `values`
    has shape (1 + n, T), in the order of `occlusion_rows`; the result has shape (n, T)."""
    return np.asarray(values[0] - values[1:])


def shapley_rows(orders: Sequence[Sequence[int]], words: int) -> Bools:
    """Return the variations of a text for Shapley values: booleans (Q (n + 1), n), True for a kept
    word. n is `words`. For each of Q orders, the first row keeps no word, and each following row
    adds the next word of the order."""
    rows = np.zeros((len(orders), words + 1, words), dtype=bool)
    for number, order in enumerate(orders):
        for step, word in enumerate(order, 1):
            rows[number, step:, word] = True
    return rows.reshape(-1, words)


def shapley(values: Floats, orders: Sequence[Sequence[int]]) -> Floats:
    """Return the Shapley values of n words, their mean marginal contributions, of shape (n, T).
    `values` has shape (Q (n + 1), T): T outputs for the variations of Q orders, as in
    `shapley_rows`.

    In each order the contributions sum to the value of all words minus the value of none. Source:
    Castro, Gómez & Tejada (2009), Comput. Oper. Res. 36."""
    words = len(orders[0])
    steps = np.diff(values.reshape(len(orders), words + 1, -1), axis=1)  # (Q, n, T)
    total = np.zeros(steps.shape[1:])
    for order, step in zip(orders, steps, strict=True):
        total[list(order)] += step
    return total / len(orders)


def mean_ratios(contributions: Floats) -> Floats:
    """Return each word's mean share of the contributions to a token. `contributions` has shape (n,
    T), for n words and T tokens. A share is a contribution divided by the token's sum of absolute
    contributions. Tokens to which no word contributes are left out."""
    sizes = np.abs(contributions).sum(axis=0)
    moved = sizes > 0
    if not moved.any():
        return np.zeros(len(contributions))
    return np.asarray((contributions[:, moved] / sizes[moved]).mean(axis=1))


def permutation_count(strata: Sequence[Sequence[int]]) -> int:
    """Return the number of permutations that keep each word in its group (stratum), including the
    identity."""
    return prod(factorial(len(stratum)) for stratum in strata)


def permuted(
    strata: Sequence[Sequence[int]], random: np.random.Generator, most: int
) -> NDArray[np.int64]:
    """Return distinct permutations of n words that keep each word in its group (stratum), without
    the identity. The shape is (M, n), where M is at most `most`."""
    words = sum(map(len, strata))
    identity = tuple(range(words))
    all_orders = permutation_count(strata) - 1 <= most
    orders = _every(strata, words) if all_orders else _sampled(strata, random, words)
    seen: dict[tuple[int, ...], None] = {}
    for order in orders:
        if order != identity:
            seen.setdefault(order)
        if len(seen) == most:
            break
    return np.array(list(seen), dtype=np.int64).reshape(len(seen), words)


def _every(strata: Sequence[Sequence[int]], words: int) -> Iterator[tuple[int, ...]]:
    for orders in product(*(permutations(stratum) for stratum in strata)):
        yield _placed(strata, orders, words)


def _sampled(
    strata: Sequence[Sequence[int]], random: np.random.Generator, words: int
) -> Iterator[tuple[int, ...]]:
    while True:
        orders = [random.permutation(np.array(stratum)).tolist() for stratum in strata if stratum]
        yield _placed([stratum for stratum in strata if stratum], orders, words)


def _placed(
    strata: Sequence[Sequence[int]], orders: Sequence[Sequence[int]], words: int
) -> tuple[int, ...]:
    positions = [0] * words
    for stratum, order in zip(strata, orders, strict=True):
        for position, word in zip(stratum, order, strict=True):
            positions[position] = word
    return tuple(positions)


def orders_of(random: np.random.Generator, words: int, count: int) -> list[list[int]]:
    """Return `count` random orders of the words, drawn uniformly."""
    return [random.permutation(words).tolist() for _ in range(count)]
