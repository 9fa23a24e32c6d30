"""What a comparison of two systems shows beside its tests: bounds, changes, pictures. Pure."""

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
    """One text under both systems; of several results of a side the first. first, second: its mean
    score, None where it is undefined."""

    first_row: Scored[Any, Any]
    second_row: Scored[Any, Any]
    first: float | None
    second: float | None


def details_of(pairs: Sequence[ScoredPair], scale: Bounds) -> dict[str, Any]:
    """Fields of a comparison. scale: least and greatest score there can be."""
    both = [
        (one.first, one.second) for one in pairs if one.first is not None and one.second is not None
    ]
    values = np.array(both, dtype=np.float64).reshape(-1, 2)
    least, most = scale
    histogram = None
    if both and least is not None and most is not None:
        width = most - least
        differences = values[:, 0] - values[:, 1]
        places = np.floor((differences + width) / (2 * width) * BINS).astype(np.int64)
        counts = np.bincount(places.clip(0, BINS - 1), minlength=BINS)
        histogram = DifferenceHistogram(low=-width, high=width, counts=tuple(counts.tolist()))
    return {
        "undefined_a": sum(one.first is None and one.second is not None for one in pairs),
        "undefined_b": sum(one.second is None and one.first is not None for one in pairs),
        "bounds": bounds_of(pairs, scale),
        "verdicts": _verdicts(pairs),
        "changes": _changes(pairs),
        "histogram": histogram,
        "density": density_of(values, scale),
    }


def bounds_of(pairs: Sequence[ScoredPair], scale: Bounds) -> DifferenceBounds | None:
    """Worst-case bounds (Manski 1990, American Economic Review 80) of the mean difference."""
    least, most = scale
    if not pairs or least is None or most is None:
        return None
    low = [_or(one.first, least) - _or(one.second, most) for one in pairs]
    high = [_or(one.first, most) - _or(one.second, least) for one in pairs]
    return DifferenceBounds(
        low=math.fsum(low) / len(low), high=math.fsum(high) / len(high), pairs=len(pairs)
    )


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _verdicts(pairs: Sequence[ScoredPair]) -> tuple[VerdictChange, ...]:
    found = Counter(
        (first, second)
        for one in pairs
        if (first := one.first_row.report.verdict) is not None
        and (second := one.second_row.report.verdict) is not None
    )
    return tuple(
        VerdictChange(first=first, second=second, pairs=count)
        for (first, second), count in sorted(found.items())
    )


def _changes(pairs: Sequence[ScoredPair]) -> tuple[ScoreChange, ...]:
    found = [
        ScoreChange(
            first_job=one.first_row.job_id,
            second_job=one.second_row.job_id,
            custom_id=one.first_row.custom_id,
            first=one.first,
            second=one.second,
            difference=one.first - one.second,
        )
        for one in pairs
        if one.first is not None and one.second is not None and one.first != one.second
    ]
    found.sort(key=lambda one: (-abs(one.difference), one.custom_id or "", one.first_job))
    return tuple(found[:MOST_CHANGES])


def density_of(values: Any, scale: Bounds) -> tuple[DensityCell, ...]:
    least, most = scale
    if not len(values) or least is None or most is None:
        return ()
    places = np.floor((values - least) / (most - least) * GRID).astype(np.int64)
    found = Counter(map(tuple, places.clip(0, GRID - 1).tolist()))
    return tuple(
        DensityCell(first=first, second=second, pairs=count)
        for (first, second), count in sorted(found.items())
    )
