"""Which rows go through a model together: none may change what another comes out as.

A forward pass gives a row the same bits alone and in any company as long as its padded width is its
own (measured on CPU, float32, scaled-dot-product attention; tests/inference/test_classifier.py).
So a row's width depends on its own length only, and rows of one width travel together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

WIDTH_STEP = 16  # tokens


def padded_width(length: int, longest: int) -> int:
    """Tokens that a row of this length takes, padding included, at most `longest`."""
    return min(-(-length // WIDTH_STEP) * WIDTH_STEP, longest)


def batches(lengths: Sequence[int], longest: int, budget: int) -> Iterator[tuple[int, list[int]]]:
    """(width, row numbers) of each forward pass, short rows first.

    lengths: (N,) tokens of each row, at most `longest`.
    budget:  padded tokens of one pass; a single row may exceed it.

    Rows without any padding travel apart: attention takes another path when no token is masked.
    """
    alike: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for row, length in enumerate(lengths):
        width = padded_width(length, longest)
        alike[width, length == width].append(row)
    for (width, _), rows in sorted(alike.items()):
        most = max(1, budget // width)
        for start in range(0, len(rows), most):
            yield width, rows[start : start + most]
