"""Similarities of pairs, asked of the model of this process."""

from __future__ import annotations

from services.similarity.contract import DEFAULT_MODEL, SimilarityReport, SimilarityRequest
from shared.models import models
from shared.version import SERVICE_VERSION


def score(request: SimilarityRequest) -> SimilarityReport:
    """One number a pair, and which model gave them."""
    model = models().similarity(request.model or DEFAULT_MODEL)
    return SimilarityReport(
        similarities=tuple(model.similarities(request.pairs).tolist()),
        model=model.use,
        service_version=SERVICE_VERSION,
    )
