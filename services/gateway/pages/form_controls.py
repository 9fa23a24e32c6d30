"""Form inputs for the fields of a request, built from its schema. Texts have separate inputs.

An empty input is not sent, so the default applies. A nested message becomes a group of inputs named
by path (`trace.span_id`). A list becomes a table, or one line per entry for passages and words.
Other values are edited as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from services.gateway.pages.form_input import OPTIONS, FormInput, Kind
from services.registry import metrics
from shared.contracts.fields import merge_fields, options_of
from shared.contracts.messages import Input, Message
from shared.contracts.service import MetricContract

PREFIX = "field."
HIDDEN = frozenset({"webhook", "metadata", "context", "trace"})
FIRST = ("model", "rationale", "language")  # after the texts
MOST_BASIC = 8  # fields that are always shown, texts included
MOST_DEFAULT = 24  # characters of a default that is shown
DEEPEST = 3  # messages within messages
SPAN = {"start", "end"}
MOST_COLUMNS = 4  # of a table
TEXTS = (".text", ".premise", ".hypothesis", ".scenario", ".question", ".explanation")


@lru_cache(maxsize=32)
def form_inputs(metric: str) -> tuple[FormInput, ...]:
    """Return the inputs of the form: those that are always shown, then all others."""
    contract = metrics()[metric]
    fields = contract.request.model_fields
    texts = {field.name for field in contract.form}
    inputs = [
        control
        for name, field in fields.items()
        if name not in texts | HIDDEN
        for control in _inputs(
            name, field, is_basic=name in FIRST or field.is_required() or Input in field.metadata
        )
    ]

    def rank(item: FormInput) -> tuple[bool, bool, bool]:
        return not fields[item.field].is_required(), not item.is_basic, item.field not in FIRST

    return tuple(sorted(inputs, key=rank))


def form_groups(metric: str) -> list[tuple[str, list[FormInput], bool]]:
    """Return the groups of inputs in the order of the form, as (name, inputs, True if the group is
    basic). A group is one field of the request or one of its `options`. The first fields are
    basic, at most `MOST_BASIC` including the texts."""
    found: dict[str, list[FormInput]] = {}
    for one in form_inputs(metric):
        found.setdefault(one.group, []).append(one)
    room = MOST_BASIC - len(metrics()[metric].form)
    return [
        (group, inputs, inputs[0].is_basic and place < room)
        for place, (group, inputs) in enumerate(found.items())
    ]


def fill_inputs(
    contract: MetricContract, body: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the texts to show in the inputs, by input name. Also return, by field, the values that
    no input can show."""
    shown: dict[str, str] = {}
    rest: dict[str, Any] = {}
    options = options_of(contract.request)
    for field, value in body.items():
        inner = value if field == OPTIONS and options and isinstance(value, Mapping) else {}
        parts = [{OPTIONS: {name: held}} for name, held in inner.items()]
        for part in parts or [{field: value}]:
            typed = dict(_typed(contract, part))
            if values_of(contract, typed) == part:
                shown |= typed
            else:
                rest = merge_fields(rest, part)
    return shown, rest


