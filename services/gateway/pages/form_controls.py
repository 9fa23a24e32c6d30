"""Controls for the single-valued fields of a request, made from its schema: what is no text, list
or object. Texts have their own inputs in the form, the rest is JSON.

A control that is left empty is not sent, so the default stands; it is shown beside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from services.registry import metrics
from shared.service_contract import MetricContract

Kind = Literal["choice", "number", "switch", "word"]
PREFIX = "field."
HIDDEN = frozenset({"webhook", "metadata", "context", "trace"})
FIRST = ("model", "variant", "language", "seed")  # of "Basic", after the texts
MOST_DEFAULT = 24  # characters of a default that is shown


@dataclass(frozen=True)
class FormInput:
    """An input. low, high: of a number, inclusive; whole: whether it has no fraction."""

    name: str
    kind: Kind
    says: str
    default: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = False

    @property
    def is_basic(self) -> bool:
        return self.name in FIRST

    def value_of(self, typed: str) -> Any:
        """As JSON has it; what cannot be read is sent as it is, so that its fault is told."""
        if self.kind == "switch":
            return {"yes": True, "no": False}.get(typed, typed)
        if self.kind == "number":
            try:
                return json.loads(typed)
            except (ValueError, RecursionError):
                return typed
        return typed

    def text_of(self, value: Any) -> str | None:
        """As it stands in the input; None where it does not fit in."""
        if self.kind == "switch":
            return {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
        if self.kind == "number":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return json.dumps(value) if is_number else None
        if self.kind == "choice":
            return value if value in self.choices else None
        return value if isinstance(value, str) else None


@lru_cache(maxsize=32)
def form_inputs(metric: str) -> tuple[FormInput, ...]:
    """Those of "Basic" first."""
    contract = metrics()[metric]
    texts = {one.name for one in contract.form}
    found = [
        control
        for name, field in contract.request.model_fields.items()
        if name not in texts | HIDDEN and (control := _make_input(name, field)) is not None
    ]
    return tuple(sorted(found, key=lambda one: not one.is_basic))


def fill_inputs(
    contract: MetricContract, body: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Any]]:
    """(name → what its control shows, what no control can show)."""
    shown = {
        one.name: typed
        for one in form_inputs(contract.name)
        if one.name in body and (typed := one.text_of(body[one.name])) is not None
    }
    return shown, {name: value for name, value in body.items() if name not in shown}


def read_inputs(contract: MetricContract, form: Mapping[str, str]) -> dict[str, str]:
    """What the form says of them; empty ones are left out."""
    named = {one.name: form.get(f"{PREFIX}{one.name}", "") for one in form_inputs(contract.name)}
    return {name: typed for name, typed in named.items() if typed}


def values_of(contract: MetricContract, typed: Mapping[str, str]) -> dict[str, Any]:
    """Fields of a request."""
    known = {one.name: one for one in form_inputs(contract.name)}
    return {name: known[name].value_of(one) for name, one in typed.items()}


def _make_input(name: str, field: FieldInfo) -> FormInput | None:
    kinds = [kind for kind in _union_types(field.annotation) if kind is not NoneType]
    says = (field.description or "").partition(";")[0]
    default = _default(field)
    if kinds and all(get_origin(kind) is Literal for kind in kinds):
        choices = tuple(value for kind in kinds for value in get_args(kind))
        if all(isinstance(value, str) for value in choices):
            return FormInput(name, "choice", says, default, choices)
        return None
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        return None
    if kinds[0] is bool:
        return FormInput(name, "switch", says, default)
    if kinds[0] in (int, float):
        low, high = _bound(field, "ge", "gt"), _bound(field, "le", "lt")
        whole = kinds[0] is int
        return FormInput(name, "number", says, default, (), low, high, whole)
    return FormInput(name, "word", says, default) if kinds[0] is str else None


def _union_types(annotation: Any) -> list[Any]:
    while hasattr(annotation, "__metadata__"):
        annotation = annotation.__origin__
    if get_origin(annotation) in (Union, UnionType):
        return [one for part in get_args(annotation) for one in _union_types(part)]
    return [annotation]


def _bound(field: FieldInfo, *names: str) -> float | None:
    found = (getattr(one, name, None) for one in field.metadata for name in names)
    return next((float(value) for value in found if value is not None), None)


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined or field.default is None:
        return ""
    if isinstance(field.default, bool):
        return "yes" if field.default else "no"
    said = str(field.default) if isinstance(field.default, str | int | float) else ""
    return said if len(said) <= MOST_DEFAULT else ""
