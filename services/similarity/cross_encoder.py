"""g(a, b) = sigmoid(f(a, b)), with f the logit of a model that reads both texts together.

Source: Reimers & Gurevych, arXiv:1908.10084, section 4; the cross-encoders of sentence-transformers
with one output and the activation Sigmoid. Neither symmetric nor 1 for equal texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.similarity.cache import Cache
from services.similarity.forward import Forward, Weights
from services.similarity.remembering import Remembering
from shared.calls import Pair
from shared.contracts import ModelUse
from shared.models import Floats


class CrossEncoder:
    """The port `shared.models.Similarity` over one forward pass a distinct ordered pair."""

    def __init__(self, weights: Weights, cache: Cache) -> None:
        self._weights = weights
        forward = Forward(weights)
        self._remembering = Remembering(forward.vectors, weights.use, "cross-encoder", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) scores in [0, 1]; higher: more similar. The order within a pair matters."""
        ordered = [(pair.a, pair.b) for pair in pairs]
        found = self._remembering.vectors(ordered)
        return sigmoid(np.array([found[pair][0] for pair in ordered], dtype=np.float64))


def sigmoid(logits: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow on either side."""
    small = np.exp(-np.abs(logits))
    shares: Floats = np.where(logits >= 0, 1, small) / (1 + small)
    return shares
