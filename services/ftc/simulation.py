"""What FTC is compared with: LAS, LRA, and whether scores tell where people agree.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, sections 3.3 and 6.4 with Eqs. 2 to 4; LAS: Hase et
al. (2020) with `sim_experiments/compute_sim.py` of the released code. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

Floats = NDArray[np.float64]


def las(observed: Floats) -> Floats:
    """Leakage-adjusted simulatability, (R,) in [-1, 1], higher = the explanation helps more.

    observed: (R, N, 2) of R samples: the simulator's gain from the explanation, 1[right | x, e] -
    1[right | x], in {-1, 0, 1}; and whether the explanation alone gives the label away, 0 or 1.

    The mean of the two groups' mean gains; of one group, where the other is empty.
    Deviates: the paper prints 1/n_0 for both groups; the released code divides by each one's own.
    """
    gain, leaks = observed[..., 0], observed[..., 1]
    sums = np.stack([(gain * (1 - leaks)).sum(axis=-1), (gain * leaks).sum(axis=-1)])
    counts = np.stack([(1 - leaks).sum(axis=-1), leaks.sum(axis=-1)])
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return np.asarray(means.sum(axis=0) / (counts > 0).sum(axis=0))


def lra_literal(stable: Floats, gain: Floats) -> Floats:
    """Eq. 4 as printed, (N,) of 0 and 1: is 1[f(x) = f(x')] the simulator's gain?

    stable: (N,) 1 where the model's label survives the noise; gain: (N,) in {-1, 0, 1}.

    A gain of -1 never matches, and 0 matches a label that flipped: not the test that is described.
    """
    return np.asarray(stable == gain, dtype=np.float64)


def lra_stability(stable: Floats, simulated_stable: Floats) -> Floats:
    """The test that is described, (N,) of 0 and 1: label and explanation both stable or both not.

    simulated_stable: (N,) 1 where the simulator says the same from (x, e) and (x', e').
    """
    return np.asarray(stable == simulated_stable, dtype=np.float64)


def majority(votes: Sequence[str]) -> str | None:
    """The most frequent label; None where two are."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def rank_sum(agreeing: Floats, disagreeing: Floats) -> tuple[float, float] | None:
    """(rho, p): U/(n m), [0, 1], 0.5 is chance; Wilcoxon rank-sum, two-sided.

    agreeing: (n,) scores where people agree with the model; disagreeing: (m,) where they do not.

    Ties count half. None where a group is empty; p is 1 where all scores are the same.
    """
    if not agreeing.size or not disagreeing.size:
        return None
    found: Any = mannwhitneyu(agreeing, disagreeing, alternative="two-sided")
    rho = float(found.statistic) / (agreeing.size * disagreeing.size)
    p = float(found.pvalue)
    return rho, 1.0 if np.isnan(p) else p
