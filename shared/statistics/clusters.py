"""Clustered rows: standard errors, effective sample sizes and warnings.

Explanations of one text depend on each other. Source: Liang & Zeger (1986), Biometrika 73 (the
sandwich of cluster sums), with G* / (G* - 1) (CR1). For clusters with m rows each, G* = (Σm)² / Σm²
is the equivalent number of equal clusters. The design effect is 1 + ρ (Σm² / Σm - 1): Kish (1965),
Survey Sampling, 5.4, 8.2 and 11.7. ρ, the correlation within clusters, is estimated by the analysis
of variance: Donner (1986), International Statistical Review 54. Pure functions; rows that are not
finite raise ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEW = 30  # fewer clusters: intervals are approximate
VERY_FEW = 8
LARGEST_SHARE = 0.2
NO_SPREAD = 1e-12  # relative: a smaller spread is rounding


@dataclass(frozen=True)
class Clustered:
    """Values sorted by cluster and then in ascending order, with the cluster of each. Results
    therefore do not depend on the original order of the rows."""

    values: Floats
    codes: Integers  # (n,) the cluster of each row, ascending from 0

    @property
    def rows(self) -> int:
        return int(self.values.size)

    @property
    def count(self) -> int:
        """Return the number of clusters."""
        return int(self.codes[-1]) + 1 if self.codes.size else 0

    @property
    def equal_count(self) -> float:
        """Return the effective number of clusters: the number of clusters of equal size with the
        same information. The result is at least 2 for two or more clusters."""
        if self.count < 3:
            return float(self.count)
        return max(2.0, self.rows**2 / float(np.sum(self.sizes**2)))

    @property
    def single(self) -> bool:
        """Return True if every row is a separate cluster."""
        return self.count == self.rows

    @property
    def sizes(self) -> Floats:
        """Return the number of rows in each cluster."""
        return np.bincount(self.codes, minlength=self.count).astype(np.float64)

    def sums(self, about: float = 0.0) -> Floats:
        """Return for each cluster the sum of the values' differences from `about`."""
        sums = np.bincount(self.codes, weights=self.values - about, minlength=self.count)
        return sums.astype(np.float64)


def clustered(values: Sequence[float] | Floats, keys: Sequence[str] | None = None) -> Clustered:
    """Sort the values by cluster. `keys` holds the cluster of each value; with None each row is a
    separate cluster."""
    rows = finite(values)
    order, codes = in_order(rows[:, None], keys)
    return Clustered(rows[order], codes)


def in_order(rows: Floats, keys: Sequence[str] | None) -> tuple[Integers, Integers]:
    """Return the positions that sort `rows` by key and then by value, and the cluster number of
    each row."""
    if keys is not None and len(keys) != len(rows):
        raise ValueError("`keys` must have one entry for each row")
    columns = [rows[:, column] for column in range(rows.shape[1] - 1, -1, -1)]
    if keys is None:
        order = np.lexsort(columns) if len(rows) else np.empty(0, np.int64)
        return order.astype(np.int64), np.arange(len(rows), dtype=np.int64)
    _, codes = np.unique(np.array(keys, dtype=object), return_inverse=True)
    order = np.lexsort([*columns, codes]) if len(rows) else np.empty(0, np.int64)
    return order.astype(np.int64), codes[order].astype(np.int64)


def finite(values: Sequence[float] | Floats) -> Floats:
    """Return the values as floats. Raises ValueError for NaN and infinite values."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("values must be finite")
    return numbers


@dataclass(frozen=True)
class MeanSpread:
    """The precision of a mean. Every field is None if there are fewer than two clusters."""

    mean: float
    se: float | None  # CR1 or by the design effect, the larger; units of the values, >= 0
    effective: float  # equivalent number of independent rows, [1, n]
    rows: int
    clusters: int
    equal_clusters: float  # G*, see `Clustered.equal_count`


def spread(rows: Clustered) -> MeanSpread | None:
    """Return the mean with its standard error, or None if there are no rows."""
    if not rows.rows:
        return None
    mean = float(np.mean(rows.values))
    groups = rows.equal_count
    if rows.count < 2:
        return MeanSpread(mean, None, float(rows.count), rows.rows, rows.count, groups)
    sums = rows.sums(about=mean)
    error = float(np.sqrt(groups / (groups - 1) * np.sum(sums**2)) / rows.rows)
    rounding = NO_SPREAD * float(np.max(np.abs(rows.values)))
    error = error if error > rounding else 0.0  # the rest is rounding
    effective = float(rows.rows)
    if not rows.single:
        variance = float(np.sum((rows.values - mean) ** 2) / (rows.rows - 1))
        if error == 0 or math.sqrt(variance) <= rounding:
            effective = groups
        else:
            # The sandwich is too small where the large clusters happen to agree.
            design = _design_effect(rows, sums)
            if design > 1:
                error = max(error, math.sqrt(variance * design / rows.rows))
            effective = float(np.clip(variance / error**2, 1, rows.rows))
    return MeanSpread(mean, error, effective, rows.rows, rows.count, groups)


def _design_effect(rows: Clustered, sums: Floats) -> float:
    """Return the design effect, >= 1: the variance of these rows' mean divided by its variance if
    the rows were independent. `sums` holds each cluster's sum of deviations from the overall mean.
    """
    count, groups = rows.rows, rows.count
    if count == groups:
        return 1.0
    among = float(np.sum(sums**2 / rows.sizes))
    total = float(np.sum((rows.values - np.mean(rows.values)) ** 2))
    between, within = among / (groups - 1), max(0.0, total - among) / (count - groups)
    usual = (count - count / rows.equal_count) / (groups - 1)  # rows of a cluster
    correlation = max(0.0, between - within) / (between + (usual - 1) * within)
    return 1 + correlation * (count / rows.equal_count - 1)


def warnings(rows: Clustered, effective: float) -> Iterator[str]:
    """Yield warnings about too few clusters, and about clusters of similar rows. `effective` is the
    effective number of rows, see `MeanSpread`."""
    groups = rows.count
    if groups == 1:
        yield "a single cluster has no spread"
    elif 1 < groups < VERY_FEW:
        yield f"there are only {groups} clusters, fewer than {VERY_FEW}"
    elif 1 < groups < FEW:
        yield f"intervals are approximate: {groups} clusters"
    if groups and effective < rows.rows / 2:
        yield f"rows of the same text are similar: {rows.rows} rows count as {effective:.0f}"
    if not rows.single and groups > 1:
        largest = float(np.max(rows.sizes)) / rows.rows
        if largest > LARGEST_SHARE:
            yield f"the largest cluster contains {largest:.0%} of the rows"


def run_places(starts: Integers, sizes: Integers) -> Integers:
    """Return the integers of several runs as one array. Run i consists of `sizes[i]` consecutive
    integers from `starts[i]`."""
    ends = np.cumsum(sizes)
    firsts: Integers = np.repeat(starts - (ends - sizes), sizes)
    return firsts + np.arange(ends[-1])


def without_repeats(rows: Sequence[Hashable]) -> tuple[list[int], int]:
    """Return the positions of the distinct rows, in order, and the number of repeated rows."""
    first: dict[Hashable, int] = {}
    for index, row in enumerate(rows):
        first.setdefault(row, index)
    return list(first.values()), len(rows) - len(first)
