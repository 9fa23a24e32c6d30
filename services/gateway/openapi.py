"""The API's description: FastAPI's own, with the contracts' request schemas added."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from services.gateway.refusals import MEDIA_TYPE
from services.gateway.routes.batches import BatchRequest
from services.gateway.routes.bulk import JobIds, bulk_request
from services.gateway.routes.webhooks import EndpointChange, EndpointRequest, RotationRequest
from services.registry import every_contract, metrics
from shared.contracts import Message

OTHER_REQUESTS = (BatchRequest, EndpointRequest, EndpointChange, RotationRequest, JobIds)
TEMPLATE = "#/components/schemas/{model}"


def install(app: FastAPI) -> None:
    """Let `/openapi.json` name every message of every service."""

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]


def _described(app: FastAPI) -> dict[str, Any]:
    described = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
    )
    asked: list[type[Message]] = [
        *(contract.request for contract in every_contract().values()),
        *(bulk_request(contract.request) for contract in metrics().values()),
        *OTHER_REQUESTS,
    ]
    requests: list[tuple[type[Message], str]] = [(message, "validation") for message in asked]
    _, definitions = models_json_schema(requests, ref_template=TEMPLATE)  # type: ignore[arg-type]
    schemas = described.setdefault("components", {}).setdefault("schemas", {})
    for name, definition in definitions.get("$defs", {}).items():
        schemas.setdefault(name, definition)
    for methods in described["paths"].values():
        for operation in methods.values():
            operation["responses"] = _as_problems(operation["responses"])
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return described


def _as_problems(responses: dict[str, Any]) -> dict[str, Any]:
    """Every error is a problem; the 422 that FastAPI adds by itself is none of ours."""
    found = {}
    for status, response in responses.items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("$ref", "").endswith("/HTTPValidationError"):
            continue
        if status >= "400":
            response["content"] = {MEDIA_TYPE: {"schema": schema}}
        found[status] = response
    return found
