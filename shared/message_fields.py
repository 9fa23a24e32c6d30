"""What the types of messages' fields may hold."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from shared.contracts import Message


def is_number(hint: Any) -> bool:
    """Whether a value of this type is a number, or null."""
    if get_origin(hint) is Annotated:
        return is_number(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return all(one is NoneType or is_number(one) for one in get_args(hint))
    return hint in (int, float)


def messages_in(hint: Any) -> Iterator[type[Message]]:
    """The messages that a value of this type may be, or hold."""
    if isinstance(hint, type) and issubclass(hint, Message):
        yield hint
    for argument in get_args(hint):
        yield from messages_in(argument)
