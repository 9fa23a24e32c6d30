"""Whose words a string is: ours by its type, or the caller's; and whether ours repeat the caller's.

A literal or a `Word` is ours; any other string of a message may hold text. Pure: pydantic alone.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from shared.contracts import JobRequest, Word

RUN = 12  # characters of the request in a row that count as a repetition
SENTENCE = 500  # characters: a warning, or the detail of a problem
STAYING = ("metadata", "context", "model", "variant")  # of the request


def repeats(said: str, sent: Sequence[str]) -> bool:
    """Whether a run of characters, or all of a shorter text, of what was sent stands in it."""
    return any(
        text in said if len(text) <= RUN else _share_a_run(said, text) for text in sent if text
    )


def _share_a_run(said: str, text: str) -> bool:
    """By search in the text for a sentence of ours; by comparing sets for what is longer."""
    ours = (said[start : start + RUN] for start in range(len(said) - RUN + 1))
    if len(said) <= SENTENCE:
        return any(run in text for run in ours)
    theirs = (text[start : start + RUN] for start in range(len(text) - RUN + 1))
    return not set(ours).isdisjoint(theirs)


def is_ours(value: str, hint: Any, *, names: bool = True) -> bool:
    """Whether its type says that it is ours. names: whether a `Word` does, beside a literal."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in arguments
    if origin is Annotated:
        ours = names and any(mark is Word or isinstance(mark, Word) for mark in arguments[1:])
        return ours or is_ours(value, arguments[0], names=names)
    if origin in (Union, types.UnionType):
        return any(is_ours(value, argument, names=names) for argument in arguments)
    return False


def are_ours(hint: Any) -> bool:
    """Whether all that such a container may hold is ours."""
    return is_ours("", last_argument(hint))


def sent(request: JobRequest, *, names: bool = True) -> Iterator[str]:
    """Every string of a request that may be text: none of our own words, and none that stays.

    names: whether a `Word` counts as ours; in a request it is a name that the caller chose.
    """
    for name in type(request).model_fields:
        if name not in STAYING:
            yield from _strings_of_field(request, name, names)


def _strings_of_field(model: BaseModel, name: str, names: bool) -> Iterator[str]:
    field = type(model).model_fields[name]
    value = getattr(model, name)
    if not isinstance(value, str) or value != field.default:
        yield from _strings(value, hint_of(field), names)


def _strings(value: Any, hint: Any, names: bool) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _strings_of_field(value, name, names)
    elif isinstance(value, str):
        yield from () if is_ours(value, hint, names=names) else (value,)
    elif isinstance(value, Mapping | list | tuple | set | frozenset):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(item, last_argument(hint), names)


def hint_of(field: FieldInfo) -> Any:
    """The type of a field, with its marks."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def last_argument(hint: Any) -> Any:
    """The type of a container's items."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) in (Union, types.UnionType):
        inner = next((part for part in get_args(inner) if _is_container(part)), inner)
        inner = get_args(inner)[0] if get_origin(inner) is Annotated else inner
    arguments = [argument for argument in get_args(inner) if argument is not Ellipsis]
    return arguments[-1] if arguments else Any


def _is_container(hint: Any) -> bool:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    origin = get_origin(inner)
    return isinstance(origin, type) and issubclass(origin, Collection)
