"""The API's description at `/openapi.json`, in OpenAPI 3.1.0.

It adds to FastAPI's description: the messages of every metric, headers, scopes, streams and
webhooks. `tests/gateway/operations.txt` lists all operations. `make openapi` writes a copy with
recorded responses to `docs/openapi.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel

from services.gateway import event_views, job_views, openapi_schemas
from services.gateway.auth import SCOPES
from services.gateway.judgement_views import JudgementRequest, LeaseRequest, ReviewQueueRequest
from services.gateway.openapi_schemas import Json
from services.gateway.refusals import MEDIA_TYPE
from services.gateway.routes.batches import BatchRequest
from services.gateway.routes.bulk import described_request
from services.gateway.routes.scores import described_report_request
from services.gateway.routes.webhooks import (
    EndpointChange,
    EndpointRequest,
    ReplayRequest,
    RotationRequest,
)
from services.gateway.views import TEMPLATE, ProblemSchema
from services.registry import contracts

OTHER_REQUESTS = (
    BatchRequest,
    EndpointRequest,
    EndpointChange,
    RotationRequest,
    ReplayRequest,
    JudgementRequest,
    ReviewQueueRequest,
    LeaseRequest,
)
OPENAPI_VERSION = "3.1.0"
KEY: list[dict[str, list[str]]] = [{"key": []}]
METHODS = ("get", "put", "post", "delete", "patch")
SERVER = {"url": "/", "description": "the service that this file was downloaded from"}
LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}

TAGS = {
    "scores": "Score explanations, one by one or up to 1,000 in a call.",
    "jobs": "Jobs: requests and their results.",
    "batches": "Score every line of a file.",
    "files": "Files that batches read and write.",
    "reports": "Batch reports: summaries of many results, with intervals.",
    "models": "The configured models and their state, and requests to a single model.",
    "webhooks": "Your webhook endpoints, which receive events.",
    "judgements": "People's judgements of scores, and queues of lines to judge.",
    "health": "Health of the service: whether it is alive and ready.",
}
HEADERS: dict[str, tuple[str, Json]] = {
    "x-request-id": ("the request's id, in every log line about it", {"type": "string"}),
    "x-touchstone-version": ("version of the service", {"type": "string"}),
    "Location": ("address of the job", {"type": "string"}),
    "Retry-After": (
        "seconds to wait before sending the request again",
        {"type": "integer", "minimum": 0},
    ),
    "Preference-Applied": (
        "`wait=N`: the seconds of `Prefer` that were applied",
        {"type": "string"},
    ),
    "Idempotent-Replayed": (
        "`true` if this repeats the answer to an earlier request",
        {"type": "string"},
    ),
    "RateLimit": (
        "what is left of the rate limit (draft-ietf-httpapi-ratelimit-headers)",
        {"type": "string"},
    ),
    "RateLimit-Policy": ("number of requests that a key may send per minute", {"type": "string"}),
}
REPLAYED = {"create_judgements"}  # without a key: what says the same again is the first
HEADER = "#/components/headers/"
PARAMETER = "#/components/parameters/"
LIMITED = ("RateLimit", "RateLimit-Policy")
SIGNED = {
    "webhook-id": "id of the delivery, the same in every attempt; use it to detect repetitions",
    "webhook-timestamp": "time of this attempt, unix seconds",
    "webhook-signature": "`v1,` followed by base64, one signature for each valid secret "
    "(Standard Webhooks)",
}
RECEIVED = {
    "2XX": "received",
    "410": "disables the endpoint",
    "429": "sent again after `Retry-After`",
}


def install(app: FastAPI) -> None:
    """Make the application serve its OpenAPI description, as `build_description` returns it, at
    `/openapi.json`."""

    def schema() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = build_description(app)
        return app.openapi_schema

    app.openapi = schema  # type: ignore[method-assign]


def build_description(app: FastAPI) -> Json:
    """Build the API's description and return it."""
    description = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=OPENAPI_VERSION,
        summary=app.summary,
        description=app.description,
        license_info=LICENSE,
        contact={"name": "Touchstone"},
        servers=[SERVER],
        tags=[{"name": name, "description": says} for name, says in TAGS.items()],
        routes=app.routes,
    )
    description["security"] = KEY
    all_routes = [context.original_route for context in iter_route_contexts(app.routes)]
    routes = {route.operation_id: route for route in all_routes if isinstance(route, APIRoute)}
    for _, operation in operations(description):
        _complete(operation, routes[operation["operationId"]])
    description["webhooks"] = {event: _webhook(event) for event in event_views.WEBHOOKS}
    description["components"]["headers"] = {
        name: {"description": says, "schema": schema} for name, (says, schema) in HEADERS.items()
    }
    description["components"]["parameters"] = {
        name: {"name": name, "in": "header", "required": True, "description": says,
               "schema": {"type": "string"}}
        for name, says in SIGNED.items()
    }  # fmt: skip
    description["components"]["parameters"] |= _share_parameters(description)
    description["components"]["schemas"] = _components(description)
    description["components"]["responses"] = _share_problems(description)
    return openapi_schemas.finished(description)


def operations(description: Json) -> Iterator[tuple[str, Json]]:
    """Yield each operation of the description with its path, as (path, operation)."""
    for path, methods in description["paths"].items():
        for method in METHODS:
            if method in methods:
                yield path, methods[method]


