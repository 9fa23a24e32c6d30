"""LIME: a linear model of the label's probability around one text.

Source: Ribeiro, Singh & Guestrin (2016), arXiv:1602.04938, equation 1, with the kernel of the
released `lime_text.py` (width 25 on 100 times the cosine distance) and its ridge penalty of 1.
# Deviates: each token is kept with probability 1/2, where the released code first draws how many
to remove; and no features are selected. Pure functions: arrays in, numbers out.
"""

from __future__ import annotations

import numpy as np

from shared.calls import Row, Tokens
from shared.models import Floats

KERNEL_WIDTH = 0.25
PENALTY = 1.0


def eligible(tokens: Tokens) -> list[int]:
    """Positions that may be taken away: those of the text and of its pair."""
    return [place for place, part in enumerate(tokens.parts) if part in ("text", "text_pair")]


def draws(samples: int, tokens: int, seed: int) -> Floats:
    """(S, E) which of E tokens are kept, 0 or 1; the first sample keeps all."""
    generator = np.random.Generator(np.random.Philox(seed))
    masks: Floats = generator.integers(0, 2, size=(samples, tokens)).astype(np.float64)
    masks[0] = 1
    return masks


def rows(masks: Floats, tokens: Tokens) -> tuple[Row, ...]:
    """Each mask as a row: tokens become the mask token, or are deleted where there is none."""
    places = eligible(tokens)
    if tokens.mask_id is not None:
        return tuple(
            Row(
                replaced=tuple((places[gone], tokens.mask_id) for gone in np.flatnonzero(mask == 0))
            )
            for mask in masks
        )
    always = set(range(len(tokens.ids))) - set(places)
    return tuple(
        Row(kept=tuple(sorted(always | {places[stays] for stays in np.flatnonzero(mask)})))
        for mask in masks
    )


def weights(masks: Floats) -> Floats:
    """(S,) w = exp(-D²/σ²)^½ with D = 1 - cos(mask, all ones) = 1 - √(share kept), σ = 0.25."""
    distance = 1 - np.sqrt(masks.mean(axis=1))
    found: Floats = np.sqrt(np.exp(-(distance**2) / KERNEL_WIDTH**2))
    return found


def coefficients(masks: Floats, probabilities: Floats) -> Floats:
    """(E,) β of min over β, c of Σ w (p - c - zβ)² + |β|²: probability a token, signed.

    masks: (S, E) of 0 and 1. probabilities: (S,) of the target, [0, 1].
    Solved as β = (Z'WZ + I)⁻¹ Z'Wp with Z and p less their weighted means; the intercept c is free.
    """
    weight = weights(masks)
    centred = masks - np.average(masks, axis=0, weights=weight)
    raised = probabilities - np.average(probabilities, weights=weight)
    left = (centred * weight[:, None]).T @ centred + PENALTY * np.eye(masks.shape[1])
    return np.asarray(np.linalg.solve(left, centred.T @ (weight * raised)), dtype=np.float64)
