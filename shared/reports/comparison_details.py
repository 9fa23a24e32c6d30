"""Details of a comparison of two systems: bounds of the mean difference, the largest changes, and
histograms. The functions are pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shared.contracts.messages import Scored
from shared.contracts.reports import (
    DensityCell,
    DifferenceBounds,
    DifferenceHistogram,
    ScoreChange,
    VerdictChange,
)
from shared.statistics.intervals import Bounds

MOST_CHANGES = 200
GRID = 40
BINS = 20


@dataclass(frozen=True)
class ScoredPair:
    """One text scored under both systems, with the first result of each side. `new` and `baseline`
    are mean scores, or None if undefined."""

    new_row: Scored[Any, Any]
    baseline_row: Scored[Any, Any]
    new: float | None
    baseline: float | None


def details_of(pairs: Sequence[ScoredPair], scale: Bounds) -> dict[str, Any]:
    """Return the bounds, changes and histograms of a comparison of two systems. `scale` holds the
    lowest and highest possible score."""
    scores = [
        (pair.new, pair.baseline)
        for pair in pairs
        if pair.new is not None and pair.baseline is not None
    ]
    values = np.array(scores, dtype=np.float64).reshape(-1, 2)
    least, most = scale
    histogram = None
    if scores and least is not None and most is not None:
        width = most - least
        differences = values[:, 0] - values[:, 1]
        indices = np.floor((differences + width) / (2 * width) * BINS).astype(np.int64)
        counts = np.bincount(indices.clip(0, BINS - 1), minlength=BINS)
        histogram = DifferenceHistogram(low=-width, high=width, counts=tuple(counts.tolist()))
    return {
        "undefined_new": sum(p.new is None and p.baseline is not None for p in pairs),
        "undefined_baseline": sum(p.baseline is None and p.new is not None for p in pairs),
        "bounds": bounds_of(pairs, scale),
        "verdicts": _verdicts(pairs),
        "changes": _changes(pairs),
        "histogram": histogram,
        "density": density_of(values, scale),
    }


def bounds_of(pairs: Sequence[ScoredPair], scale: Bounds) -> DifferenceBounds | None:
    """Return bounds of the mean difference, with missing scores set to the worst and best value of
    the scale (Manski 1990, American Economic Review 80). None without pairs or bounds."""
    least, most = scale
    if not pairs or least is None or most is None:
        return None
    low = [_or(pair.new, least) - _or(pair.baseline, most) for pair in pairs]
    high = [_or(pair.new, most) - _or(pair.baseline, least) for pair in pairs]
    return DifferenceBounds(
        low=math.fsum(low) / len(low), high=math.fsum(high) / len(high), pairs=len(pairs)
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _verdicts(pairs: Sequence[ScoredPair]) -> tuple[VerdictChange, ...]:
    counts = Counter(
        (new, baseline)
        for pair in pairs
        if (new := pair.new_row.report.verdict) is not None
        and (baseline := pair.baseline_row.report.verdict) is not None
    )
    return tuple(
        VerdictChange(new=new, baseline=baseline, pairs=count)
        for (new, baseline), count in sorted(counts.items())
    )


def _changes(pairs: Sequence[ScoredPair]) -> tuple[ScoreChange, ...]:
    changes = [
        ScoreChange(
            new_job=pair.new_row.job_id,
            baseline_job=pair.baseline_row.job_id,
            custom_id=pair.new_row.custom_id,
            new=pair.new,
            baseline=pair.baseline,
            difference=pair.new - pair.baseline,
        )
        for pair in pairs
        if pair.new is not None and pair.baseline is not None and pair.new != pair.baseline
    ]
    changes.sort(key=lambda row: (-abs(row.difference), row.custom_id or "", row.new_job))
    return tuple(changes[:MOST_CHANGES])


def density_of(values: Any, scale: Bounds) -> tuple[DensityCell, ...]:
    least, most = scale
    if not len(values) or least is None or most is None:
        return ()
    indices = np.floor((values - least) / (most - least) * GRID).astype(np.int64)
    counts = Counter(map(tuple, indices.clip(0, GRID - 1).tolist()))
    return tuple(
        DensityCell(new=new, baseline=baseline, pairs=count)
        for (new, baseline), count in sorted(counts.items())
    )
