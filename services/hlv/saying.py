"""What a judge said by one method, averaged over its runs. Pure: arrays in, arrays out.

Source: Chen et al., EMNLP 2025, Appendix D: rankings, scores and distributions are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.hlv.kernel import Floats, fractional_ranks, mean_ranks


@dataclass(frozen=True)
class Run:
    """One answer. `values`: (n,) probabilities or scores, NaN where an option's is missing."""

    ranks: Floats | None  # (n,); None where the run does not rank every option
    values: Floats | None = None
    valid: bool = True
    mass: float | None = None  # of the options' letters as first token, [0, 1]


@dataclass(frozen=True)
class Said:
    """The runs of one method, averaged."""

    ranks: Floats  # (n,) all tied where nothing could be read
    values: Floats | None  # (n,)
    runs: int
    invalid_runs: int
    mass: float | None


def averaged(runs: Sequence[Run], options: int) -> Said | None:
    """The mean of the runs; None where an option has no value in any of them.

    An unreadable ranking counts as all tied; a run that rates only some options counts in the mean
    scores, not in the mean ranks.
    """
    ranked = [run.ranks for run in runs if run.ranks is not None]
    rows = [run.values for run in runs if run.values is not None]
    values = _mean(rows, options) if rows else None
    if (rows and values is None) or not (ranked or rows):
        return None
    masses = [run.mass for run in runs if run.mass is not None]
    return Said(
        ranks=mean_ranks(ranked) if ranked or values is None else fractional_ranks(values),
        values=values,
        runs=len(runs),
        invalid_runs=sum(not run.valid for run in runs),
        mass=float(np.mean(masses)) if masses else None,
    )


def _mean(rows: Sequence[Floats], options: int) -> Floats | None:
    """(n,) means over the runs that have a value; None where some option has none."""
    table = np.stack(list(rows)).reshape(len(rows), options)
    if np.isnan(table).all(axis=0).any():
        return None
    return np.asarray(np.nanmean(table, axis=0), dtype=np.float64)
