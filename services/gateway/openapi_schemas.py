"""Components of the API's description, so that standard generators and linters take them.

Names are public and unique (`BatchSchema` is `Batch`), titles stand at components alone, since
generators make a class of each. Requests are closed; answers are open, so that a new field breaks
nobody. What stands in both is described twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from services.gateway.views import TEMPLATE

Json = dict[str, Any]
REFERENCE = TEMPLATE.format(model="")
VALUES = frozenset(  # no schemas
    {"const", "default", "enum", "example", "examples", "mapping", "x-required-unless"}
)
SCHEMA, ANSWER = "Schema", "Answer"


def components(
    asked: Sequence[type[BaseModel]],
    answered: Sequence[type[BaseModel]],
    others: Mapping[str, Json],
) -> Json:
    """Every component. others: those of answers that are described already."""
    requests = _definitions(asked, "validation")
    answers = {**others, **_definitions(answered, "serialization")}
    both = {name: f"{name}{ANSWER}" for name in requests.keys() & answers.keys()}
    opened = {both.get(name, name): renamed(_open(one), both) for name, one in answers.items()}
    return {name: one for name, one in sorted({**requests, **opened}.items())}


def _definitions(messages: Sequence[type[BaseModel]], mode: JsonSchemaMode) -> Json:
    wanted = [(message, mode) for message in messages]
    _, found = models_json_schema(wanted, ref_template=TEMPLATE)
    definitions: Json = found.get("$defs", {})
    return definitions


def finished(described: Json) -> Json:
    """The same description with public names, without inner titles, in types that are told."""
    schemas = described["components"]["schemas"]
    names = {name: public(name) for name in schemas}
    if len(set(names.values())) < len(names):
        raise ValueError("two components of the API's description would have one name")
    named = renamed(described, names)
    shaped: Json = _normalize(named)
    shaped["info"] = described["info"]
    found = {
        names[name]: {"title": names[name], **one}
        for name, one in shaped["components"]["schemas"].items()
    }
    for component, told_by in list(_discriminators(found)):
        _set_required(found[component], told_by)
    shaped["components"]["schemas"] = found
    return shaped


def _discriminators(node: Any) -> Iterator[tuple[str, str]]:
    """Each arm of each union, and the field that tells it from the others."""
    if isinstance(node, dict):
        if "propertyName" in node.get("discriminator", {}):
            for reference in node["discriminator"]["mapping"].values():
                yield reference.removeprefix(REFERENCE), node["discriminator"]["propertyName"]
        for value in node.values():
            yield from _discriminators(value)
    elif isinstance(node, list):
        for value in node:
            yield from _discriminators(value)


def _set_required(schema: Json, field: str) -> None:
    """What tells an arm of a union from the others must be there, so it needs no default."""
    schema["required"] = sorted({*schema.get("required", ()), field})
    schema["properties"][field].pop("default", None)


def public(name: str) -> str:
    """Of a class of ours: the schema of something bears its name."""
    return name.removesuffix(SCHEMA)


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """The same with every reference to a component under its new name."""

    def rename(value: str) -> str:
        name = value.removeprefix(REFERENCE)
        return REFERENCE + names.get(name, name) if value.startswith(REFERENCE) else value

    return _map_str(node, rename)


def _map_str(node: Any, change: Callable[[str], str]) -> Any:
    if isinstance(node, dict):
        return {name: _map_str(value, change) for name, value in node.items()}
    if isinstance(node, list):
        return [_map_str(value, change) for value in node]
    return change(node) if isinstance(node, str) else node


def _open(schema: Any) -> Any:
    """The same without `additionalProperties: false`, at any depth."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value if name in VALUES else _open(value)
        for name, value in schema.items()
        if (name, value) != ("additionalProperties", False)
    }


def _normalize(node: Any, *, is_map: bool = False) -> Any:
    """Without titles, keys by pattern as `propertyNames`, choices of words as one `enum`.

    is_map: the keys are names of a caller's or of ours, not words of JSON Schema.
    """
    if isinstance(node, list):
        return [_normalize(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {
        name: value
        if name in VALUES and not is_map
        else _normalize(value, is_map=name == "properties")
        for name, value in node.items()
        if is_map or not _is_unused(name, value)
    }
    return kept if is_map else _merge_enum(_convert_pattern(_convert_tuple(kept)))


def _is_unused(name: str, value: Any) -> bool:
    """A title within a component; a default of null, which says no more than that null is legal;
    one that is an object, which no generator makes code of (the field's description has it)."""
    idle_default = name == "default" and (value is None or isinstance(value, dict))
    return idle_default or (name == "title" and isinstance(value, str))


def _convert_tuple(schema: Json) -> Json:
    """A tuple of one type is a list of that length; linters want `items` of every array."""
    places = schema.get("prefixItems")
    if not places:
        return schema
    rest = {name: value for name, value in schema.items() if name != "prefixItems"}
    kinds = [{key: value for key, value in one.items() if key != "description"} for one in places]
    if any(kind != kinds[0] for kind in kinds):
        # nothing may follow; who does not read places takes each of them for any of the kinds
        return {**schema, "items": {"anyOf": kinds}}
    return {**rest, "items": kinds[0]}


def _convert_pattern(schema: Json) -> Json:
    """Generators know the type of a map's values by `additionalProperties` alone."""
    patterns = schema.get("patternProperties", {})
    if len(patterns) != 1:
        return schema
    ((pattern, values),) = patterns.items()
    rest = {name: value for name, value in schema.items() if name != "patternProperties"}
    return {**rest, "propertyNames": {"pattern": pattern}, "additionalProperties": values}


def _merge_enum(schema: Json) -> Json:
    """`anyOf` of words and words is one list of words."""
    arms = schema.get("anyOf", ())
    words = [_words(arm) for arm in arms]
    if len(arms) < 2 or not all(words):
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, "type": "string", "enum": [word for some in words for word in some]}


def _words(schema: Json) -> list[str]:
    if schema.get("type") != "string" or not schema.keys() <= {"type", "enum", "const"}:
        return []
    return list(schema.get("enum", [])) or [schema["const"]] if len(schema) > 1 else []


def references(node: Any) -> Iterator[str]:
    """The names of all components that it refers to."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref" and isinstance(value, str) and value.startswith(REFERENCE):
                yield value.removeprefix(REFERENCE)
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)
