"""A rank test for a short text, calibrated on random passages of other texts.

A placement is a passage of as many words at one position in the text. With fewer than 19 other
placements no exact p-value is at most .05. But other texts with about as many placements are
comparable. The test measures how far the explanation stands out among its placements, in standard
deviations. It compares this with random passages of those other texts. Single words are compared
with single words, because longer passages overlap and none stands out as far. Such a p-value is
uniform on average over texts, if texts are exchangeable. For one text the size of the test may be
larger or smaller. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.statistics.ranks import TIE, Floats

LEAST_ODDS = 1e-6  # P is kept this far from 0 and 1 before its log odds are taken
SOFTENING = 0.1  # added to the deviation, so that values that hardly differ stand out little
FEWEST_OTHERS = 4  # placements other than the observed one; with fewer none can stand out
MOST_OTHERS = 18  # with more an exact p of .05 exists
STRATA = ((4, 7), (8, 11), (12, 14), (15, 18))  # numbers of other placements that are compared


def standings(values: Floats) -> Floats:
    """Return how far each value lies above the mean of all: (x - mean) / (sd + 0.1). `values` holds
    one number per placement, including the observed one. Higher is better."""
    return np.asarray((values - np.mean(values)) / (np.std(values) + SOFTENING), dtype=np.float64)


def removal_standings(without: Floats) -> Floats:
    """Return a standardised effect for each position of a passage: how much its removal lowers the
    log odds, relative to all positions. `without` holds the probability in [0, 1] after the words
    at each position are removed."""
    p = without.clip(LEAST_ODDS, 1 - LEAST_ODDS)
    return standings(-np.log(p / (1 - p)))


@dataclass(frozen=True)
class OtherText:
    """A text for comparison, with one passage tried at each possible position. `words` is the
    length of the passage's longest part. `standings` says for each position how far its removal
    lowers the log odds, compared with the other positions."""

    words: int
    standings: Floats


@dataclass(frozen=True)
class CalibratedP:
    """The p-value of one explanation, calibrated on other texts. `p_value` is the share of random
    passages of these texts with at least as large an effect (in standard deviations), counting the
    explanation too. `p_anti` is the p-value of the opposite test. `texts` is the number of other
    texts, whose passages have `least` to `most` other positions."""

    p_value: float
    p_anti: float
    texts: int
    least: int
    most: int


def calibrated_p(
    standing: float, placements: int, words: int, reference: Sequence[OtherText]
) -> CalibratedP | None:
    """Return the p-value of one explanation, or None if there is no comparable text. `standing` is
    the explanation's standardised score (`standings`). `placements` counts the other positions that
    its passages could have. `words` is the number of words in its longest passage."""
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
