"""g(a, b) = max(0, cos(e(a), e(b))), with e the embedding of one text.

Source: Reimers & Gurevych, Sentence-BERT, arXiv:1908.10084. Pooling is what the model's own
modules say. Symmetric, and 1 for two equal texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.similarity.cache import Cache, Input, Vector
from services.similarity.forward import Forward, Weights
from services.similarity.remembering import Remembering
from shared.calls import Pair
from shared.contracts import ModelUse
from shared.errors import ScoringError
from shared.models import Floats


class BiEncoder:
    """The port `shared.models.Similarity` over one embedding a distinct text."""

    def __init__(self, weights: Weights, cache: Cache) -> None:
        self._weights = weights
        self._forward = Forward(weights)
        self._remembering = Remembering(self._directions, weights.use, "similarity", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) cosines in [0, 1], negative ones as 0; 1: the model sees no difference."""
        if not pairs:
            return np.zeros(0)
        found = self._remembering.vectors([text for pair in pairs for text in (pair.a, pair.b)])
        cosines = [np.dot(found[pair.a].astype(float), found[pair.b]) for pair in pairs]
        return np.clip(np.array(cosines, dtype=np.float64), 0, 1)

    def _directions(self, inputs: Sequence[Input]) -> list[Vector]:
        """For each text (D,) its embedding, of length 1."""
        found = np.array(self._forward.vectors(inputs), dtype=np.float64)  # (N, D)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not lengths.all():
            raise ScoringError(f"{self.use.name!r} embeds a text as zero: it has no direction")
        return list((found / lengths).astype(np.float32))
