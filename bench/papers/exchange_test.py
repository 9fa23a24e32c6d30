"""Tests whether two models differ in a statistic other than a mean, by exchanging their rows in
clusters (Noreen 1989, Computer-Intensive Methods for Testing Hypotheses, 2.2.4). Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate, ratio
from shared.statistics.seeds import generator

SWAPS = 9_999
ENUMERATED = 13  # clusters whose exchanges are fewer than that
AT_ONCE = 1_000
TIE = 1e-12

OfSums = Callable[[Floats], Floats]  # (R, K) sums → (R,) numbers


def exchange_difference(
    name: str, sides: tuple[Floats, Floats], of: OfSums, keys: Sequence[str], how: Resampling
) -> tuple[IntervalEstimate, float | None]:
    """Return (first - second, two-sided p (0, 1]); None if the difference is undefined.

    `sides` holds an array of shape (N, K) for each model, with the same N rows. `of` computes the
    statistic from sums of rows.
    """
    rows, width = np.concatenate(sides, axis=1), sides[0].shape[1]

    def difference(sums: Floats) -> Floats:
        return of(sums[:, :width]) - of(sums[:, width:])

    found = ratio(name, rows, difference, keys, how)
    p = None if found.value is None else _exchange_p(rows, difference, keys, how)
    return found, p


def _exchange_p(rows: Floats, difference: OfSums, keys: Sequence[str], how: Resampling) -> float:
    """Return p for (N, 2K) rows with the first model's columns first. An exchange with an undefined
    statistic counts against a difference."""
    _, codes = np.unique(np.array(keys, dtype=object), return_inverse=True)
    sums = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(sums, codes, rows)
    width = rows.shape[1] // 2
    total, turned = sums.sum(axis=0), sums[:, width:] - sums[:, :width]
    observed = abs(float(difference(total[None])[0])) - TIE
    reached, draws = 0, 0
    for swapped in _exchanges(len(sums), how):
        moved = swapped @ turned
        found = np.abs(difference(total + np.concatenate([moved, -moved], axis=1)))
        reached += int(np.count_nonzero(~(found < observed)))
        draws += len(swapped)
    exact = len(sums) <= ENUMERATED
    return reached / draws if exact else (1 + reached) / (1 + draws)


def _exchanges(groups: int, how: Resampling) -> Iterator[Floats]:
    """Yield blocks of B exchanges of G clusters, as zeros and ones. For 13 clusters or fewer, all
    exchanges are used."""
    if groups <= ENUMERATED:
        numbers = np.arange(2**groups)[:, None]
        yield ((numbers >> np.arange(groups)) & 1).astype(np.float64)
        return
    random = generator(how.seed, "exchanges", groups)
    for start in range(0, SWAPS, AT_ONCE):
        how.check()
        size = (min(AT_ONCE, SWAPS - start), groups)
        yield random.integers(2, size=size).astype(np.float64)