def parameters_of(description: Json, operation: Json) -> Iterator[Json]:
    """Yield every parameter of the operation, and resolve references."""
    shared = description["components"]["parameters"]
    for parameter in operation.get("parameters", ()):
        yield shared[parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter


def responses_of(description: Json, operation: Json) -> Iterator[tuple[str, Json]]:
    """Yield (status, response) for every response of an operation, with references resolved."""
    shared = description["components"]["responses"]
    for status, response in operation["responses"].items():
        reference = response.get("$ref", "").rpartition("/")[2]
        yield status, shared[reference] if reference else response


def _share_parameters(made: Json) -> Json:
    """Replace parameters that several operations have by references; return the components."""
    uses = Counter(
        json.dumps(parameter)
        for _, operation in operations(made)
        for parameter in operation.get("parameters", ())
    )
    repeated = [json.loads(parameter) for parameter, count in uses.items() if count > 1]
    shared: Json = {parameter["name"]: parameter for parameter in repeated}
    for _, operation in operations(made):
        parameters = operation.get("parameters", [])
        for index, parameter in enumerate(parameters):
            if shared.get(parameter["name"]) == parameter:
                parameters[index] = {"$ref": PARAMETER + parameter["name"]}
    return shared


def _share_problems(made: Json) -> Json:
    """Replace the error responses of all operations with references to shared components. Return
    these components by name."""
    shared: dict[str, tuple[str, Json]] = {}
    for _, operation in operations(made):
        for status, response in operation["responses"].items():
            if status >= "400":
                same = [
                    name_ for name_, _ in shared.values() if name_.startswith(f"Problem{status}")
                ]
                name = f"Problem{status}" + (chr(ord("A") + len(same)) if same else "")
                name, _ = shared.setdefault(json.dumps(response), (name, response))
                operation["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return dict(shared.values())


def _components(made: Json) -> Json:
    requests: list[type[BaseModel]] = [
        *(contract.request for contract in contracts().values()),
        described_report_request(),
        described_request(),
        *OTHER_REQUESTS,
    ]
    answered = [*job_views.job_types(), *event_views.event_types()]
    other_models = {
        name: schema
        for name, schema in made["components"]["schemas"].items()
        if name not in ("HTTPValidationError", "ValidationError")
    }
    return openapi_schemas.components(requests, answered, other_models)


def _complete(operation: Json, route: APIRoute) -> None:
    """Add to an operation of the OpenAPI document the scopes, errors and headers that follow from
    its route."""
    scopes = sorted(set(_scopes(route.dependant)))
    if operation.pop("security", None) is None:
        operation["security"] = []
    says = [operation.get("description", "").partition("\n\nRaises")[0].strip()]
    if scopes:
        says.append(f"Needs the scope {' or '.join(f'`{scope}`' for scope in scopes)}.")
        operation["x-scopes"] = scopes
    operation["description"] = "\n\n".join(filter(None, says))
    for parameter in operation.get("parameters", ()):
        parameter["schema"].pop("description", None)  # as the parameter's own
    _add_errors(operation, writes=not (route.methods or set()) <= {"GET", "HEAD"})
    for status, response in operation["responses"].items():
        header_names = {*response.get("headers", ()), *_headers(status, operation)}
        response["headers"] = {
            name: {"$ref": HEADER + name} for name in HEADERS if name in header_names
        }


def _scopes(dependant: Dependant) -> Iterator[str]:
    if dependant.call is not None:
        yield from SCOPES.get(dependant.call, ())
    for inner in dependant.dependencies:
        yield from _scopes(inner)


def _add_errors(operation: Json, *, writes: bool) -> None:
    """Describe every error of an operation as a problem, and drop FastAPI's default 422."""
    responses = operation["responses"]
    for status in [status for status in responses if _is_default_error(responses[status])]:
        del responses[status]
    every = {
        421: "the service does not accept this host name",
        500: "an internal error; find it in the log by the id in the body",
    }
    if writes:
        every[403] = "a request from another site's page, or with a key without the scope"
    if "requestBody" in operation:
        every[408] = "the body arrived too slowly"
    for status, says in every.items():
        responses.setdefault(str(status), {"description": says})
    schema = {"$ref": TEMPLATE.format(model=ProblemSchema.__name__)}
    for status, response in responses.items():
        if status >= "400":
            response["content"] = {MEDIA_TYPE: {"schema": schema}}
    operation["responses"] = dict(sorted(responses.items()))


def _is_default_error(response: Json) -> bool:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return bool(schema.get("$ref", "").endswith("/HTTPValidationError"))


def _headers(status: str, operation: Json) -> Iterator[str]:
    parameter_names = {
        parameter["name"].lower()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "header"
    }
    is_success = status < "400"
    yield "x-request-id"
    if "security" not in operation:
        yield from ("x-touchstone-version", *LIMITED)
    if status in ("202", "409", "429", "503", "507"):
        yield "Retry-After"
    if is_success and "prefer" in parameter_names:
        yield "Preference-Applied"
    if is_success and (
        "idempotency-key" in parameter_names or operation["operationId"] in REPLAYED
    ):
        yield "Idempotent-Replayed"


def _webhook(event: str) -> Json:
    body = {
        "schema": {"$ref": TEMPLATE.format(model=event_views.webhook_type(event))},
        "example": event_views.example(event),
    }
    return {
        "post": {
            "operationId": f"receive_{event.replace('.', '_')}",
            "tags": ["webhooks"],
            "summary": f"Sent when the event `{event}`",
            "description": "Answer 2xx within 20 seconds. Otherwise it is sent again for up to "
            "75 hours.",
            "security": [],
            "parameters": [{"$ref": PARAMETER + name} for name in SIGNED],
            "requestBody": {"required": True, "content": {"application/json": body}},
            "responses": {status: {"description": says} for status, says in RECEIVED.items()},
        }
    }
