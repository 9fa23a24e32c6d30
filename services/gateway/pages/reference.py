"""The page `/docs`, which shows the API's operations and their fields. It is built from
`/openapi.json`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from services.gateway.openapi import parameters_of, responses_of
from services.gateway.pages.page_route import page_router
from services.gateway.pages.templates import page

METHODS = ("get", "post", "put", "patch", "delete")

router = page_router()


@dataclass(frozen=True)
class SchemaField:
    """A parameter, or a field of a request's body."""

    name: str
    kind: str
    required: bool
    says: str


@dataclass(frozen=True)
class Operation:
    """An operation of the API: a method of a path. `bodies` maps the name of each possible request
    type to its fields."""

    id: str
    method: str
    path: str
    summary: str
    parameters: list[SchemaField]
    bodies: dict[str, list[SchemaField]]
    answers: list[tuple[str, str]]


@router.get("/docs")
async def reference(request: Request) -> Response:
    """Show every operation of the API, grouped by tag. The page needs no key."""
    tags = await run_in_threadpool(_operations, request.app)
    return page(request, "reference.html", tags=tags)


@lru_cache(maxsize=4)
def _operations(app: FastAPI) -> dict[str, list[Operation]]:
    description = app.openapi()
    messages = description["components"]["schemas"]
    by_tag: defaultdict[str, list[Operation]] = defaultdict(list)
    for path, methods in description["paths"].items():
        for method in METHODS:
            if method in methods:
                tag = methods[method].get("tags", ["other"])[0]
                spec = methods[method] | {
                    "parameters": list(parameters_of(description, methods[method])),
                    "responses": dict(responses_of(description, methods[method])),
                }
                by_tag[tag].append(_operation(method, path, spec, messages))
    return dict(by_tag)


def _operation(method: str, path: str, spec: dict[str, Any], messages: dict[str, Any]) -> Operation:
    return Operation(
        id=spec["operationId"],
        method=method.upper(),
        path=path,
        summary=spec.get("summary", ""),
        parameters=[
            SchemaField(
                f"{parameter['name']} ({parameter['in']})",
                _kind(parameter["schema"]),
                parameter.get("required", False),
                parameter.get("description", ""),
            )
            for parameter in spec["parameters"]
        ],
        bodies={name: _fields(messages[name]) for name in _messages(spec.get("requestBody", {}))},
        answers=[
            (status, response["description"]) for status, response in spec["responses"].items()
        ],
    )


def _messages(body: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the message schemas that a request or response body can have."""
    for content in body.get("content", {}).values():
        schema = content.get("schema", {})
        for option in schema.get("anyOf") or schema.get("oneOf") or [schema]:
            if "$ref" in option:
                yield str(option["$ref"].rpartition("/")[2])


def _fields(message: dict[str, Any]) -> list[SchemaField]:
    required = message.get("required", ())
    return [
        SchemaField(name, _kind(schema), name in required, schema.get("description", ""))
        for name, schema in message.get("properties", {}).items()
    ]


def _kind(schema: dict[str, Any]) -> str:
    """Return a short name of a type. A message is shown by its name."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(map(_kind, schema[union])))
    if "title" in schema:
        return str(schema["title"])
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " | ".join(_kind({**schema, "type": option}) for option in kind)
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("const", kind))
