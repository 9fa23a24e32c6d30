"""A rank test for a text with few other places, calibrated on random passages of other texts.

With fewer than 19 other placements no exact p is at most .05. But how far the explanation stands
out among all its placements, in standard deviations, can be compared with how far random
explanations stand out in other texts that have about as many placements. Single words are compared
with single words: longer passages overlap, so that none of them stands out as far. Such a p is
uniform on average over texts, if texts are exchangeable; for a given text its size may be larger or
smaller. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.statistics.ranks import TIE, Floats

LEAST_ODDS = 1e-6  # P is kept this far from 0 and 1 before its log odds are taken
SOFTENING = 0.1  # added to the deviation, so that values that hardly differ stand out little
FEWEST_OTHERS = 4  # placements besides the observed one; with fewer of them nothing can stand out
MOST_OTHERS = 18  # with more of them there is an exact p of .05
STRATA = ((4, 7), (8, 11), (12, 14), (15, 18))  # numbers of other placements that are compared


def standings(values: Floats) -> Floats:
    """Return how far each value stands above its like: (x - mean) / (sd + 0.1).

    values: (M,) of all placements, the observed one among them; higher = better.
    """
    return np.asarray((values - np.mean(values)) / (np.std(values) + SOFTENING), dtype=np.float64)


def removal_standings(without: Floats) -> Floats:
    """Return how far the fall of the log odds stands out that each placement's removal brings.

    without: (M,) P without each placement, [0, 1]; higher standing = larger fall.
    """
    p = without.clip(LEAST_ODDS, 1 - LEAST_ODDS)
    return standings(-np.log(p / (1 - p)))


@dataclass(frozen=True)
class OtherText:
    """All placements of one passage. words: of the passage, of several the longest. standings:
    (M,) as above."""

    words: int
    standings: Floats


@dataclass(frozen=True)
class CalibratedP:
    """p_value: how often a random passage of the other texts stands out as far, with the +1.
    p_anti: the other side. texts: how many other texts there are, with `least` to `most` other
    placements."""

    p_value: float
    p_anti: float
    texts: int
    least: int
    most: int


def calibrated_p(
    standing: float, placements: int, words: int, reference: Sequence[OtherText]
) -> CalibratedP | None:
    """Return the p of one explanation; None where none can be had.

    standing: as `standings`. others: its placements besides the observed one. words: of its longest
    passage.
    """
    stratum = next((ends for ends in STRATA if ends[0] <= placements <= ends[1]), None)
    if stratum is None:
        return None
    least, most = stratum
    compared = [
        other.standings
        for other in reference
        if least < other.standings.size <= most + 1 and (other.words == 1) == (words == 1)
    ]
    if not compared:
        return None
    above = sum(float(np.mean(each >= standing - TIE)) for each in compared)
    below = sum(float(np.mean(each <= standing + TIE)) for each in compared)
    total = 1 + len(compared)
    return CalibratedP(
        min(1.0, (1 + above) / total), min(1.0, (1 + below) / total), len(compared), least, most
    )
