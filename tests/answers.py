"""Every answer that a test receives is what the API's description says: one client checks it.

Status, headers, content type and body of whatever an operation answers; problems on any path. The
description's answers are open, so that a new field breaks nobody; here they are closed, so that a
field cannot be sent without being described.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

from services.gateway.app import create_app
from services.gateway.openapi import operations, responses_of
from services.gateway.openapi_schemas import VALUES
from shared.contracts.problems import QUOTA_EXCEEDED, TYPE_BASE, type_name
from shared.process.settings import Settings

Json = dict[str, Any]
MADE_UP = "echo"
PROBLEM = "application/problem+json"
BEFORE_ANY = {"400", "414", "431"}  # refused by the server before any operation is known
# (operation, status) and slugs of problems, of every answer so far, in this process
MET: set[tuple[str, str]] = set()
PROBLEMS: set[str] = set()


class Wrong(AssertionError):
    """An answer that the description does not allow."""


class CheckedClient(httpx.Client):
    """A client whose answers are checked as they arrive."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _paths()  # takes seconds: made now, while no connection idles until the server closes it
        self.event_hooks["response"] = [*self.event_hooks["response"], check]
        self.event_hooks = self.event_hooks


def check(answer: httpx.Response) -> None:
    """Raises Wrong where the answer is not as described."""
    if answer.headers.get("content-type") == PROBLEM:
        _check_body(answer, problem_validator())
    operation = operation_of(answer.request.method, answer.request.url.path)
    if operation is None:
        return
    name, status = operation["operationId"], str(answer.status_code)
    where = f"{name} {status}"
    described = operation["responses"].get(status)
    if described is None and status in BEFORE_ANY:
        return
    if described is None:
        raise Wrong(f"{where}: this status is not described")
    MET.add((name, status))
    _check_headers(where, answer, operation)
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind not in described.get("content", {"": None}):
        raise Wrong(f"{where}: the type {kind!r} is not described")
    if kind == "application/json":
        _check_body(answer, validator(name, status))


def _check_headers(where: str, answer: httpx.Response, operation: Json) -> None:
    always = {"x-request-id"} if operation.get("security") == [] else VERSIONED
    missing = {name for name in always if name not in answer.headers}
    if missing:
        raise Wrong(f"{where}: without {', '.join(sorted(missing))}")
    described = operation["responses"][str(answer.status_code)]["headers"]
    known = {name.lower() for name in described}
    unknown = {name for name in TOLD if name in answer.headers} - known
    if unknown:
        raise Wrong(f"{where}: {', '.join(sorted(unknown))} is not described")


VERSIONED = {"x-request-id", "x-touchstone-version"}
TOLD = {"location", "retry-after", "preference-applied", "idempotent-replayed", "ratelimit",
        "ratelimit-policy"}  # fmt: skip


def _check_body(answer: httpx.Response, allowed: jsonschema_rs.Validator) -> None:
    if answer.request.method == "HEAD":
        return
    answer.read()
    found = _without_made_up(json.loads(answer.content))
    PROBLEMS.update(_problems_in(found))
    error = next(iter(allowed.iter_errors(found)), None)
    if error is not None:
        place = "/".join(map(str, error.instance_path))
        raise Wrong(f"{answer.request.method} {answer.url}: at /{place}: {error.message[:300]}")


def _problems_in(node: Any) -> Iterator[str]:
    """The slugs of the problem that it is, or that are anywhere in it."""
    if isinstance(node, dict):
        if str(node.get("type", "")).startswith((TYPE_BASE, QUOTA_EXCEEDED)):
            yield type_name(node)
        for value in node.values():
            yield from _problems_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from _problems_in(value)


def _without_made_up(node: Any) -> Any:
    """`tests.batches` ends jobs with results that no worker would write: they hold their text."""
    if isinstance(node, list):
        return [_without_made_up(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        name: None if name == "result" and MADE_UP in (value or ()) else _without_made_up(value)
        for name, value in node.items()
    }


BUILDING = threading.Lock()  # a description is not made by several threads at once


def description() -> Json:
    """What the gateway serves, with closed components."""
    with BUILDING:
        return _description()


@cache
def _description() -> Json:
    found = create_app(Settings()).openapi()
    schemas = found["components"]["schemas"]
    bases = (part.get("$ref", "") for one in schemas.values() for part in one.get("allOf", ()))
    parts = {base.rpartition("/")[2] for base in bases}
    components = {name: closed(one, name in parts) for name, one in schemas.items()}
    for _, operation in operations(found):
        operation["responses"] = dict(responses_of(found, operation))
    return {**found, "components": {"schemas": components}}


def closed(node: Any, is_part: bool = False) -> Any:
    """The same, where an object with fields has no others. is_part: of an `allOf`, whose fields are
    not all."""
    if isinstance(node, list):
        return [closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {
        name: {field: closed(one) for field, one in value.items()}
        if name == "properties"
        else [closed(one, is_part=True) for one in value]
        if name == "allOf"
        else value
        if name in VALUES
        else closed(value)
        for name, value in node.items()
    }
    if "allOf" in node:
        found["unevaluatedProperties"] = False
    is_object = isinstance(node.get("properties"), dict) and node.get("type") == "object"
    if is_object and not is_part:
        found.setdefault("additionalProperties", False)
    return found


@cache
def _paths() -> list[tuple[re.Pattern[str], Json]]:
    return [
        (re.compile(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(path))), methods)
        for path, methods in description()["paths"].items()
    ]


def operation_of(method: str, path: str) -> Json | None:
    """None where the description has no such operation."""
    wanted = "get" if method == "HEAD" else method.lower()
    for pattern, methods in _paths():
        if pattern.fullmatch(path) and wanted in methods:
            found: Json = methods[wanted]
            return found
    return None


@cache
def validator(operation_id: str, status: str) -> jsonschema_rs.Validator:
    """Of the JSON that this operation answers with this status."""
    for methods in description()["paths"].values():
        for operation in methods.values():
            if operation["operationId"] == operation_id:
                content = operation["responses"][status]["content"]["application/json"]
                return _validator_of(content["schema"])
    raise KeyError(operation_id)


@cache
def problem_validator() -> jsonschema_rs.Validator:
    return _validator_of({"$ref": "#/components/schemas/Problem"})


def _validator_of(schema: Json) -> jsonschema_rs.Validator:
    whole = {**schema, "components": description()["components"]}
    return jsonschema_rs.Draft202012Validator(whole)
