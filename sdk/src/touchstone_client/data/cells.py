"""Conversion between the cells of a table and the values of fields.

The cell of a text field is its text, and the cell of any other field is JSON. Some values cannot be
written as a cell: null, an empty string, or a number in a text field. They are stored in an
additional column (`REST`), so that nothing is lost.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from touchstone_client._messages import models
from touchstone_client._wire import METRICS

Types = frozenset[str]  # of JSON Schema: string, integer, number, boolean, null, object, array
REST = "touchstone.fields"  # JSON of what the other cells of a row cannot say
TEXT: Types = frozenset({"string"})
FORMULA = frozenset("=+-@")  # OWASP, "CSV injection"; full-width and small forms count too
BREAKS = frozenset("\t\r\n")
BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # letters and symbols that show nothing


@dataclass(frozen=True)
class Exact:
    """A value to use as it is, without parsing it as a cell."""

    value: Any


def request_of(metric: str | None) -> type[BaseModel] | None:
    """Return the request type of a metric, or None for an unknown metric."""
    message = getattr(models, f"{(metric or '').capitalize()}Request", None)
    return message if isinstance(message, type) and metric else None


@lru_cache(maxsize=32)
def field_types(metric: str | None) -> Mapping[str, Types]:
    """Return the possible types of each field, including nested ones such as `options.k`. If
    `metric` is None, return the fields of all metrics."""
    if metric is None:
        merged: dict[str, Types] = {}
        for name in METRICS:
            for field, types in field_types(name).items():
                merged[field] = merged.get(field, frozenset()) | types
        return merged
    request = request_of(metric)
    if request is None:
        return {}
    schema = request.model_json_schema()
    definitions, listed = schema.get("$defs", {}), dict(schema["properties"])
    for kind in listed.get("options", {}).get("anyOf", ()):
        options = definitions.get(kind.get("$ref", "").rpartition("/")[2], {})
        listed |= {f"options.{name}": one for name, one in options.get("properties", {}).items()}
    return {name: frozenset(_types(one, definitions)) for name, one in listed.items()}


def _types(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _types(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _types(part, definitions)
    if "type" in schema:
        yield schema["type"]
    for value in (*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())):
        yield type_of(value)


def type_of(value: Any) -> str:
    """Return the JSON Schema type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((int, "integer"), (float, "number"), (str, "string"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "array"


def types_of(metric: str | None, field: str) -> Types:
    """Return the possible types of a metric's field. For a field that the metric does not have,
    return its types in any metric, or else text."""
    return field_types(metric).get(field) or field_types(None).get(field, TEXT)


def put(fields: dict[str, Any], name: str, value: Any) -> None:
    """Set a field, which may be nested, such as `options.k`."""
    whole, _, part = name.partition(".")
    held = fields.get(whole)
    fields[whole] = {**(held if isinstance(held, dict) else {}), part: value} if part else value


@lru_cache(maxsize=256)
def readings(field: str) -> frozenset[Types]:
    """Return the types that a table cell of this field may have, over all metrics."""
    return frozenset(types_of(metric, field) for metric in (None, *METRICS))


def value_of(cell: Any, types: Types) -> Any:
    """Return the value of a table cell for a field that accepts `types`. Text that is valid JSON of
    such a type is parsed, and all other cells are returned unchanged."""
    if isinstance(cell, Exact):
        return cell.value
    other_types = types - {"string", "null"}
    if not isinstance(cell, str) or not other_types:
        return cell
    try:
        value = json.loads(cell, parse_constant=_refused)
    except (ValueError, RecursionError):
        is_word = "boolean" in other_types and cell.lower() in ("true", "false")
        return cell.lower() == "true" if is_word else cell
    if "string" not in types or type_of(value) in other_types:
        return value
    return value if type_of(value) == "integer" and "number" in other_types else cell


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def cell_of(value: Any, field: str) -> str | None:
    """Return the text of a cell that is read back as exactly this value for every metric. Return
    None if there is no such text."""
    if value is None:
        return None
    cell = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not cell or not is_utf8(cell):
        return None
    expected = canonical(value)
    is_exact = all(canonical(value_of(cell, types)) == expected for types in readings(field))
    return cell if is_exact else None


def is_utf8(text: str) -> bool:
    """Return True if the text contains no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(value: Any) -> str:
    """Return JSON with sorted keys. It is equal for equal values of equal types."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def holds_nul(value: Any) -> bool:
    """Return True if a text in the value contains U+0000. Databases and most table formats do not
    accept it."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_nul(item) for pair in value.items() for item in pair)
    return isinstance(value, list) and any(map(holds_nul, value))


def may_be_formula(text: str) -> bool:
    """Return True if a spreadsheet might run the text as a formula, ignoring invisible characters
    at its start."""
    for character in text:
        if character in BREAKS:
            return True
        if not _is_invisible(character):
            return unicodedata.normalize("NFKC", character)[0] in FORMULA
    return False


def _is_invisible(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "CZ" or category in ("Mn", "Me") or character in BLANKS


def quoted(value: Any) -> str:
    """Return the value as a CSV cell that no spreadsheet runs as a formula. A number stays a
    number."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    text = str(value)
    return f"'{text}" if may_be_formula(text) else text
