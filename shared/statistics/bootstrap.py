"""Resampling of clusters: studentised differences of means (roots), and bias-corrected and
accelerated (BCa) interval ends. Source: Hall (1988), Annals of Statistics 16; Cameron, Gelbach &
Miller (2008), Review of Economics and Statistics 90; BCa: Efron (1987), JASA 82. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from scipy import stats

from shared.statistics.clusters import Clustered, Floats, Integers
from shared.statistics.seeds import generator

AT_ONCE = 400_000  # numbers in memory: 3 MB fit a processor's cache; draws do not depend on it
ROUNDING = 1e-12
SAME_DECIMALS = 12  # sums in another order give the same value


@dataclass(frozen=True)
class Resampling:
    """Settings of resampling. `check` is called between blocks of draws and may raise an exception
    to stop them. `names` maps rows to the name under which they were resampled first, so that equal
    rows get equal draws."""

    seed: int = 0
    resamples: int = 2_000
    confidence: float = 0.95
    check: Callable[[], None] = field(default=lambda: None, compare=False)
    names: dict[bytes, str] | None = field(default=None, compare=False)

    @property
    def tail(self) -> float:
        """Return the probability beyond each end of the interval."""
        return (1 - self.confidence) / 2

    def first_name(self, name: str, rows: Clustered) -> str:
        """Return the name under which rows with these values were first resampled. Return `name` if
        there are none. Equal rows thus get equal random draws."""
        if self.names is None:
            return name
        values = np.round(rows.values, SAME_DECIMALS) + 0.0  # -0.0 is 0.0
        held = blake2b(rows.codes.tobytes() + values.tobytes(), digest_size=16).digest()
        return self.names.setdefault(held, name)

    def drawn(self, name: str, groups: int) -> Iterator[Integers]:
        """Yield resamples in blocks. A block holds the indices of clusters drawn with replacement.
        Each row has `groups` clusters, and all blocks together have `resamples` rows. The draws
        depend on `name`, the quantity."""
        random = generator(self.seed, "bootstrap", name, groups)
        at_once = max(1, AT_ONCE // groups)
        for start in range(0, self.resamples, at_once):
            self.check()
            size = (min(at_once, self.resamples - start), groups)
            yield random.integers(groups, size=size, dtype=np.int64)


def studentised_roots(name: str, rows: Clustered, mean: float, how: Resampling) -> Floats:
    """Return, for each resample, how far its mean lies from `mean` in standard errors (a root). A
    resample is a sample of clusters drawn with replacement. A root is infinite, with the sign of
    the difference, if its resample has no spread."""
    shift, error = _shift_and_error(name, rows, mean, how)
    return _roots(shift, error, ROUNDING * float(np.max(np.abs(rows.values))))


def macro_roots(
    name: str, strata: list[Clustered], means: list[float], weights: Floats, how: Resampling
) -> Floats:
    """Return bootstrap roots (shifts in standard errors) of the mean of several groups' means, like
    `studentised_roots`. Each group (stratum) is resampled separately. `weights` has one entry per
    group, with mean 1."""
    drawn = [
        _shift_and_error(f"{name}/{number}", rows, mean, how)
        for number, (rows, mean) in enumerate(zip(strata, means, strict=True))
    ]
    pairs = list(zip(weights, drawn, strict=True))
    squares = [(weight * error) ** 2 for weight, (_, error) in pairs]
    error = np.sqrt(np.sum(squares, axis=0)) / len(strata)
    scale = max(float(np.max(np.abs(rows.values))) for rows in strata)
    shift = np.mean([weight * shift for weight, (shift, _) in pairs], axis=0)
    return _roots(shift, error, ROUNDING * scale)


def _shift_and_error(
    name: str, rows: Clustered, mean: float, how: Resampling
) -> tuple[Floats, Floats]:
    """Return two arrays with one entry per resample: mean* - mean, and the standard error se*."""
    sums, sizes = rows.sums(about=mean), rows.sizes
    shifts, errors = [], []
    for indices in how.drawn(how.first_name(name, rows), rows.count):
        parts, weights = sums[indices], None if rows.single else sizes[indices]
        counts = float(rows.count) if weights is None else weights.sum(axis=1)
        shift = parts.sum(axis=1) / counts
        parts -= shift[:, None] if weights is None else weights * shift[:, None]
        squares = np.square(parts, out=parts).sum(axis=1)
        shifts.append(shift)
        errors.append(np.sqrt(rows.count / (rows.count - 1) * squares) / counts)
    return np.concatenate(shifts), np.concatenate(errors)


def _roots(shift: Floats, error: Floats, rounding: float) -> Floats:
    flat = error <= rounding
    roots = np.divide(shift, error, out=np.copysign(np.inf, shift), where=~flat)
    return np.where(flat & (np.abs(shift) <= rounding), 0.0, roots)


def root_ends(value: float, error: float, roots: Floats, tail: float) -> tuple[float, float]:
    """Return the ends of a bootstrap-t interval, value - t * `error`. `roots` holds how far each
    resample's mean lies from the estimate, in standard errors. t is their quantile 1 - `tail` for
    the low end, and `tail` for the high end. An end may be infinite."""
    least = float(np.quantile(roots, tail, method="lower"))
    most = float(np.quantile(roots, 1 - tail, method="higher"))
    return value - most * error, value - least * error


def bca_ends(
    value: float, drawn: Floats, jackknife: Floats, tail: float
) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated ends of an interval. `drawn` holds the resampled
    values, and `jackknife` the values with one cluster left out at a time. The result is None if a
    value is NaN or all resampled values are on one side of the estimate."""
    if not (np.isfinite(drawn).all() and np.isfinite(jackknife).all()):
        return None
    below = (np.mean(drawn < value) + np.mean(drawn <= value)) / 2
    if not 0 < below < 1:
        return None
    bias = stats.norm.ppf(below)
    shifts = np.mean(jackknife) - jackknife
    squares = float(np.sum(shifts**2))
    acceleration = float(np.sum(shifts**3)) / (6 * squares**1.5) if squares > 0 else 0.0
    normal = bias + stats.norm.ppf([tail, 1 - tail])
    levels = stats.norm.cdf(bias + normal / (1 - acceleration * normal))
    low, high = np.quantile(drawn, levels)
    return float(low), float(high)
