"""Calibration errors of probabilities, compared with the error that occurs by chance alone (the
floor).

ECE: Naeini, Cooper & Hauskrecht (2015). Its floor by resampled labels: Bröcker & Smith (2007),
Weather and Forecasting 22. Debiased squared error: Kumar, Liang & Ma (2019), NeurIPS. Recalibration
slope: Cox (1958), Biometrika 45. The functions are pure. They take (n,) probabilities of the
positive label and (n,) labels, 0 or 1. The ECE of a perfectly calibrated model is above 0, so only
the excess over the floor counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats, Integers, finite, in_order
from shared.statistics.seeds import generator

BINS = 15
FLOOR_DRAWS = 1_000
INNER_DRAWS = 50  # for the floor of each resample
AT_ONCE = 4_000_000
LEAST_P = 1e-12  # of probabilities whose logit is taken
STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """Calibration errors in [0, 1]. As exceptions, `excess` is in [-1, 1], and `l2_debiased` may be
    negative."""

    ece: float  # 15 bins of equal width
    ece_equal_mass: float  # 15 bins of equal count
    floor: float  # mean ECE of a perfectly calibrated model with the same probabilities
    floor_95: float  # its .95 quantile
    excess: float  # ece - floor
    p_calibrated: float  # (0, 1]; small: the model is not calibrated
    l2_debiased: float  # squared error, may fall below 0 by chance
    brier: float
    reliability: float  # of Brier's decomposition over the bins of equal width, smaller = better
    resolution: float  # greater = better
    rows: int


def calibration(predicted: Floats, labels: Floats, seed: int = 0) -> Calibration:
    """Return the calibration errors and scores of predicted probabilities. Raises ValueError if
    there are no rows or a value is out of range."""
    _check(predicted, labels)
    bins = equal_width(predicted)
    observed = binned_error(bins, labels - predicted)
    floor = floor_draws(predicted, bins, FLOOR_DRAWS, generator(seed, "floor", predicted.size))
    means = _means(bins, labels)
    rate = float(labels.mean())
    weights = np.bincount(bins, minlength=BINS) / labels.size
    forecast = _means(bins, predicted)
    return Calibration(
        ece=observed,
        ece_equal_mass=binned_error(equal_mass(predicted), labels - predicted),
        floor=float(floor.mean()),
        floor_95=float(np.quantile(floor, 0.95)),
        excess=observed - float(floor.mean()),
        p_calibrated=float((1 + np.sum(floor >= observed - 1e-12)) / (1 + floor.size)),
        l2_debiased=l2_debiased(bins, predicted, labels),
        brier=float(np.mean((labels - predicted) ** 2)),
        reliability=float(np.sum(weights * (means - forecast) ** 2)),
        resolution=float(np.sum(weights * (means - rate) ** 2 * (weights > 0))),
        rows=labels.size,
    )


def equal_width(predicted: Floats) -> Integers:
    """Return the index of the equal-width bin of each probability, of shape (n,). The 15 bins are
    (0, 1/15], (1/15, 2/15] and so on. A probability of 0 is in the first bin."""
    bins = np.ceil(predicted * BINS).astype(np.int64) - 1
    return np.clip(bins, 0, BINS - 1)


def equal_mass(predicted: Floats) -> Integers:
    """Return the (n,) bin of each probability, with equal counts; ties are split by position."""
    ranks = np.argsort(np.argsort(predicted, kind="stable"), kind="stable")
    return np.asarray(ranks * BINS // predicted.size)


def binned_error(bins: Integers, gaps: Floats) -> float:
    """Return the expected calibration error: the sum over bins of |sum of gaps| / n. `bins` holds
    the bin of each row, and `gaps` its label minus its probability."""
    return float(np.abs(np.bincount(bins, weights=gaps, minlength=BINS)).sum() / gaps.size)


def floor_draws(
    predicted: Floats, bins: Integers, draws: int, random: np.random.Generator
) -> Floats:
    """Return the calibration error (ECE) that arises by chance, once per draw. Each draw samples
    the labels from the predicted probabilities."""
    order = np.argsort(bins, kind="stable")
    ordered = predicted[order]
    starts = np.flatnonzero(np.diff(bins[order], prepend=-1))
    floors = []
    at_once = max(1, AT_ONCE // predicted.size)
    for start in range(0, draws, at_once):
        count = min(at_once, draws - start)
        gaps = (random.random((count, predicted.size)) < ordered) - ordered
        floors.append(np.abs(np.add.reduceat(gaps, starts, axis=1)).sum(axis=1) / predicted.size)
    return np.concatenate(floors)


def l2_debiased(bins: Integers, predicted: Floats, labels: Floats) -> float:
    """Return the debiased squared calibration error over bins with at least two rows. It is the sum
    of (n_b / n)[(ȳ - p̄)² - ȳ(1 - ȳ) / (n_b - 1)], with a bin's mean label ȳ and mean probability
    p̄."""
    counts = np.bincount(bins, minlength=BINS)
    used = counts >= 2
    observed, forecast = _means(bins, labels)[used], _means(bins, predicted)[used]
    squares = (observed - forecast) ** 2 - observed * (1 - observed) / (counts[used] - 1)
    return float(np.sum(counts[used] / labels.size * squares))


def excess_interval(
    predicted: Floats, labels: Floats, keys: list[str] | None, how: Resampling
) -> tuple[float, float] | None:
    """Return the percentile interval of `excess` (calibration error above its chance level), from
    resampled clusters. The chance level is computed for each resample. Resampling noise only
    increases an error, so the interval is centred on the estimate. Return None for one cluster."""
    resampled = _resampled_excess([predicted], labels, keys, how)
    if resampled is None:
        return None
    value = calibration(predicted, labels, how.seed).excess
    low, high = np.quantile(_center(resampled[:, 0], value), [how.tail, 1 - how.tail])
    return float(low), float(high)


@dataclass(frozen=True)
class ExcessChange:
    """The difference in excess calibration error between two forecasts, paired over clusters."""

    value: float  # excess(first) - excess(second), [-2, 2]
    low: float | None  # ends as in `excess_interval`; None for one cluster
    high: float | None
    p_value: float | None  # (0, 1], that it is 0: twice the share of resamples beyond it, with +1


def excess_change(
    first: Floats, second: Floats, labels: Floats, keys: list[str] | None, how: Resampling
) -> ExcessChange:
    """Compare the excess calibration error (error minus its level by chance) of two (n,) forecasts
    of the same (n,) labels. Both use the same resamples and random label sets."""
    values = [calibration(forecast, labels, how.seed).excess for forecast in (first, second)]
    resampled = _resampled_excess([first, second], labels, keys, how)
    value = values[0] - values[1]
    if resampled is None:
        return ExcessChange(value, None, None, None)
    changes = _center(resampled[:, 0] - resampled[:, 1], value)
    low, high = np.quantile(changes, [how.tail, 1 - how.tail])
    beyond = min(np.count_nonzero(changes <= 0), np.count_nonzero(changes >= 0))
    p = min(1.0, 2 * (1 + int(beyond)) / (1 + changes.size))
    return ExcessChange(value, float(low), float(high), p)


def _resampled_excess(
    forecasts: list[Floats], labels: Floats, keys: list[str] | None, how: Resampling
) -> Floats | None:
    """Return (resamples, forecasts) excess calibration errors, from clusters drawn with
    replacement. Return None for one cluster."""
    for predicted in forecasts:
        _check(predicted, labels)
    order, codes = in_order(np.stack([*forecasts, labels], axis=1), keys)
    groups = int(codes[-1]) + 1
    if groups < 2:
        return None
    members = np.split(order, np.flatnonzero(np.diff(codes)) + 1)
    excesses: list[float] = []
    for block, indices in enumerate(how.drawn("excess", groups)):
        for number, clusters in enumerate(indices.tolist()):
            rows = np.concatenate([members[group] for group in clusters])
            key = ("floors", groups, block, number)  # the same for each forecast
            drawn_labels = labels[rows]
            for predicted in forecasts:
                bins = equal_width(predicted[rows])
                random = generator(how.seed, *key)
                floor = floor_draws(predicted[rows], bins, INNER_DRAWS, random).mean()
                excesses.append(binned_error(bins, drawn_labels - predicted[rows]) - float(floor))
    return np.array(excesses, dtype=np.float64).reshape(-1, len(forecasts))


def _center(resampled: Floats, value: float) -> Floats:
    """Move the resampled values so that their mean is the estimate."""
    return resampled - (float(resampled.mean()) - value)


@dataclass(frozen=True)
class Recalibration:
    """The coefficients of logit P(1) = intercept + slope logit(p), fitted to predictions p. A slope
    of 1 and an intercept of 0 are ideal."""

    slope: float
    slope_se: float  # over clusters
    intercept: float
    intercept_se: float


def recalibration(
    predicted: Floats, labels: Floats, keys: list[str] | None = None
) -> Recalibration | None:
    """Fit a logistic recalibration by maximum likelihood. Return None if all labels are equal, or
    if a threshold on `predicted` separates them."""
    _check(predicted, labels)
    if labels.min() == labels.max():
        return None
    x = logit(np.clip(predicted, LEAST_P, 1 - LEAST_P))
    design = np.stack([np.ones_like(x), x], axis=1)
    weights = _logistic(design, labels)
    if weights is None:
        return None
    errors = _sandwich(design, labels, weights, keys)
    return Recalibration(float(weights[1]), errors[1], float(weights[0]), errors[0])


def _logistic(design: Floats, labels: Floats) -> Floats | None:
    """Return logistic regression weights, or None if Newton's method does not converge."""
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = expit(design @ weights)
        hessian = design.T @ (design * (chance * (1 - chance))[:, None])
        if np.linalg.cond(hessian) > 1e12:
            return None
        step = np.linalg.solve(hessian, design.T @ (labels - chance))
        weights = weights + step
        if np.max(np.abs(step)) < 1e-10:
            return weights
    return None


