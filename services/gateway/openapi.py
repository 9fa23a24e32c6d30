"""The API's description: FastAPI's own, with the contracts' request schemas added."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from services.gateway.rooms import every_room
from services.gateway.routes.batches import BatchRequest
from shared.contracts import Message

TEMPLATE = "#/components/schemas/{model}"


def install(app: FastAPI) -> None:
    """Let `/openapi.json` name every message of every room."""

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
    requests: list[tuple[type[Message], str]] = [(BatchRequest, "validation")]
    requests += [(room.request, "validation") for room in every_room().values()]
    _, definitions = models_json_schema(requests, ref_template=TEMPLATE)  # type: ignore[arg-type]
    schemas = described.setdefault("components", {}).setdefault("schemas", {})
    for name, definition in definitions.get("$defs", {}).items():
        schemas.setdefault(name, definition)
    return described