def _typed(contract: MetricContract, body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for control in form_inputs(contract.name):
        held: Any = body
        for step in control.name.split("."):
            if step:
                held = held.get(step) if isinstance(held, Mapping) else None
            elif isinstance(held, Mapping):
                held = None
        if held is not None and (typed := control.text_of(held)) is not None:
            yield control.name, typed


def read_inputs(contract: MetricContract, form: Mapping[str, str]) -> dict[str, str]:
    """Return the non-empty inputs of the form."""
    sent = {name.removeprefix(PREFIX): value for name, value in form.items() if value}
    named = {control.name: control.read(sent) for control in form_inputs(contract.name)}
    return {name: typed for name, typed in named.items() if typed}


FIRST_CLAUSE = re.compile(r"(?:[^;(]|\([^()]*\))*")


def values_of(contract: MetricContract, typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a request from the texts that were entered in the form. `typed` maps
    input names to texts."""
    known = {control.name: control for control in form_inputs(contract.name)}
    values: dict[str, Any] = {}
    for name, text in typed.items():
        if name not in known:
            continue
        inner, (*steps, last) = values, name.split(".")
        for step in steps:
            inner = inner.setdefault(step, {})
        inner[last] = known[name].value_of(text)
    return {
        name: value[""] if isinstance(value, dict) and set(value) == {""} else value
        for name, value in values.items()
    }


def _inputs(
    name: str, field: FieldInfo, *, is_basic: bool = False, depth: int = 0
) -> list[FormInput]:
    """Return the inputs of a field: one, or one for each field of a nested message. The list is
    empty if the field is edited as JSON."""
    kinds = _kinds(field)
    control = _single(name, field, kinds, is_basic) or _listed(name, field, kinds, is_basic)
    if control is not None:
        return [control]
    messages = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Message)]
    as_json = FormInput(name, "json", _says(field), is_basic=is_basic)
    if not messages or depth == DEEPEST:
        return [] if depth == 0 else [as_json]
    inner: dict[str, FormInput] = {}
    if str in kinds:
        inner[f"{name}."] = FormInput(f"{name}.", "text", "in one text", is_basic=is_basic)
    for message in messages:
        for part, held in message.model_fields.items():
            own = _inputs(
                f"{name}.{part}",
                held,
                is_basic=is_basic,
                depth=0 if name == OPTIONS else depth + 1,
            )
            inner |= {one.name: one for one in own}
    if depth and len(messages) > 1 and all(one.kind == "json" for one in inner.values()):
        return [as_json]  # shapes that exclude each other
    return list(inner.values())


def _single(name: str, field: FieldInfo, kinds: Sequence[Any], is_basic: bool) -> FormInput | None:
    """Return the form input for a field with a single value, or None for other types. A field that
    may be a number or a list of numbers gets one input for both."""
    says, default = _says(field), _default(field)
    named = [kind for kind in kinds if get_origin(kind) is Literal]
    choices = tuple(value for kind in named for value in get_args(kind))
    if choices and str not in kinds and all(isinstance(value, str) for value in choices):
        return FormInput(name, "choice", says, default, choices, is_basic=is_basic)
    plain = [kind for kind in kinds if kind in (int, float)]
    lists = [kind for kind in kinds if get_origin(kind) is tuple]
    inner = [held for kind in lists for held in _union_types(get_args(kind)[0])]
    if lists and len(plain) + len(lists) == len(kinds) and set(inner) <= {int, float}:
        return FormInput(name, "numbers", says, default, is_basic=is_basic)
    if len(kinds) != 1 or kinds[0] not in (bool, int, float, str):
        return None
    if kinds[0] is bool:
        return FormInput(name, "switch", says, default, is_basic=is_basic)
    if kinds[0] is not str:
        bounds = _bound(field, "ge", "gt"), _bound(field, "le", "lt")
        whole = kinds[0] is int
        return FormInput(name, "number", says, default, (), *bounds, whole, is_basic=is_basic)
    is_text = Input in field.metadata or name.endswith(TEXTS)
    return FormInput(name, "text" if is_text else "word", says, default, is_basic=is_basic)


def _listed(name: str, field: FieldInfo, kinds: Sequence[Any], is_basic: bool) -> FormInput | None:
    """Return the form input for a list field, or None if its entry type is not supported."""
    says, default = _says(field), _default(field)
    if (maps := _maps(name, kinds, is_basic)) is not None:
        return replace(maps, says=says)
    for kind in kinds:
        if get_origin(kind) is not tuple or {*kinds} - {kind, str}:
            continue
        [held] = _union_types(get_args(kind)[0])[:1]
        if get_origin(held) is Literal:
            return FormInput(name, "choices", says, default, get_args(held), is_basic=is_basic)
        if held is str:
            return FormInput(name, "lines", says, is_basic=is_basic)
        if isinstance(held, type) and issubclass(held, Message):
            return _rows(name, says, held, is_basic)
    return None


def _maps(name: str, kinds: Sequence[Any], is_basic: bool) -> FormInput | None:
    """Return a form input with key and value columns for a field that is a map. A list of maps also
    gets a column for the source. Return None for other fields."""
    single = [kind for kind in kinds if get_origin(kind) is dict]
    lists = [get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple]
    several = [
        kind for item in lists for kind in _union_types(item)[:1] if get_origin(kind) is dict
    ]
    if not (single or several):
        return None
    [value] = _union_types(get_args((single or several)[0])[1])[:1]
    kind: Kind = "number" if value in (int, float) else "word"
    columns = [FormInput("key", "word", ""), FormInput("value", kind, "")]
    if not several:
        return FormInput(name, "map", "", columns=tuple(columns), is_basic=is_basic)
    columns.append(FormInput("source", "word", ""))
    return FormInput(
        name, "maps", "", columns=tuple(columns), is_list=not single, is_basic=is_basic
    )


def _rows(name: str, says: str, held: type[Message], is_basic: bool) -> FormInput | None:
    needed = {part for part, field in held.model_fields.items() if field.is_required()}
    if needed == {"text"} and len(held.model_fields) > 1:
        return FormInput(name, "texts", says, is_basic=is_basic)
    if needed == SPAN:
        return FormInput(name, "spans", says, is_basic=is_basic)
    columns = [
        _single(part, field, _kinds(field), False) for part, field in held.model_fields.items()
    ]
    known = tuple(column for column in columns if column is not None)
    if len(known) < len(columns) or len(known) > MOST_COLUMNS:
        return None
    return FormInput(name, "rows", says, columns=known, is_basic=is_basic)


def _kinds(field: FieldInfo) -> list[Any]:
    return [kind for kind in _union_types(field.annotation) if kind is not NoneType]


def _union_types(annotation: Any) -> list[Any]:
    while hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    if get_origin(annotation) in (Union, UnionType):
        return [kind for part in get_args(annotation) for kind in _union_types(part)]
    return [annotation]


def _bound(field: FieldInfo, *names: str) -> float | None:
    bounds = (getattr(bound, name, None) for bound in field.metadata for name in names)
    return next((float(value) for value in bounds if value is not None), None)


def _says(field: FieldInfo) -> str:
    """Return the first clause of the field's description. A semicolon in parentheses does not end
    the clause."""
    clause = FIRST_CLAUSE.match(field.description or "")
    return "" if clause is None else clause[0].replace("`", "")


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined or field.default is None:
        return ""
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    if isinstance(field.default, tuple):
        plain = all(isinstance(value, str | int | float) for value in field.default)
        return ", ".join(map(str, field.default)) if plain else ""
    text = str(field.default) if isinstance(field.default, str | int | float) else ""
    return text if len(text) <= MOST_DEFAULT else ""
