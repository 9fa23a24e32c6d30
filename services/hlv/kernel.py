"""The formulas of rank-based evaluation of human label variation.

Source: Chen et al., EMNLP 2025, Appendix E, Eqs. 13-20; `reference` follows Evaluation/ of
mainlp/CoT2EL. Pure functions; None is "undefined". n options; ranks count from 1 = best, ties share
the mean of their positions.
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
    """(..., n) ranks in [1, n] of values along the last axis; equal to 1e-9 means tied."""
    rounded = np.round(np.asarray(values, dtype=np.float64), ROUNDED)
    signed = -rounded if higher_is_better else rounded
    return np.asarray(rankdata(signed, axis=-1), dtype=np.float64)


def mean_ranks(runs: Sequence[Floats]) -> Floats:
    """(n,) fractional ranks of the mean over runs of their (n,) ranks (section 5.1, App. D)."""
    return fractional_ranks(np.mean(np.stack(list(runs)), axis=0), higher_is_better=False)


def _concordance(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return C - D, and the numbers of pairs that x, and that y, does not tie."""
    upper = np.triu_indices(x.size, k=1)
    of_x = np.sign(np.subtract.outer(x, x))[upper]
    of_y = np.sign(np.subtract.outer(y, y))[upper]
    return float(of_x @ of_y), float(np.abs(of_x).sum()), float(np.abs(of_y).sum())


def kendall_tau_b(x: Floats, y: Floats) -> float | None:
    """(C - D) / sqrt(untied pairs of x * of y), [-1, 1]; None if a side is constant."""
    difference, of_x, of_y = _concordance(x, y)
    return _bounded(difference / np.sqrt(of_x * of_y)) if of_x and of_y else None


def kendall_tau_a(x: Floats, y: Floats) -> float:
    """Eq. 13: (C - D) / (n (n - 1) / 2), [-1, 1]; ties count as neither."""
    return _bounded(_concordance(x, y)[0] / (x.size * (x.size - 1) / 2))


def spearman(x: Floats, y: Floats) -> float | None:
    """Pearson's correlation of (n,) fractional ranks, [-1, 1]; None if a side is constant."""
    correlation = float(agreement.spearman(x, y))
    return _bounded(correlation) if np.isfinite(correlation) else None


def spearman_without_ties(x: Floats, y: Floats) -> float:
    """Eq. 14: 1 - 6 sum d^2 / (n (n^2 - 1)); equal to `spearman` where nothing is tied."""
    return float(1 - 6 * np.sum((x - y) ** 2) / (x.size * (x.size**2 - 1)))


def softmax(logits: Floats) -> Floats:
    """(n,) probabilities of (n,) logits, or of log-probabilities."""
    return np.asarray(np.exp(logits - logsumexp(logits)), dtype=np.float64)


def absolute_share(logits: Floats) -> Floats | None:
    """(n,) |logit| / sum |logit|, as the released `_normalize_dist`; None if all are 0.

    A negative logit gains mass, and a constant added to all logits changes the result. For
    comparison with Table 11 only.
    """
    sizes = np.abs(logits)
    return np.asarray(sizes / sizes.sum(), dtype=np.float64) if sizes.sum() else None


def mean_distribution(rows: Sequence[Floats]) -> Floats:
    """(n,) mean of (n,) rows of counts or probabilities, each normalised first."""
    return np.asarray(np.mean([row / row.sum() for row in rows], axis=0), dtype=np.float64)


def kullback_leibler(p: Floats, q: Floats, epsilon: float) -> float | None:
    """Eq. 15, D(P || Q) in nats, >= 0, lower = more alike, of (n,) distributions.

    epsilon > 0: both are clipped to [epsilon, 1] and normalised again, as released.
    epsilon = 0: as printed; None (infinite) where q is 0 and p is not.
    """
    if epsilon > 0:
        p, q = _clipped(p, epsilon), _clipped(q, epsilon)
    divergence = float(rel_entr(p, q).sum())
    return max(0.0, divergence) if np.isfinite(divergence) else None


def jensen_shannon(p: Floats, q: Floats, *, base: float = np.e, epsilon: float = 0.0) -> Floats:
    """Eq. 16 over the last axis: sqrt of the divergence, [0, sqrt(log_base 2)], lower = closer."""
    if epsilon > 0:
        p, q = _clipped(p, epsilon), _clipped(q, epsilon)
    middle = (p + q) / 2
    divergence = (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2
    return np.asarray(np.sqrt(np.maximum(0.0, divergence) / np.log(base)))


def total_variation(p: Floats, q: Floats) -> Floats:
    """Eq. 17: half the L1 distance over the last axis, [0, 1], lower = more alike."""
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def root_mean_square(gold: Floats, predicted: Floats) -> Floats:
    """Eq. 18 over the last axis, in the units of the scores, >= 0, lower = closer."""
    return np.asarray(np.sqrt(((gold - predicted) ** 2).mean(axis=-1)))


def mean_absolute(gold: Floats, predicted: Floats) -> Floats:
    """Eq. 19 over the last axis, in the units of the scores, >= 0, lower = closer."""
    return np.asarray(np.abs(gold - predicted).mean(axis=-1))


def determination(gold: Floats, predicted: Floats) -> float | None:
    """Eq. 20, R^2 <= 1, higher = closer; None if the gold scores are all equal."""
    rounded = np.round(gold, ROUNDED)
    if np.all(rounded == rounded[0]):
        return None
    spread = float(np.sum((gold - gold.mean()) ** 2))
    return float(1 - np.sum((gold - predicted) ** 2) / spread)


def uniform(options: int) -> Floats:
    """(n,) equal probabilities."""
    return np.full(options, 1 / options)


def majority(values: Floats) -> Floats:
    """(n,) all mass on the best of (n,) gold values, shared where several tie for best."""
    best = fractional_ranks(values) == fractional_ranks(values).min()
    return np.asarray(best / best.sum(), dtype=np.float64)


def _clipped(p: Floats, epsilon: float) -> Floats:
    cut = np.clip(p, epsilon, 1)
    return np.asarray(cut / cut.sum(axis=-1, keepdims=True), dtype=np.float64)


def _bounded(value: float) -> float:
    return float(min(1.0, max(-1.0, value)))
