"""From values to a histogram. Pure: an array in, a message out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.contracts import Histogram

BINS = 20


def histogram_of(values: NDArray[np.float64], bins: int = BINS) -> Histogram | None:
    """Counts of (M,) finite values in equal bins over their range; None for no values.

    Bins are half open, [a, b), but the last, which holds the greatest value. Where all values are
    the same there is one bin of no width. NumPy's own histogram refuses ranges of a few floats'
    width, which the scores of a saturated model have.
    """
    if values.size == 0:
        return None
    low, high = float(np.min(values)), float(np.max(values))
    if low == high:
        return Histogram(low=low, high=high, counts=(values.size,))
    places = ((values - low) / (high - low) * bins).astype(np.int64)
    counts = np.bincount(places.clip(max=bins - 1), minlength=bins)
    return Histogram(low=low, high=high, counts=tuple(counts.tolist()))
