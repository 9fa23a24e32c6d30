"""Writes the guide's list of routes, events and counters, `docs/guide/reference.md`. It is
generated from the API's description and from the lines of code that declare counters."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DESCRIPTION = ROOT / "docs" / "openapi.json"  # a test compares it with what is served
KINDS = ("Counter", "Gauge", "Histogram", "Summary")
OURS = "touchstone_"
METHODS = ("get", "post", "patch", "delete")


def reference_page(introduction: str, modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the text of the page. `introduction` is its first paragraph. `modules` maps names of
    modules to their syntax trees."""
    yield f"# Routes, events, counters\n\n{introduction}"
    yield "`/docs` and `docs/openapi.json` describe the fields of requests and responses.\n\n"
    yield "## Routes\n\n"
    yield "| route | does | scope |\n|---|---|---|\n"
    description = json.loads(DESCRIPTION.read_text("utf-8"))
    for path, methods in description["paths"].items():
        for method in filter(methods.__contains__, METHODS):
            yield _route(method, path, methods[method])
    yield "\nOne of the scopes is enough. `HEAD` works for every `GET`.\n\n## Events\n\n"
    yield "[Webhooks](webhooks.md) receive `type`, `timestamp` and `data`, without texts:\n\n"
    yield "| event | `data` |\n|---|---|\n"
    for event in description["webhooks"]:
        fields = ", ".join(f"`{name}`" for name in _data(event, description))
        yield f"| `{event}` | {fields} |\n"
    yield "\n## Counters\n\n`/metrics` exports these to Prometheus, and the counters of Python."
    yield "\n\n| name | kind | labels | what |\n|---|---|---|---|\n"
    rows = []
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(KINDS) and node.args:
                name = node.args[0]
                if isinstance(name, ast.Constant) and str(name.value).startswith(OURS):
                    kind = ast.unparse(node.func).rpartition(".")[2].lower()
                    name, says, *rest = map(ast.literal_eval, node.args[:3])
                    labels = ", ".join(f"`{label}`" for label in (rest[0] if rest else ()))
                    rows.append(f"| `{name}` | {kind} | {labels} | {says} |\n")
    yield from sorted(rows)


def _route(method: str, path: str, operation: Mapping[str, Any]) -> str:
    scopes = ", ".join(f"`{scope}`" for scope in operation.get("x-scopes", ())) or "none"
    return f"| `{method.upper()} {path}` | {operation['summary']} | {scopes} |\n"


def _data(event: str, description: Mapping[str, Any]) -> Iterator[str]:
    """Yield the field names of an event's `data`."""
    schemas = description["components"]["schemas"]
    body = schemas[event.partition(".")[0].capitalize() + "Webhook"]
    data = body["properties"]["data"]
    yield from (schemas[data["$ref"].rpartition("/")[2]] if "$ref" in data else data)["properties"]
