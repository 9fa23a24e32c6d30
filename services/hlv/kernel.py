"""The formulas of rank-based evaluation of human label variation.

Pure functions that return None for an undefined value. n is the number of options. Rank 1 is best,
and ties share the mean of their positions. Source: Chen et al., EMNLP 2025, Appendix E, Eqs. 13-20;
`reference` follows Evaluation/ of mainlp/CoT2EL.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, rel_entr
from scipy.stats import rankdata

from shared.statistics import agreement

Floats = NDArray[np.float64]

ROUNDED = 9  # decimals before ranking: values that differ less are tied


def fractional_ranks(values: Floats, *, higher_is_better: bool = True) -> Floats:
    """Return ranks in [1, n] of the values along the last axis. Values within 1e-9 are tied."""
    rounded = np.round(np.asarray(values, dtype=np.float64), ROUNDED)
    signed = -rounded if higher_is_better else rounded
    return np.asarray(rankdata(signed, axis=-1), dtype=np.float64)


def mean_ranks(runs: Sequence[Floats]) -> Floats:
    """Return the ranks of n options by their mean rank over runs. Ties share the mean of their
    positions."""
    return fractional_ranks(np.mean(np.stack(list(runs)), axis=0), higher_is_better=False)


def _concordance(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return three numbers: concordant minus discordant pairs, pairs without a tie in x, and pairs
    without a tie in y."""
    upper = np.triu_indices(x.size, k=1)
    of_x = np.sign(np.subtract.outer(x, x))[upper]
    of_y = np.sign(np.subtract.outer(y, y))[upper]
    return float(of_x @ of_y), float(np.abs(of_x).sum()), float(np.abs(of_y).sum())


def kendall_tau_b(x: Floats, y: Floats) -> float | None:
    """Return Kendall's tau-b, in [-1, 1], or None if a side is constant. It is (C - D) /
    sqrt(untied pairs of x * untied pairs of y), for C concordant and D discordant pairs."""
    difference, of_x, of_y = _concordance(x, y)
    return _bounded(difference / np.sqrt(of_x * of_y)) if of_x and of_y else None


def kendall_tau_a(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-a, in [-1, 1], for values without ties. It is (C - D) / (n (n - 1) / 2),
    for C concordant and D discordant pairs."""
    return _bounded(_concordance(x, y)[0] / (x.size * (x.size - 1) / 2))


def spearman(x: Floats, y: Floats) -> float | None:
    """Return Pearson's correlation of the fractional ranks, in [-1, 1], or None if a side is
    constant."""
    correlation = float(agreement.spearman(x, y))
    return _bounded(correlation) if np.isfinite(correlation) else None


def spearman_without_ties(x: Floats, y: Floats) -> float:
    """Return Spearman's correlation by the formula without ties: 1 - 6 sum d^2 / (n (n^2 - 1)), for
    rank differences d. It equals `spearman` if nothing is tied."""
    return float(1 - 6 * np.sum((x - y) ** 2) / (x.size * (x.size**2 - 1)))


def softmax(logits: Floats) -> Floats:
    """Return n probabilities from n logits or log-probabilities."""
    return np.asarray(np.exp(logits - logsumexp(logits)), dtype=np.float64)


def absolute_share(logits: Floats) -> Floats | None:
    """Return |logit| / sum |logit|, as the released code does, or None if all logits are 0. A
    strongly negative logit gets a high probability, and adding a constant to all logits changes the
    result. This is only for comparison with the paper's Table 11."""
    sizes = np.abs(logits)
    return np.asarray(sizes / sizes.sum(), dtype=np.float64) if sizes.sum() else None


def mean_distribution(rows: Sequence[Floats]) -> Floats:
    """Return the mean of rows of n counts or probabilities. Each row is normalised first."""
    return np.asarray(np.mean([row / row.sum() for row in rows], axis=0), dtype=np.float64)


def kullback_leibler(p: Floats, q: Floats, epsilon: float) -> float | None:
    """Return the Kullback-Leibler divergence D(P || Q) in nats, at least 0. Lower means more alike.
    If epsilon > 0, both distributions are clipped to [epsilon, 1] and normalised again, as in the
    released code. If epsilon is 0, the result is None (infinite) where q is 0 and p is not."""
    if epsilon > 0:
        p, q = _clipped(p, epsilon), _clipped(q, epsilon)
    divergence = float(rel_entr(p, q).sum())
    return max(0.0, divergence) if np.isfinite(divergence) else None


def jensen_shannon(p: Floats, q: Floats, *, base: float = np.e, epsilon: float = 0.0) -> Floats:
    """Return the Jensen-Shannon distance over the last axis, in [0, sqrt(log_base 2)]. It is the
    square root of the divergence. Lower means closer."""
    if epsilon > 0:
        p, q = _clipped(p, epsilon), _clipped(q, epsilon)
    middle = (p + q) / 2
    divergence = (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2
    return np.asarray(np.sqrt(np.maximum(0.0, divergence) / np.log(base)))


def total_variation(p: Floats, q: Floats) -> Floats:
    """Return the total variation distance, half the L1 distance over the last axis, in [0, 1].
    Lower means more alike."""
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def root_mean_square(gold: Floats, predicted: Floats) -> Floats:
    """Return the root mean squared error over the last axis, in the units of the scores. Lower
    means closer."""
    return np.asarray(np.sqrt(((gold - predicted) ** 2).mean(axis=-1)))


def mean_absolute(gold: Floats, predicted: Floats) -> Floats:
    """Return the mean absolute error over the last axis, in the units of the scores. Lower means
    closer."""
    return np.asarray(np.abs(gold - predicted).mean(axis=-1))


def determination(gold: Floats, predicted: Floats) -> float | None:
    """Return the coefficient of determination R^2, at most 1, or None if the gold scores are all
    equal. Higher means closer."""
    rounded = np.round(gold, ROUNDED)
    if np.all(rounded == rounded[0]):
        return None
    spread = float(np.sum((gold - gold.mean()) ** 2))
    return float(1 - np.sum((gold - predicted) ** 2) / spread)


def uniform(options: int) -> Floats:
    """Return equal probabilities for all options."""
    return np.full(options, 1 / options)


def majority(values: Floats) -> Floats:
    """Return all probability for the option with the highest gold value. Options that tie
    share it."""
    best = fractional_ranks(values) == fractional_ranks(values).min()
    return np.asarray(best / best.sum(), dtype=np.float64)


def _clipped(p: Floats, epsilon: float) -> Floats:
    cut = np.clip(p, epsilon, 1)
    return np.asarray(cut / cut.sum(axis=-1, keepdims=True), dtype=np.float64)


def _bounded(value: float) -> float:
    return float(min(1.0, max(-1.0, value)))
