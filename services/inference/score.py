"""One operation, asked of the models of this process."""

from __future__ import annotations

from services.inference.contract import InferenceReport, InferenceRequest
from shared.models import models
from shared.performing import describe, perform
from shared.version import SERVICE_VERSION


def score(request: InferenceRequest) -> InferenceReport:
    """The model's answer, and which model it was."""
    description = describe(models(), request.model)
    return InferenceReport(
        operation=request.ask.operation,
        answer=perform(request.ask, models(), request.model),
        labels=description.labels,
        model=description.use,
        service_version=SERVICE_VERSION,
    )
