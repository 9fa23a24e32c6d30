"""Where the three variants differ: what is compared, how draws are made, what ties and zeros mean.

`robust`: raw scores, distinct draws, mid-ranks. `paper`: Eq. 1 and Algorithm 1 as printed.
`reference`: `ICEEvaluator` of ice-faithfulness 1.0.1 (metrics.py, evaluation.py), defects included.
Pure functions: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from services.ice import kernel
from services.ice.kernel import Floats
from shared.contracts import Variant

DEAD_ZONE = 0.05  # metrics.py, compute_nsd: a smaller denominator makes every NSR 0
CLIPPED = 2.0  # metrics.py, compute_nsd
CONFIDENCE = 0.5  # evaluation.py, evaluate_dataset: less confident examples are skipped

# (M,) scores, s(x), s(empty) -> (M,) what is compared; None: undefined
Statistic = Callable[[Floats, float, float | None], Floats | None]


@dataclass(frozen=True)
class Rules:
    """One variant."""

    statistic: Statistic
    ddof: int
    tie: float
    distinct: bool  # subsets without repetition, never the rationale
    strict: bool  # the score counts ties as losses
    mean_of_operators: bool  # one test on the mean over operators
    eligible: Literal["text", "all"]
    magnitude: bool  # computed attributions rank by |value|
    zero_effect: float | None  # the effect where the null has no spread
    rounding: float = 1e-9  # added before the floor of kE: 0.29 of 100 tokens is 29


def raw(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """The scores themselves: NSR is an affine map of them, which moves no rank."""
    return scores


def printed_nsr(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """Eq. 1 without bounds; its sign turns where s(x) < s(empty)."""
    if empty is None or abs(full - empty) <= kernel.TIE:
        return None
    return (scores - empty) / (full - empty)


def released_nsr(scores: Floats, full: float, empty: float | None) -> Floats | None:
    """`compute_nsd`: 0 in the dead zone, else clipped to [-2, 2]."""
    if empty is None:
        return None
    if abs(full - empty) < DEAD_ZONE:
        return np.zeros_like(scores)
    return np.clip((scores - empty) / (full - empty), -CLIPPED, CLIPPED)


RULES: dict[Variant, Rules] = {
    "robust": Rules(
        statistic=raw,
        ddof=1,
        tie=kernel.TIE,
        distinct=True,
        strict=False,
        mean_of_operators=False,
        eligible="text",
        magnitude=False,
        zero_effect=None,
    ),
    "paper": Rules(
        statistic=printed_nsr,
        ddof=0,
        tie=0.0,
        distinct=False,
        strict=True,
        mean_of_operators=True,
        eligible="text",
        magnitude=False,
        zero_effect=None,
    ),
    "reference": Rules(
        statistic=released_nsr,
        ddof=0,
        tie=0.0,
        distinct=False,
        strict=True,
        mean_of_operators=True,
        eligible="all",
        magnitude=True,
        zero_effect=0.0,
        rounding=0.0,
    ),
}
