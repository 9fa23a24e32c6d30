"""Do probabilities mean what they say? Temperature scaling and its measures.

Source: Guo et al., On Calibration of Modern Neural Networks, ICML 2017, arXiv:1706.04599.
Pure functions: arrays in, numbers out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from shared.models import Floats

BINS = 15  # of equal width over [0, 1]
TEMPERATURES = (0.05, 20.0)


def best_temperature(logits: Floats, labels: NDArray[np.int64]) -> float:
    """The temperature that minimizes the negative log-likelihood of the labels (§4.2).

    logits: (N, L) outputs of the head.
    labels: (N,) columns of the true labels.
    """

    def negative_log_likelihood(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        chosen = scaled[np.arange(len(labels)), labels]
        return float(np.mean(logsumexp(scaled, axis=1) - chosen))

    bounds = (np.log(TEMPERATURES[0]), np.log(TEMPERATURES[1]))
    found = minimize_scalar(negative_log_likelihood, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def expected_calibration_error(probabilities: Floats, labels: NDArray[np.int64]) -> float:
    """Mean gap between confidence and accuracy over `BINS` bins (eq. 3), [0, 1], 0 is best.

    Confidence is the probability of the predicted label, so for two labels only the bins over
    [0.5, 1] are in use.
    """
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    gaps = [
        abs(float(np.sum(correct[bins == bin_]) - np.sum(confidence[bins == bin_])))
        for bin_ in range(BINS)
    ]
    return sum(gaps) / len(labels)


def brier_score(probabilities: Floats, labels: NDArray[np.int64]) -> float:
    """Half the squared error summed over the labels, [0, 1], 0 is best (Brier, 1950).

    Half, so that for two labels it is the squared error of the second one's probability.

    probabilities: (N, L), rows sum to 1.
    labels:        (N,) columns of the true labels.
    """
    truth = np.eye(probabilities.shape[1])[labels]
    return float(np.mean(((probabilities - truth) ** 2).sum(axis=1)) / 2)
