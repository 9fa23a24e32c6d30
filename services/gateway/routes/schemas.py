"""The route that returns a JSON schema for models that write explanations."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from services.gateway.auth import Reader
from services.gateway.views import error_responses
from shared.contracts.explanation_fields import schema_for_models

router = APIRouter(tags=["scores"])


@router.get(
    "/v1/schemas/explanation",
    operation_id="get_explanation_schema",
    summary="The JSON schema of an explanation, for use with a model",
    responses=error_responses(),
)
async def get_explanation_schema(_: Reader) -> dict[str, Any]:
    """Returns the schema of an explanation. Ask your model for an answer in this form and send it
    as `explanation`."""
    return schema_for_models()
