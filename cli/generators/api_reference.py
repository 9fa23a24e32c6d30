"""Writes the guide's list of routes, events and counters, `docs/guide/reference.md`. It is
generated from the API's description and from the lines of code that declare counters."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DESCRIPTION = ROOT / "docs" / "openapi.json"  # a test compares it with what is served
KINDS = ("Counter", "Gauge", "Histogram", "Summary")
OURS = "touchstone_"
METHODS = ("get", "post", "patch", "delete")
READ = {"batch", "review", "score"}  # scopes, each of which allows reading results


def reference_page(introduction: str, modules: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the text of the page. `introduction` is its first paragraph. `modules` maps names of
    modules to their syntax trees."""
    yield f"# Routes, events, counters\n\n{introduction}"
    yield "## Routes\n\n"
    yield "| route | does | scope |\n|---|---|---|\n"
    description = json.loads(DESCRIPTION.read_text("utf-8"))
    for path, methods in description["paths"].items():
        for method in filter(methods.__contains__, METHODS):
            yield _route(method, path, methods[method])
    yield f"\nOne of the scopes is enough; “any” stands for {_join(sorted(READ))}. "
    yield "`HEAD` works for every `GET`.\n\n## Events\n\n"
    yield "[Webhooks](webhooks.md) receive `type`, `timestamp` and `data`, without texts:\n\n"
    yield "| event | `data` |\n|---|---|\n"
    first: dict[str, str] = {}
    for event in description["webhooks"]:
        fields = _join(_data(event, description))
        yield f"| `{event}` | {f'as `{first[fields]}`' if fields in first else fields} |\n"
        first.setdefault(fields, event)
    yield "\n## Counters\n\n`/metrics` exports these to Prometheus with their kind, "
    yield "and the counters of Python.\n\n| name | labels | what |\n|---|---|---|\n"
    rows = []
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(KINDS) and node.args:
                name = node.args[0]
                if isinstance(name, ast.Constant) and str(name.value).startswith(OURS):
                    name, says, *rest = map(ast.literal_eval, node.args[:3])
                    labels = _join(rest[0] if rest else ())
                    rows.append(f"| `{name}` | {labels} | {says} |\n")
    yield from sorted(rows)


def _route(method: str, path: str, operation: Mapping[str, Any]) -> str:
    scopes = operation.get("x-scopes", ())
    text = "any" if set(scopes) == READ else _join(scopes) or "none"
    return f"| `{method.upper()} {path}` | {operation['summary']} | {text} |\n"


def _join(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _data(event: str, description: Mapping[str, Any]) -> Iterator[str]:
    """Yield the field names of an event's `data`."""
    schemas = description["components"]["schemas"]
    body = schemas[event.partition(".")[0].capitalize() + "Webhook"]
    data = body["properties"]["data"]
    yield from (schemas[data["$ref"].rpartition("/")[2]] if "$ref" in data else data)["properties"]
