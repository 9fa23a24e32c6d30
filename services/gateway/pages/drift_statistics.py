"""Has a score moved between two windows? From sums and counts alone, without their results.

Difference of means: Welch (1947), normal quantile; results of one text count as independent, since
hours keep no texts. PSI: Siddiqi (2006), over bins of the metric's range; by chance it is about
(1/n + 1/m) chi-square of B - 1 degrees: Yurdakul & Naranjo (2020), J. Risk Model Validation 14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from shared.ledger.score_hours import ScoreSums
from shared.statistics.wilson import Z_95, wilson

FEWEST = 200  # results of a window
SAME = 1e-9  # of means that are sums of floats
LEVEL = 0.95
HALF = 0.5  # result that an empty bin is taken to hold, so that a ratio exists


@dataclass(frozen=True)
class ScoreShift:
    """later - earlier. low, high: of the difference of the means, level 0.95; None: too few.
    psi_chance: the PSI that two samples of these sizes exceed by chance once in twenty times.
    undefined: difference of the shares without a score, with its interval."""

    earlier: ScoreSums
    later: ScoreSums
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    psi: float | None = None
    psi_chance: float | None = None
    undefined: tuple[float, float, float] | None = None

    @property
    def is_known(self) -> bool:
        return self.low is not None

    @property
    def has_shift(self) -> bool:
        """Whether the interval of the difference of the means excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def has_changed_shape(self) -> bool:
        """Whether the bins differ more than by chance."""
        return self.psi is not None and self.psi_chance is not None and self.psi > self.psi_chance


def score_shift(earlier: ScoreSums, later: ScoreSums) -> ScoreShift:
    """Nothing is said below FEWEST results with a score in a window."""
    if min(earlier.scored, later.scored) < FEWEST:
        return ScoreShift(earlier, later)
    # Newcombe (1998), Statistics in Medicine 17, method 10: Wilson's ends combined
    before, after = earlier.undefined / earlier.results, later.undefined / later.results
    low_before, high_before = wilson(before, earlier.results, Z_95)
    low_after, high_after = wilson(after, later.results, Z_95)
    more = after - before
    down = math.hypot(after - low_after, high_before - before)
    up = math.hypot(high_after - after, before - low_before)
    difference = (later.mean or 0.0) - (earlier.mean or 0.0)
    difference = difference if abs(difference) > SAME else 0.0
    error = math.sqrt(variance(earlier) / earlier.scored + variance(later) / later.scored)
    reach = Z_95 * error
    return ScoreShift(
        earlier,
        later,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        psi=psi(earlier.bins, later.bins),
        psi_chance=psi_threshold(earlier.bins, later.bins),
        undefined=(more, more - down, more + up),
    )


def variance(sums: ScoreSums) -> float:
    """Sample variance of at least two scores."""
    mean = sums.total / sums.scored
    return max(sums.squares - sums.scored * mean * mean, 0.0) / (sums.scored - 1)


def _bin_pairs(bins: list[int], other: list[int]) -> list[tuple[float, float]]:
    """Counts of the bins that either window has."""
    return [(a or HALF, b or HALF) for a, b in zip(bins, other, strict=True) if a or b]


def psi(earlier: list[int], later: list[int]) -> float:
    """Population stability index: sum of (p - q) ln(p / q), >= 0; 0 for equal shares."""
    pairs = _bin_pairs(earlier, later)
    before, after = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    return sum((b / after - a / before) * math.log((b / after) / (a / before)) for a, b in pairs)


def psi_threshold(earlier: list[int], later: list[int]) -> float:
    """What it exceeds once in twenty times where nothing has changed; chi-square by Wilson and
    Hilferty (1931)."""
    degrees = max(len(_bin_pairs(earlier, later)) - 1, 1)
    spread = 2 / (9 * degrees)
    quantile = degrees * (1 - spread + NormalDist().inv_cdf(LEVEL) * math.sqrt(spread)) ** 3
    return (1 / sum(earlier) + 1 / sum(later)) * quantile
