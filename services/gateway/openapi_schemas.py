"""The schemas in the API's description, in a form that standard generators and linters accept. The
names are unique: `BatchSchema` becomes `Batch`. Small schemas are written where they are used.
Requests reject unknown fields. Responses allow them, so that a new field breaks no client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from services.gateway.views import TEMPLATE

Json = dict[str, Any]
REFERENCE = TEMPLATE.format(model="")
VALUES = frozenset(  # no schemas
    {"const", "default", "enum", "example", "examples", "mapping", "x-required-unless"}
)
DERIVED = {"Elicitation": "ExplanationsElicitation", "EndpointWithSecret": "Endpoint"}
SCHEMA, NULL = "Schema", {"type": "null"}
SMALL = 4  # fields of a part that is described where it is used


def components(
    asked: Sequence[type[BaseModel]],
    answered: Sequence[type[BaseModel]],
    others: Mapping[str, Json],
) -> Json:
    """Return all schemas of the API description: of requests, of responses, and the given
    `others`."""
    requests = _definitions(asked, "validation")
    answers = {**others, **_definitions(answered, "serialization")}
    opened = {name: _open(answer) for name, answer in answers.items()}
    return dict(sorted({**opened, **requests}.items()))


def _definitions(messages: Sequence[type[BaseModel]], mode: JsonSchemaMode) -> Json:
    messages_by_mode = [(message, mode) for message in messages]
    _, schema = models_json_schema(messages_by_mode, ref_template=TEMPLATE)
    definitions: Json = schema.get("$defs", {})
    return definitions


def finished(described: Json) -> Json:
    """Return the schemas with public names and discriminators, and without inner titles."""
    schemas = described["components"]["schemas"]
    names = {name: public(name) for name in schemas}
    if len(set(names.values())) < len(names):
        raise ValueError("two schemas in the OpenAPI document have the same name")
    described_publicly = renamed(described, names)
    shaped: Json = _normalize(described_publicly)
    shaped["info"] = described["info"]
    by_name = {names[name]: schema for name, schema in shaped["components"]["schemas"].items()}
    for component, told_by in list(_discriminators(by_name)):
        _set_required(by_name[component], told_by)
    shaped["components"]["schemas"] = by_name
    _share_fields(by_name, "checks", "MetricResult", "The fields that every metric's result has.")
    _share_fields(
        by_name, "win_rate_draws", "Null", "The fields that every comparison with chance has."
    )
    for name, base in DERIVED.items():
        _derive(by_name[name], base, by_name[base]["properties"])
    _inline_small(shaped)
    return shaped


def _share_fields(schemas: Json, mark: str, base: str, about: str) -> None:
    """Move the fields shared by all components that have the field `mark` into a component
    `base`, with the description `about`."""
    members = [schema for schema in schemas.values() if mark in schema.get("properties", ())]
    first = members[0]
    shared = {
        name: field
        for name, field in first["properties"].items()
        if all(member["properties"].get(name) == field for member in members)
        and len({name in member["required"] for member in members}) == 1
    }
    required = [name for name in first["required"] if name in shared]
    for member in members:
        _derive(member, base, shared)
    described = {"type": "object", "description": about}
    schemas[base] = {**described, "properties": shared, "required": required}


def _derive(schema: Json, base: str, shared: Collection[str]) -> None:
    """Rewrite a schema as `allOf` the schema `base` and its additional fields. `shared` holds the
    names of the fields of `base`."""
    own_keys = {name: schema.pop(name) for name in ("type", "properties", "required")}
    own_keys["properties"] = {
        n: field for n, field in own_keys["properties"].items() if n not in shared
    }
    own_keys["required"] = [name for name in own_keys["required"] if name not in shared]
    schema["allOf"] = [{"$ref": REFERENCE + base}, own_keys]


def _inline_small(described: Json) -> None:
    """Inline each small schema that is referenced only once into the schema that references it,
    with its name as title."""
    schemas = described["components"]["schemas"]
    while True:
        uses = Counter(_strings(described))
        small = {
            name: schema
            for name, schema in schemas.items()
            if uses[REFERENCE + name] == 1
            and 0 < len(schema.get("properties", ())) <= SMALL
            and not any(references(schema))
        }
        homes = [
            schema for name, schema in schemas.items() if small.keys() & set(references(schema))
        ]
        if not homes:
            return
        for home in homes:
            for name in small.keys() & set(references(home)):
                _put(home, REFERENCE + name, {"title": name, **schemas.pop(name)})


def _put(node: Any, reference: str, schema: Json) -> None:
    """Replace every use of the reference in this node with the schema."""
    for inner in node.values() if isinstance(node, dict) else node:
        if isinstance(inner, dict) and inner.get("$ref") == reference:
            siblings = {name: value for name, value in inner.items() if name != "$ref"}
            inner.clear()
            inner.update(schema | siblings)
        elif isinstance(inner, dict | list):
            _put(inner, reference, schema)


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _strings(inner)


def _discriminators(node: Any) -> Iterator[tuple[str, str]]:
    """Yield (member, field) for each member of each union, with the field that distinguishes the
    members."""
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
    """Make the field that distinguishes the members of a union required, without a default."""
    schema["required"] = sorted({*schema.get("required", ()), field})
    schema["properties"][field].pop("default", None)


def public(name: str) -> str:
    """Return the public name of a class, which is its name without the suffix `Schema`."""
    return name.removesuffix(SCHEMA)


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """Return this piece of JSON with all references to schemas renamed."""

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
    """Return a copy of the schema without `additionalProperties: false`, at any depth."""
    if isinstance(schema, list):
        return [_open(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: value if name in VALUES else _open(value)
        for name, value in schema.items()
        if (name, value) != ("additionalProperties", False)
    }


def _normalize(node: Any, *, is_map: bool = False) -> Any:
    """Return the schema in a form that generators and linters accept. It has no titles, describes
    key patterns as `propertyNames`, and lists choices of words as one `enum`. `is_map` means that
    the keys are arbitrary names, not keywords of JSON Schema."""
    if isinstance(node, list):
        return [_normalize(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    normalized = {
        name: value
        if name in VALUES and not is_map
        else _normalize(value, is_map=name == "properties")
        for name, value in node.items()
        if is_map or not _is_unused(name, value)
    }
    return (
        normalized
        if is_map
        else _merge_null(_merge_enum(_convert_pattern(_convert_tuple(normalized))))
    )


def _is_unused(name: str, value: Any) -> bool:
    """Return True for an entry that tells a generator nothing: a title within a component, or a
    default that is null or an object. The field's description states an object default."""
    idle_default = name == "default" and (value is None or isinstance(value, dict))
    return idle_default or (name == "title" and isinstance(value, str))


