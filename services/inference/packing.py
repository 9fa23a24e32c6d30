"""Which rows go through a model together: none may change what another comes out as.

A forward pass gives a row the same bits alone and in any company as long as its padded width is its
own (measured on CPU, float32, scaled-dot-product attention; tests/inference/test_classifier.py).
So a row's width depends on its own length only, and rows of one width travel together. Wide steps
waste tokens, narrow ones make many small passes. On a CPU, where time is tokens, a width is a
multiple of 4 (measured: a large batch loses 5 % to no padding at all, a dozen rows of mixed lengths
gain 25 %); on a GPU a multiple of 16. The least is 16: products of fewer rows take other kernels,
and so other roundings, alone and in company.
"""

from __future__ import annotations

LEAST_WIDTH = 16  # tokens
WIDTH_STEP = {"cpu": 4, "cuda": 16}  # tokens


def padded_width(length: int, longest: int, device: str = "cpu") -> int:
    """Tokens that a row of this length takes, padding included, at most `longest`."""
    step = WIDTH_STEP[device]
    return min(max(LEAST_WIDTH, -(-length // step) * step), longest)


def kind(length: int, longest: int, device: str = "cpu") -> tuple[int, bool]:
    """(padded width, whether nothing is padded): rows of equal kind may share a batch.

    device: the type, `cpu` or `cuda`.

    Rows without any padding travel apart: attention takes another path when no token is masked.
    """
    width = padded_width(length, longest, device)
    return width, length == width
