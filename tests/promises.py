"""Equal as far as a model promises it: to the bit, or within its dtype's tolerance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shared.contracts.messages import ModelUse
from shared.process.numerics import tolerance


def as_promised(use: ModelUse, one: ArrayLike, other: ArrayLike) -> bool:
    """Whether two answers to the same rows, in whatever company, are what the model promises."""
    apart = np.abs(np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64))
    bound = 0.0 if use.numerics == "bytes" else tolerance(use.dtype or "float32")
    return bool(np.max(apart, initial=0.0) <= bound)
