"""Does a rationale hold the tokens that people marked? Plausibility, which is not faithfulness.

Sources: DeYoung et al., ERASER, ACL 2020, section 4.1 (token IoU, F1 and AUPRC); average precision
as scikit-learn defines it, sum over thresholds of (R_n - R_(n-1)) P_n. Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from services.ice.kernel import Floats


@dataclass(frozen=True)
class Overlap:
    """Of two sets of tokens; all in [0, 1], higher = more alike."""

    iou: float
    precision: float
    recall: float
    f1: float


def overlap(rationale: Collection[int], human: Collection[int]) -> Overlap:
    """Neither set may be empty."""
    both = len(set(rationale) & set(human))
    sizes = len(rationale) + len(human)
    return Overlap(
        iou=both / (sizes - both),
        precision=both / len(rationale),
        recall=both / len(human),
        f1=2 * both / sizes,
    )


def average_precision(values: Floats, human: Iterable[int]) -> float:
    """AUPRC of (E,) values for the marked places, [0, 1]; chance: the share of marked places.

    Tokens of one value enter together, so ties have no order.
    """
    marked = np.zeros(values.size, dtype=bool)
    marked[list(human)] = True
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(marked[order])
    last = np.append(np.flatnonzero(np.diff(values[order])), values.size - 1)  # of each threshold
    precision = hits[last] / (last + 1)
    recall = hits[last] / hits[-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))