def _convert_tuple(schema: Json) -> Json:
    """Return the schema of a tuple as the schema of a list of that length. Linters require
    `items` for every array."""
    places = schema.get("prefixItems")
    if not places:
        return schema
    rest = {name: value for name, value in schema.items() if name != "prefixItems"}
    kinds = [
        {key: value for key, value in place.items() if key != "description"} for place in places
    ]
    if any(kind != kinds[0] for kind in kinds):
        # nothing may follow; who does not read places takes each of them for any of the kinds
        return {**schema, "items": {"anyOf": kinds}}
    return {**rest, "items": kinds[0]}


def _convert_pattern(schema: Json) -> Json:
    """Return the schema with `additionalProperties` instead of `patternProperties`, which code
    generators do not understand. A schema without exactly one pattern is returned unchanged."""
    patterns = schema.get("patternProperties", {})
    if len(patterns) != 1:
        return schema
    ((pattern, values),) = patterns.items()
    rest = {name: value for name, value in schema.items() if name != "patternProperties"}
    return {**rest, "propertyNames": {"pattern": pattern}, "additionalProperties": values}


def _merge_enum(schema: Json) -> Json:
    """Return an `anyOf` of enums as one `enum`."""
    arms = schema.get("anyOf", ())
    words = [_words(arm) for arm in arms]
    if len(arms) < 2 or not all(words):
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, "type": "string", "enum": [word for some in words for word in some]}


def _merge_null(schema: Json) -> Json:
    """Return an `anyOf` of a simple type and null as a list of two types."""
    arms = schema.get("anyOf", ())
    if len(arms) != 2 or arms[1] != NULL or not isinstance(arms[0].get("type"), str):
        return schema
    if not arms[0].keys().isdisjoint({"enum", "const", "title", "description"}):
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, **arms[0], "type": [arms[0]["type"], "null"]}


def _words(schema: Json) -> list[str]:
    if schema.get("type") != "string" or not schema.keys() <= {"type", "enum", "const"}:
        return []
    return list(schema.get("enum", [])) or [schema["const"]] if len(schema) > 1 else []


def references(node: Any) -> Iterator[str]:
    """Yield the names of all schemas that this JSON value references."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref" and isinstance(value, str) and value.startswith(REFERENCE):
                yield value.removeprefix(REFERENCE)
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)
