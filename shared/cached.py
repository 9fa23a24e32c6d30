"""`functools.cached_property` as it is since Python 3.12: without a lock.

In 3.11 all instances of a class share one, so that a thread that computes, or waits for a model,
holds up every other thread of the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - named after what it stands for
    """A property that is computed once an instance; by two threads at once, maybe twice."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value  # found there before this is asked again
        return value
