"""The similarity service: compares pairs of texts with one model of this process."""

from __future__ import annotations

from services.similarity.contract import (
    CONTRACT,
    DEFAULT_MODEL,
    SimilarityRequest,
    SimilarityResult,
)
from shared.contracts.service import Service
from shared.models.ports import models
from shared.models.remote import register_model_task
from shared.process.settings import SERVICE_VERSION


class SimilarityService(Service):
    contract = CONTRACT

    def score(self, request: SimilarityRequest) -> SimilarityResult:
        model = models().similarity(request.model or DEFAULT_MODEL)
        return SimilarityResult(
            similarities=tuple(model.similarities(request.pairs).tolist()),
            model=model.use,
            service_version=SERVICE_VERSION,
        )


SERVICE = SimilarityService()
calls = register_model_task("similarity")  # the Celery task for the metrics' workers
