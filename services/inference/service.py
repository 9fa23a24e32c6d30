"""The inference service: one operation on one model of this process."""

from __future__ import annotations

from services.inference.contract import CONTRACT, InferenceRequest, InferenceResult
from shared.contracts.service import Service
from shared.models.ports import describe, models, perform
from shared.models.remote import register_model_task
from shared.process.settings import SERVICE_VERSION


class InferenceService(Service):
    contract = CONTRACT

    def score(self, request: InferenceRequest) -> InferenceResult:
        """Return the model's answer, with the name and version of the model."""
        description = describe(models(), request.model)
        return InferenceResult(
            operation=request.ask.operation,
            answer=perform(request.ask, models(), request.model),
            labels=description.labels,
            model=description.use,
            service_version=SERVICE_VERSION,
        )


SERVICE = InferenceService()
calls = register_model_task("inference")  # of the metrics' workers
