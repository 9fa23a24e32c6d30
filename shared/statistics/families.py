"""Corrections for several tests in one report.

Source: Westfall & Young (1993), Resampling-Based Multiple Testing, section 2.3; Holm (1979), Scand.
J. Statistics 6; Benjamini & Hochberg (1995), JRSS B 57; local rates: Efron, Tibshirani, Storey &
Tusher (2001), JASA 96. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import betaln

from shared.statistics.clusters import NO_SPREAD, Floats, finite

TIE = 1e-12  # of standardised scores
FALSE_DISCOVERIES = 0.10  # allowed share of random ones among those called better than random
STRENGTHS = (1.0, 4.0, 16.0, 64.0, 256.0)  # a: the beat rate is Beta(a, 1); 1: a random explanation
RANDOM_BEFORE = 2.0  # prior random explanations added to those of a batch
STEPS, SETTLED = 500, 1e-7  # of the fit


def standardised(scores: Floats, *, both_sides: bool) -> Floats:
    """Convert scores to standard deviations from each test's mean. `scores` has shape (tests, M +
    1): the observed score, then M random draws. The result is 0 if a test's scores are equal."""
    values = finite(scores)
    mean, sd = values.mean(axis=1, keepdims=True), values.std(axis=1, keepdims=True)
    flat = sd <= NO_SPREAD * np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    distances = np.where(flat, 0.0, (values - mean) / np.where(flat, 1.0, sd))
    return np.abs(distances) if both_sides else distances


def max_t(scores: Floats, *, both_sides: bool = True) -> Floats:
    """Return one p-value per test, (0, 1], adjusted for all tests, which share their random draws.

    `scores` has shape (tests, M + 1): the observed score T_t0 of test t, then the scores of draws
    1..M. A column holds the same draw for all tests. p_t = (number of columns j, including 0, with
    max T_.j >= T_t0) / (M + 1).
    """
    distances = standardised(scores, both_sides=both_sides)
    reached = distances.max(axis=0) >= distances[:, :1] - TIE
    return np.asarray(reached.mean(axis=1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values in the original order. Each is at least the original p-value and at
    most 1."""
    values = finite(p_values)
    order = np.argsort(values, kind="stable")
    multiplied = values[order] * np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(multiplied)) if values.size else values
    return [float(p) for p in adjusted]


def holm_over_families(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Correct families of p-values for the number of families, by Holm's method. The p-values of a
    family are multiplied by the number of families whose smallest p-value is not smaller."""
    least = [min(family, default=1.0) for family in families]
    adjusted = [list[float]() for _ in families]
    floor = 0.0
    for index in sorted(range(len(families)), key=lambda number: least[number]):
        factor = sum(other >= least[index] for other in least)
        adjusted[index] = [min(1.0, max(floor, factor * p)) for p in families[index]]
        floor = min(adjusted[index], default=floor)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values that control the false discovery rate."""
    if not p_values:
        return []
    return [float(q) for q in stats.false_discovery_control(p_values, method="bh")]


def needed_at_least_p(examples: int, least_p: float, alpha: float) -> int:
    """Return how many of the `examples` must reach the smallest possible p-value before any of them
    can be rejected. This is the smallest r with `least_p` <= r * `alpha` / `examples`. A result
    above `examples` means that nothing can be rejected."""
    return max(1, int(np.ceil(round(least_p * examples / alpha, 9))))


def local_false_discovery(reached: Sequence[int], draws: Sequence[int]) -> Floats:
    """Return the probability that each explanation is random, [0, 1].

    `draws` has the number of random explanations with which each explanation was compared.
    `reached` counts those that score at least as high. The batch is modelled as a mixture of
    random explanations, whose win rate is uniform, and of stronger ones, whose win rate is
    Beta(a, 1). It does not matter if the comparison stopped early."""
    lost = np.asarray(reached, dtype=np.float64)[:, None]
    beaten = np.asarray(draws, dtype=np.float64)[:, None] - lost
    strengths = np.array(STRENGTHS)
    odds = betaln(lost + 1, beaten + strengths) - betaln(lost + 1, beaten + 1)
    likelihoods = strengths * np.exp(odds)  # against those of a random one
    shares = np.full(strengths.size, 1 / strengths.size)
    for _ in range(STEPS):
        before = shares
        weights = likelihoods * shares
        shares = (weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)
        shares[0] += RANDOM_BEFORE
        shares /= shares.sum()
        if np.max(np.abs(shares - before)) < SETTLED:
            break
    weights = likelihoods * shares
    return np.asarray(weights[:, 0] / weights.sum(axis=1))


def discovered(rates: Floats, most: float = FALSE_DISCOVERIES) -> NDArray[np.bool_]:
    """Return a boolean array: True for explanations to call better than random. As many as possible
    are True while their mean rate is at most `most`. `rates` holds the local false discovery rate
    of each explanation."""
    order = np.argsort(rates, kind="stable")
    means = np.cumsum(rates[order]) / np.arange(1, rates.size + 1)
    called = np.zeros(rates.size, dtype=bool)
    called[order[: int(np.count_nonzero(means <= most))]] = True
    return called
