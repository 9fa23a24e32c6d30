"""Decisions against gold labels: macro-F1 with its interval, and what two models differ by.

The test exchanges the two models' decisions on whole clusters (Noreen 1989, Computer-Intensive
Methods for Testing Hypotheses, 2.2.4). Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shared.statistics.bootstrap import Resampling
from shared.statistics.classification import label_counts, macro_f1
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate, ratio
from shared.statistics.seeds import generator

Decided = tuple[str, str]  # gold, decision
SWAPS = 9_999
ENUMERATED = 13  # clusters whose exchanges are fewer than that
AT_ONCE = 1_000
TIE = 1e-12


def count_rows(decided: Sequence[Decided], labels: Sequence[str]) -> Floats:
    """(N, 3 L): the row's counts of each label, as `shared.statistics.classification` has them."""
    places = {label: place for place, label in enumerate(labels)}
    return label_counts([(places[gold], places[found]) for gold, found in decided], len(labels))


def macro_f1_estimate(
    decided: Sequence[Decided], keys: Sequence[str], how: Resampling
) -> IntervalEstimate:
    """With BCa ends over clusters."""
    if not decided:
        return IntervalEstimate(None)
    rows = count_rows(decided, labels_of(decided))
    return ratio("macro F1", rows, macro_f1, keys, how)


def macro_f1_difference(
    pairs: Sequence[tuple[Decided, Decided]], keys: Sequence[str], how: Resampling
) -> tuple[IntervalEstimate, float | None]:
    """(first - second on the same rows, two-sided p (0, 1]; None without rows)."""
    if not pairs:
        return IntervalEstimate(None), None
    labels = labels_of([one for pair in pairs for one in pair])
    first, second = (count_rows([pair[side] for pair in pairs], labels) for side in (0, 1))
    width = first.shape[1]

    def difference(sums: Floats) -> Floats:
        return macro_f1(sums[:, :width]) - macro_f1(sums[:, width:])

    rows = np.concatenate([first, second], axis=1)
    found = ratio("difference of macro F1", rows, difference, keys, how)
    return found, _exchange_p(rows, difference, keys, how)


def labels_of(decided: Sequence[Decided]) -> list[str]:
    """Sorted."""
    return sorted({label for pair in decided for label in pair})


def _exchange_p(
    rows: Floats,
    difference: Callable[[Floats], Floats],
    keys: Sequence[str],
    how: Resampling,
) -> float:
    """Of (N, 2K) rows, first before second."""
    _, codes = np.unique(np.array(keys, dtype=object), return_inverse=True)
    sums = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(sums, codes, rows)
    width = rows.shape[1] // 2
    total, turned = sums.sum(axis=0), sums[:, width:] - sums[:, :width]
    observed = abs(float(difference(total[None])[0])) - TIE
    reached, draws = 0, 0
    for swapped in _exchanges(len(sums), how):
        moved = swapped @ turned
        found = difference(total + np.concatenate([moved, -moved], axis=1))
        reached += int(np.count_nonzero(np.abs(found) >= observed))
        draws += len(swapped)
    exact = len(sums) <= ENUMERATED
    return reached / draws if exact else (1 + reached) / (1 + draws)


def _exchanges(groups: int, how: Resampling) -> Iterator[Floats]:
    """Blocks of (B, G) zeros and ones: all of them for 13 clusters and fewer."""
    if groups <= ENUMERATED:
        numbers = np.arange(2**groups)[:, None]
        yield ((numbers >> np.arange(groups)) & 1).astype(np.float64)
        return
    random = generator(how.seed, "exchanges", groups)
    for start in range(0, SWAPS, AT_ONCE):
        how.check()
        size = (min(AT_ONCE, SWAPS - start), groups)
        yield random.integers(2, size=size).astype(np.float64)
