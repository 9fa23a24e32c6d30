"""HAF: how confident, relevant, diverse, sufficient and necessary are the reasons of a model?

Source: Mothilal et al., arXiv:2506.19113, Eqs. 1-12; `reference` follows `haf.py` of the released
code (uofthcdslab/HAF). Pure functions: numbers in, numbers out; None is "undefined". Every
confidence, similarity, diversity and metric is in [0, 1]. A confidence may be None.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Confidences = Sequence[float | None]

SMALLEST = float(np.nextafter(0, 1))  # e^-U is positive, also where a float cannot say so


def semantic_relevance(similarities: Floats) -> Floats:
    """Eq. 3: S(z_i, r) = 1 - |g(r, r without z_i)|, (N,) in [0, 1]; higher = more relevant."""
    relevances: Floats = 1.0 - np.abs(similarities)
    return relevances


def normalised_relevance(relevances: Floats) -> Floats | None:
    """Eq. 2: (N,) weights of sum 1; None if no token is relevant at all."""
    total = float(np.sum(relevances))
    return relevances / total if total > 0 else None


def uniform_relevance(tokens: int) -> Floats:
    """Return the control with equal relevance of every token, (N,) of sum 1."""
    return np.ones(tokens, dtype=np.float64)


def uncertainty(nll: Floats, weights: Floats) -> float:
    """Eq. 1: U = sum of -log p(z_i) times its weight, nats, >= 0."""
    return float(np.dot(nll, weights))


def confidence(nll: Floats, relevances: Floats) -> float | None:
    """Eq. 4: C = e^-U, in (0, 1], higher = surer.

    nll: (N,) -log p of each token, nats, >= 0. relevances: (N,) of Eq. 3, normalised here.

    None if there is no token, or none that is relevant.
    """
    weights = normalised_relevance(relevances) if nll.size else None
    if weights is None:
        return None
    return max(min(1.0, float(np.exp(-uncertainty(nll, weights)))), SMALLEST)


def mean(values: Confidences) -> float | None:
    """Return the mean of the defined values, or None without any."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def weighted_pair(confidence: float | None, other: float | None, share: float) -> float | None:
    """Return share * C + (1 - share) * other (Eqs. 5, 7 and 10); None if a part is None."""
    if confidence is None or other is None:
        return None
    return share * confidence + (1 - share) * other


def diversity_in_support(
    confidences: Confidences, similarities: Floats, *, count_undefined: bool = False
) -> float | None:
    """Eq. 6, DiS: mean over ordered pairs i != j of (1 - g(r_i, r_j)) C_j; higher = better.

    similarities: (n, n), symmetric. Pairs whose C_j is undefined are left out; the released code
    leaves them out of the sum only (`count_undefined`). None for fewer than two reasons.
    """
    n = len(confidences)
    others = (1.0 - similarities).sum(axis=0) - (1.0 - np.diagonal(similarities))
    terms = [others[j] * c for j, c in enumerate(confidences) if c is not None]
    columns = n if count_undefined else len(terms)
    if n < 2 or not terms:
        return None
    return float(np.clip(np.sum(terms) / (columns * (n - 1)), 0, 1))


def determinantal_diversity(confidences: Confidences, similarities: Floats) -> float | None:
    """DiS-dpp = det(g_ij C_j), after `haf.py`; not in the paper. Needs every C; g_ii = 1."""
    defined = [c for c in confidences if c is not None]
    if len(defined) < max(2, len(confidences)):
        return None
    kernel = similarities.copy()
    np.fill_diagonal(kernel, 1.0)
    return float(np.linalg.det(kernel * np.array(defined)[None, :]))


def diversity_from(similarities: Sequence[float], confidences: Confidences) -> float | None:
    """Eq. 8: div(r, R) = sum_k h(r, r_k) C_k / sum_k C_k, h = 1 - g; None if R is empty."""
    defined = [
        (1.0 - g, c) for g, c in zip(similarities, confidences, strict=True) if c is not None
    ]
    total = sum(c for _, c in defined)
    return sum(h * c for h, c in defined) / total if total > 0 else None


def recovery(confidence: float | None, similarity: float, left_out: float | None) -> float | None:
    """The term of Eq. 12: half C(s_k), half g(s_k, r_j) C(r_j)."""
    if confidence is None or left_out is None:
        return None
    return 0.5 * (confidence + similarity * left_out)


def sufficiency(
    weight: float, decision: float | None, informativeness: float | None
) -> float | None:
    """Eq. 9, RS = w_S C(Y) (1 - I_S); higher = the reason alone suffices."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * (1.0 - informativeness)


def necessity(weight: float, decision: float | None, informativeness: float | None) -> float | None:
    """Eq. 11, RN = w_N C(Y) I_N; higher = the reason is missed when left out."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * informativeness


def predictive_entropy_change(later: Confidences, initial: Confidences) -> float | None:
    """del-PE, after `haf.py`: mean U of a later stage's reasons minus the initial ones', nats."""
    ends = [
        mean([None if c is None else -float(np.log(c)) for c in part]) for part in (later, initial)
    ]
    return None if ends[0] is None or ends[1] is None else ends[0] - ends[1]


def summary(parts: Sequence[float | None]) -> float | None:
    """Our own: the mean of the parts that are defined, each with 1 as its best value."""
    return mean(parts)
