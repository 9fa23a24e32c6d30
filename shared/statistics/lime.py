"""LIME: a linear model of a probability on the presence of a text's units.

Source: Ribeiro, Singh & Guestrin (2016), arXiv:1602.04938, equation 1, with the kernel of the
released `lime_text.py` (width 25 on 100 times the cosine distance) and its ridge penalty of 1.

# Deviates: each unit is kept with probability 1/2, while the released code first draws the number
of units to remove; and no features are selected. Symbols: S samples, E units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KERNEL_WIDTH = 0.25
PENALTY = 1.0


def draws(samples: int, units: int, seed: int) -> Floats:
    """Return random masks of 0 and 1, shape (samples, units). The first sample keeps all units."""
    generator = np.random.Generator(np.random.Philox(seed))
    masks: Floats = generator.integers(0, 2, size=(samples, units)).astype(np.float64)
    masks[0] = 1
    return masks


def weights(masks: Floats) -> Floats:
    """Return one weight per mask, w = exp(-D²/σ²)^½ with σ = 0.25. The distance is D = 1 -
    cos(mask, all ones) = 1 - √(share kept)."""
    distance = 1 - np.sqrt(masks.mean(axis=1))
    weights: Floats = np.sqrt(np.exp(-(distance**2) / KERNEL_WIDTH**2))
    return weights


def coefficients(masks: Floats, probabilities: Floats) -> Floats:
    """Return the coefficient β of each unit, its signed effect on the probability. They minimise Σ
    w (p - c - zβ)² + |β|² over β and the free intercept c. z is a row of `masks`, (samples, units)
    of 0 and 1, with weight w. p is its entry in `probabilities`, the target's, in [0, 1]. The
    solution is β = (Z'WZ + I)⁻¹ Z'Wp with Z and p less their weighted means."""
    weight = weights(masks)
    centred = masks - np.average(masks, axis=0, weights=weight)
    raised = probabilities - np.average(probabilities, weights=weight)
    left = (centred * weight[:, None]).T @ centred + PENALTY * np.eye(masks.shape[1])
    return np.asarray(np.linalg.solve(left, centred.T @ (weight * raised)), dtype=np.float64)
