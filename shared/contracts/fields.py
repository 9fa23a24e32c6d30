"""Functions that inspect the fields of messages: their types, paths, values and bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from shared.contracts.messages import Message


def is_number(hint: Any, kinds: Collection[type] = (int, float)) -> bool:
    """Return True if the type allows only numbers of these kinds, or null."""
    if get_origin(hint) is Annotated:
        return is_number(get_args(hint)[0], kinds)
    if get_origin(hint) is Literal:
        return all(type(arg) in kinds for arg in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return all(arg is NoneType or is_number(arg, kinds) for arg in get_args(hint))
    return hint in kinds


def messages_in(hint: Any) -> Iterator[type[Message]]:
    """Yield the messages that a value of this type may be, or contain."""
    if isinstance(hint, type) and issubclass(hint, Message):
        yield hint
    for argument in get_args(hint):
        yield from messages_in(argument)


def options_of(request: type[Message]) -> dict[str, FieldInfo]:
    """Return the fields of the request's `options`, or {} if it has none."""
    field = request.model_fields.get("options")
    kind = None if field is None else field.annotation
    is_message = isinstance(kind, type) and issubclass(kind, Message)
    return kind.model_fields if is_message else {}  # type: ignore[union-attr]


def field_paths(request: type[Message]) -> list[str]:
    """Return the names of a request's fields, then the paths of the fields of its `options`."""
    return [*request.model_fields, *(f"options.{name}" for name in options_of(request))]


def path_of(request: type[Message], name: str) -> str:
    """Return the path of a field of the request or of its `options`."""
    return f"options.{name}" if name in options_of(request) else name


def merge_fields(fields: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two requests' fields, and their `options`. Fields of `others` win."""
    merged = {**fields, **others}
    if isinstance(fields.get("options"), Mapping) and isinstance(others.get("options"), Mapping):
        merged["options"] = {**fields["options"], **others["options"]}
    return merged


def value_at(message: Message, path: str) -> Any:
    """Return the value at a dotted path, in which a number is an index of a list. Return None if
    the value is null or missing."""
    value: Any = message
    for step in path.split("."):
        if step.isdigit():
            value = value[int(step)] if len(value) > int(step) else None
        else:
            value = getattr(value, step, None)
        if value is None:
            return None
    return value


def number_at(message: Message, path: str) -> float | None:
    """Return the number at this path, or None."""
    value = value_at(message, path)
    return None if value is None else float(value)


def field_at(message: type[Message], path: str) -> FieldInfo:
    """Return the field at this path. Raises KeyError if there is none."""
    *steps, last = [step for step in path.split(".") if not step.isdigit()]
    for step in steps:
        message = next(messages_in(message.model_fields[step].annotation))
    return message.model_fields[last]


def bounds_of(field: FieldInfo) -> tuple[float | None, float | None]:
    """Return a field's minimum and maximum, each None if not stated."""
    marks = [*field.metadata, *_marks(field.annotation)]
    least = [mark.ge for mark in marks if getattr(mark, "ge", None) is not None]
    most = [mark.le for mark in marks if getattr(mark, "le", None) is not None]
    return (float(max(least)) if least else None, float(min(most)) if most else None)


def _marks(hint: Any) -> Iterator[Any]:
    for mark in getattr(hint, "__metadata__", ()):
        yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)
    for argument in get_args(hint):
        yield from _marks(argument)
