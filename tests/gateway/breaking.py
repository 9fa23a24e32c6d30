"""What a new description of the API takes away from those who were built on the old one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from services.gateway.openapi import operations

Json = dict[str, Any]
SECTION = re.compile(r"^## Unreleased$(.*?)^## ", re.MULTILINE | re.DOTALL)


def taken_away(old: Json, new: Json) -> list[str]:
    """Operations by their ids, required fields as `Component.field`, and words of an enumeration as
    `Component.field=word`; of a component that is gone, its name."""
    kept = {operation["operationId"] for _, operation in operations(new)}
    lost = [one["operationId"] for _, one in operations(old) if one["operationId"] not in kept]
    before, after = old["components"]["schemas"], new["components"]["schemas"]
    for name, component in before.items():
        if name not in after:
            lost.append(name)
            continue
        fields = after[name].get("properties", {})
        lost += [f"{name}.{one}" for one in component.get("required", ()) if one not in fields]
        for field, schema in component.get("properties", {}).items():
            missing = set(_words(schema)) - set(_words(fields.get(field, schema)))
            lost += [f"{name}.{field}={word}" for word in sorted(map(str, missing))]
    return lost


def _words(schema: Any) -> Iterator[Any]:
    """Of every enumeration in it."""
    if isinstance(schema, dict):
        yield from schema.get("enum", ())
        if "const" in schema:
            yield schema["const"]
        for value in schema.values():
            yield from _words(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _words(value)


def unnamed(lost: list[str], changelog: str) -> list[str]:
    """Those of which the changelog's unreleased section says nothing: it must name the operation,
    the component, the field or the word."""
    found = SECTION.search(changelog)
    said = found[1] if found else ""
    return [one for one in lost if re.split(r"[.=]", one)[-1] not in said]
