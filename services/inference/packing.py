"""Which rows go through a model together: none may change what another comes out as.

A forward pass gives a row the same bits alone and in any company as long as its padded width is its
own (measured on CPU, float32, scaled-dot-product attention; tests/inference/test_classifier.py).
So a row's width depends on its own length only, and rows of one width travel together.
"""

from __future__ import annotations

WIDTH_STEP = 16  # tokens


def padded_width(length: int, longest: int) -> int:
    """Tokens that a row of this length takes, padding included, at most `longest`."""
    return min(-(-length // WIDTH_STEP) * WIDTH_STEP, longest)


def kind(length: int, longest: int) -> tuple[int, bool]:
    """(padded width, whether nothing is padded): rows of equal kind may share a batch.

    Rows without any padding travel apart: attention takes another path when no token is masked.
    """
    width = padded_width(length, longest)
    return width, length == width
