"""HAF: how confident, relevant, diverse, sufficient and necessary are the reasons of a model?

Source: Mothilal et al., arXiv:2506.19113, Eqs. 1-12; `reference` follows `haf.py` of the released
code (uofthcdslab/HAF). Pure functions of numbers that return None for an undefined value. C is a
confidence, which may be None, and g a similarity of two texts. Every confidence, similarity,
diversity and metric is in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Confidences = Sequence[float | None]

SMALLEST = float(np.nextafter(0, 1))  # e^-U is positive, also where a float cannot say so


def semantic_relevance(similarities: Floats) -> Floats:
    """Return 1 - |g(r, r without z_i)| for each of N tokens (Eq. 3), in [0, 1]. Higher means more
    relevant."""
    relevances: Floats = 1.0 - np.abs(similarities)
    return relevances


def normalised_relevance(relevances: Floats) -> Floats | None:
    """Return N weights of sum 1 (Eq. 2), or None if no token is relevant."""
    total = float(np.sum(relevances))
    return relevances / total if total > 0 else None


def uniform_relevance(tokens: int) -> Floats:
    """Return equal relevances of all N tokens, as a control."""
    return np.ones(tokens, dtype=np.float64)


def uncertainty(nll: Floats, weights: Floats) -> float:
    """Return the uncertainty U in nats, at least 0 (Eq. 1). It is the sum over tokens of -log
    p(z_i) times its weight."""
    return float(np.dot(nll, weights))


def confidence(nll: Floats, relevances: Floats) -> float | None:
    """Return C = e^-U, in (0, 1] (Eq. 4). Higher means more confident. `nll` has -log p of each of
    N tokens, in nats. `relevances` has the N values of Eq. 3, which are normalised here. The result
    is None if there is no relevant token."""
    weights = normalised_relevance(relevances) if nll.size else None
    if weights is None:
        return None
    return max(min(1.0, float(np.exp(-uncertainty(nll, weights)))), SMALLEST)


def mean(values: Confidences) -> float | None:
    """Return the mean of the defined values, or None if there are none."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def weighted_pair(confidence: float | None, other: float | None, share: float) -> float | None:
    """Return share * C + (1 - share) * other (Eqs. 5, 7 and 10), or None if a part is None."""
    if confidence is None or other is None:
        return None
    return share * confidence + (1 - share) * other


def diversity_in_support(
    confidences: Confidences, similarities: Floats, *, count_undefined: bool = False
) -> float | None:
    """Return DiS (Eq. 6): the mean over ordered pairs i != j of (1 - g(r_i, r_j)) C_j. Higher is
    better.

    `similarities` is a symmetric (n, n) matrix. Pairs with an undefined C_j are left out. The
    released code leaves them out of the sum but counts them (`count_undefined`). The result is None
    for fewer than two reasons.
    """
    n = len(confidences)
    others = (1.0 - similarities).sum(axis=0) - (1.0 - np.diagonal(similarities))
    terms = [others[j] * c for j, c in enumerate(confidences) if c is not None]
    columns = n if count_undefined else len(terms)
    if n < 2 or not terms:
        return None
    return float(np.clip(np.sum(terms) / (columns * (n - 1)), 0, 1))


def determinantal_diversity(confidences: Confidences, similarities: Floats) -> float | None:
    """Return DiS-dpp = det(g_ij C_j) for similarities g, with g_ii = 1, and confidences C. Return
    None if a C is undefined. It is from `haf.py`, not from the paper."""
    defined = [c for c in confidences if c is not None]
    if len(defined) < max(2, len(confidences)):
        return None
    kernel = similarities.copy()
    np.fill_diagonal(kernel, 1.0)
    return float(np.linalg.det(kernel * np.array(defined)[None, :]))


def diversity_from(similarities: Sequence[float], confidences: Confidences) -> float | None:
    """Return the diversity of a reason from a set R (Eq. 8), the mean of 1 - g weighted by C_k.
    Return None if R is empty."""
    defined = [
        (1.0 - g, c) for g, c in zip(similarities, confidences, strict=True) if c is not None
    ]
    total = sum(c for _, c in defined)
    return sum(h * c for h, c in defined) / total if total > 0 else None


def recovery(confidence: float | None, similarity: float, left_out: float | None) -> float | None:
    """Return one term of Eq. 12: half of C(s_k) plus half of g(s_k, r_j) C(r_j)."""
    if confidence is None or left_out is None:
        return None
    return 0.5 * (confidence + similarity * left_out)


def sufficiency(
    weight: float, decision: float | None, informativeness: float | None
) -> float | None:
    """Return RS = w_S C(Y) (1 - I_S) (Eq. 9). Higher means that the reason alone suffices."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * (1.0 - informativeness)


def necessity(weight: float, decision: float | None, informativeness: float | None) -> float | None:
    """Return RN = w_N C(Y) I_N (Eq. 11). Higher means that the model misses the reason when it is
    left out."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * informativeness


def predictive_entropy_change(later: Confidences, initial: Confidences) -> float | None:
    """Return del-PE as in `haf.py`: the mean uncertainty of a later stage's reasons minus that of
    the initial reasons, in nats."""
    ends = [
        mean([None if c is None else -float(np.log(c)) for c in part]) for part in (later, initial)
    ]
    return None if ends[0] is None or ends[1] is None else ends[0] - ends[1]


def summary(parts: Sequence[float | None]) -> float | None:
    """Return the mean of the defined parts, each of which has 1 as its best value. This score is
    our own."""
    return mean(parts)
