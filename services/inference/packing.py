"""Which rows go through a model together: none may change what another comes out as.

A forward pass gives a row the same bits alone and in any company as long as its padded width is its
own (measured on CPU, float32, scaled-dot-product attention; tests/inference/test_classifier.py).
So a row's width depends on its own length only, and rows of one width travel together. On a CPU,
where time is tokens, that is the length itself from 16 on; shorter rows are filled up, since
products of fewer rows take other kernels, and so other roundings, alone and in company. On a GPU,
where many small passes cost more than padding does, it is the next multiple of 16.
"""

from __future__ import annotations

LEAST_WIDTH = 16  # tokens
WIDTH_STEP = {"cpu": 1, "cuda": 16}  # tokens


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
