"""FTC: the distance between an answer to a counterfactual and the answer that the explanation
demands.

Pure functions on arrays. The columns are entailment (E), neutral (N) and contradiction (C). Each
row is a probability distribution. Source: Sia et al., AAAI 2023, arXiv:2205.12469, Eq. 1 and
section 2.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.contracts.errors import DegenerateInput
from shared.statistics.ranks import TIE

Floats = NDArray[np.float64]

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)


def ground_distance(alpha: float) -> Floats:
    """Return the distances between labels, of shape (3, 3): D(E, C) = 1 and D(N, E) = D(N, C) =
    alpha. They form a metric only for alpha in [1/2, 1]."""
    if not 0.5 <= alpha <= 1:
        raise DegenerateInput(f"alpha = {alpha} does not give a distance metric", pointer="/alpha")
    return np.array([[0.0, alpha, 1.0], [alpha, 0.0, alpha], [1.0, alpha, 0.0]])


def delta(answers: Floats, targets: Floats) -> Floats:
    """Return FTC-delta, N values of 0 and 1: 1 if the answer's likeliest label is the target's. An
    answer with two likeliest labels scores 0. A target with two likeliest labels accepts either.
    This is Eq. 1 of the FTC paper with d = 1[unequal]; the paper prints d = 1[equal]."""
    top = answers.max(axis=1, keepdims=True)
    modes = answers >= top - TIE
    target_modes = targets >= targets.max(axis=1, keepdims=True) - TIE
    return np.asarray(
        (modes.sum(axis=1) == 1) & (modes & target_modes).any(axis=1), dtype=np.float64
    )


def k(answers: Floats, targets: Floats, epsilon: float) -> Floats:
    """Return FTC-K = 1 - KL(target || answer), N values in [1 + log(epsilon), 1], with the natural
    logarithm. `epsilon` replaces smaller probabilities, which sets the lower bound. For a target
    with one certain label the value is 1 + log p(target). A uniform answer then scores 1 - log 3 =
    -0.0986."""
    answered = np.log(np.maximum(answers, epsilon))
    entropy = np.where(targets > 0, targets * np.log(np.where(targets > 0, targets, 1.0)), 0.0)
    divergence = np.sum(entropy - targets * answered, axis=1)
    return np.asarray(np.minimum(1.0 - divergence, 1.0))  # a divergence is not negative


def floored(answers: Floats, targets: Floats, epsilon: float) -> NDArray[np.bool_]:
    """Return a boolean array of shape (N,). An entry is True if FTC-K replaces a probability below
    `epsilon` in that answer."""
    return np.asarray(((answers < epsilon) & (targets > 0)).any(axis=1))


def transport(answers: Floats, targets: Floats, distance: Floats) -> Floats:
    """Return the Wasserstein-1 distances of answers from targets, N values in [0, 1]. They are
    exact, by optimal transport between three points.

    `distance` is a (3, 3) metric. Shared mass does not move. One of the three surpluses has the
    opposite sign of the others and exchanges mass with each.
    """
    surplus = answers - targets
    hub = np.abs(surplus).argmax(axis=1)
    return np.asarray(np.sum(np.abs(surplus) * distance[hub], axis=1))


def w(answers: Floats, targets: Floats, alpha: float) -> Floats:
    """Return FTC-W = 1 - W1(answer, target), N values in [0, 1], where W1 is the Wasserstein-1
    distance. `alpha` is the distance of neutral from the other two labels, in [1/2, 1]."""
    return np.asarray(np.clip(1 - transport(answers, targets, ground_distance(alpha)), 0.0, 1.0))


def w_normalized(answers: Floats, targets: Floats, alpha: float) -> Floats:
    """Return normalised FTC-W, N values in [0, 1]: 1 - D / Dmax. D is the Wasserstein-1 distance
    from the answer to the target, and Dmax the largest possible distance from that target."""
    distance = ground_distance(alpha)
    corners = np.stack(
        [transport(np.tile(corner, (len(targets), 1)), targets, distance) for corner in np.eye(3)]
    )
    far = transport(answers, targets, distance) / corners.max(axis=0)
    return np.asarray(np.clip(1.0 - far, 0.0, 1.0))


def geometric_mean_p(mean_k: float) -> float:
    """Return exp(mean K - 1), in [epsilon, 1]. If each target gives one label the probability 1,
    this is the geometric mean of the answers' probabilities of these labels."""
    return float(np.exp(mean_k - 1.0))
