"""The formulas of HAF: how confident, relevant, diverse, sufficient and necessary a model's reasons
are.

Pure functions of numbers that return None for an undefined value. C is a confidence, and g a
similarity of two texts. Every confidence, similarity, diversity and metric is in [0, 1]. Source:
Mothilal et al., arXiv:2506.19113, Eqs. 1-12; `reference` follows `haf.py` of the released code
(uofthcdslab/HAF).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Confidences = Sequence[float | None]

SMALLEST = float(np.nextafter(0, 1))  # e^-U is positive, also where a float cannot say so


def semantic_relevance(similarities: Floats) -> Floats:
    """Return the relevance of each of N tokens, in [0, 1] (Eq. 3 of the HAF paper). It is 1 -
    |similarity of the text with and without the token|. Higher means more relevant."""
    relevances: Floats = 1.0 - np.abs(similarities)
    return relevances


def normalised_relevance(relevances: Floats) -> Floats | None:
    """Return the relevances of N tokens scaled to sum 1 (Eq. 2 of the HAF paper), or None if no
    token is relevant."""
    total = float(np.sum(relevances))
    return relevances / total if total > 0 else None


def uniform_relevance(tokens: int) -> Floats:
    """Return equal relevances of all N tokens, for comparison."""
    return np.ones(tokens, dtype=np.float64)


def uncertainty(nll: Floats, weights: Floats) -> float:
    """Return the uncertainty of a text in nats, at least 0 (Eq. 1 of the HAF paper). It is the sum
    of each token's -log p times its weight."""
    return float(np.dot(nll, weights))


def confidence(nll: Floats, relevances: Floats) -> float | None:
    """Return the confidence in a text, e^-U for the uncertainty U, in (0, 1] (Eq. 4 of the HAF
    paper). Higher means more confident. `nll` has -log p of each of N tokens, in nats. `relevances`
    has the tokens' relevances, which are normalised here. The result is None if no token is
    relevant."""
    weights = normalised_relevance(relevances) if nll.size else None
    if weights is None:
        return None
    return max(min(1.0, float(np.exp(-uncertainty(nll, weights)))), SMALLEST)


def mean(values: Confidences) -> float | None:
    """Return the mean of the defined values, or None if there are none."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def weighted_pair(confidence: float | None, other: float | None, share: float) -> float | None:
    """Return the weighted mean of a confidence, with weight `share`, and another value. Return None
    if either is None."""
    if confidence is None or other is None:
        return None
    return share * confidence + (1 - share) * other


def diversity_in_support(
    confidences: Confidences, similarities: Floats, *, count_undefined: bool = False
) -> float | None:
    """Return the diversity of n reasons, DiS (Eq. 6 of the HAF paper), or None for fewer than two.
    Higher is better.

    It is the mean over ordered pairs i != j of (1 - g(r_i, r_j)) C_j, for similarity g and
    confidence C. `similarities` is a symmetric (n, n) matrix. Pairs with an undefined C_j are left
    out. The released code leaves them out of the sum but counts them (`count_undefined`).
    """
    n = len(confidences)
    others = (1.0 - similarities).sum(axis=0) - (1.0 - np.diagonal(similarities))
    terms = [others[j] * c for j, c in enumerate(confidences) if c is not None]
    columns = n if count_undefined else len(terms)
    if n < 2 or not terms:
        return None
    return float(np.clip(np.sum(terms) / (columns * (n - 1)), 0, 1))


def determinantal_diversity(confidences: Confidences, similarities: Floats) -> float | None:
    """Return the diversity of reasons as in the released code: det(g_ij C_j), for similarities g
    and confidences C. Return None if a confidence is undefined."""
    defined = [c for c in confidences if c is not None]
    if len(defined) < max(2, len(confidences)):
        return None
    kernel = similarities.copy()
    np.fill_diagonal(kernel, 1.0)
    return float(np.linalg.det(kernel * np.array(defined)[None, :]))


def diversity_from(similarities: Sequence[float], confidences: Confidences) -> float | None:
    """Return how much a reason differs from a set of reasons (Eq. 8 of the HAF paper): the mean of
    1 - similarity, weighted by confidence. Return None for an empty set."""
    defined = [
        (1.0 - g, c) for g, c in zip(similarities, confidences, strict=True) if c is not None
    ]
    total = sum(c for _, c in defined)
    return sum(h * c for h, c in defined) / total if total > 0 else None


def recovery(confidence: float | None, similarity: float, left_out: float | None) -> float | None:
    """Return how well a new reason s_k replaces an omitted reason r_j (a term of Eq. 12 of the HAF
    paper): 0.5 (C(s_k) + g(s_k, r_j) C(r_j)). C is the confidence and g the similarity."""
    if confidence is None or left_out is None:
        return None
    return 0.5 * (confidence + similarity * left_out)


def sufficiency(
    weight: float, decision: float | None, informativeness: float | None
) -> float | None:
    """Return the sufficiency of a reason, w_S C(Y) (1 - I_S) (Eq. 9 of the HAF paper). Higher means
    that the reason alone suffices."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * (1.0 - informativeness)


def necessity(weight: float, decision: float | None, informativeness: float | None) -> float | None:
    """Return the necessity of a reason, w_N C(Y) I_N (Eq. 11 of the HAF paper). Higher means that
    the model misses the reason when it is left out."""
    if decision is None or informativeness is None:
        return None
    return weight * decision * informativeness


def predictive_entropy_change(later: Confidences, initial: Confidences) -> float | None:
    """Return the change of uncertainty from the first reasons to those of a later stage, in nats
    (del-PE of the released code)."""
    ends = [
        mean([None if c is None else -float(np.log(c)) for c in part]) for part in (later, initial)
    ]
    return None if ends[0] is None or ends[1] is None else ends[0] - ends[1]


def summary(parts: Sequence[float | None]) -> float | None:
    """Return the mean of the defined parts. The best value of each part is 1. The HAF paper does
    not define this score."""
    return mean(parts)