def _sandwich(
    design: Floats, labels: Floats, weights: Floats, keys: list[str] | None
) -> tuple[float, float]:
    """Return the clustered standard errors of intercept and slope. They include the factor of
    statsmodels for few clusters: G / (G - 1) (n - 1) / (n - K)."""
    chance = expit(design @ weights)
    bread = np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))
    scores = design * (labels - chance)[:, None]
    order, codes = in_order(scores, keys)
    groups, (rows, columns) = int(codes[-1]) + 1, scores.shape
    sums = np.zeros((groups, columns))
    np.add.at(sums, codes, scores[order])
    factor = groups / max(1, groups - 1) * (rows - 1) / (rows - columns)
    errors = np.sqrt(np.diag(bread @ (sums.T @ sums) @ bread) * factor)
    return float(errors[0]), float(errors[1])


def _means(bins: Integers, values: Floats) -> Floats:
    """Return the (15,) mean of each bin, 0 for an empty bin."""
    counts = np.bincount(bins, minlength=BINS)
    return np.bincount(bins, weights=values, minlength=BINS) / np.maximum(counts, 1)


def _check(predicted: Floats, labels: Floats) -> None:
    if predicted.size == 0 or predicted.size != labels.size:
        raise ValueError("each probability has one label")
    if finite(predicted).min() < 0 or predicted.max() > 1 or not np.isin(labels, (0, 1)).all():
        raise ValueError("probabilities must be in [0, 1], and labels 0 or 1")
