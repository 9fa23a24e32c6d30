"""Caches for properties of instances, and for functions of callers' texts.

`cached_property` works like the one of `functools` since Python 3.12, without a lock. In
3.11 all instances of a class share one lock, so a thread that computes or waits for a model
blocks all others.

`cache_results` is `lru_cache` with a limit in bytes. Texts have any length, and a caller
that never repeats a text would fill an ordinary cache."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import update_wrapper
from sys import getsizeof
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, overload

if TYPE_CHECKING:
    from cachetools import LRUCache

ENTRY_BYTES = 400  # key, links and places in two dictionaries
Value = TypeVar("Value")
Asked = ParamSpec("Asked")


class cached_property(Generic[Value]):  # noqa: N801 - named after what it stands for
    """A property that is computed once per instance. Two simultaneous threads may compute it
    twice."""

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
        instance.__dict__[self._name] = value  # the next read finds it there
        return value


class CachedFunction(Generic[Asked, Value]):
    """A function with a cache of its last results. It is thread-safe, but two threads may compute
    the same value."""

    def __init__(
        self, compute: Callable[Asked, Value], most_bytes: int, weigh: Callable[..., int]
    ) -> None:
        self.most_bytes = most_bytes
        self._compute, self._weigh = compute, weigh
        self._lock = Lock()
        update_wrapper(self, compute)

    @cached_property
    def _entries(self) -> LRUCache[Hashable, tuple[Value, int]]:
        from cachetools import LRUCache  # images of the models lack it, and call no such function

        return LRUCache(self.most_bytes, getsizeof=lambda held: held[1])

    def __call__(self, *args: Asked.args, **kwargs: Asked.kwargs) -> Value:
        key = (args, tuple(kwargs.items()))
        with self._lock:
            held = self._entries.get(key)
        if held is not None:
            return held[0]
        value = self._compute(*args, **kwargs)
        texts = sum(
            getsizeof(argument)
            for argument in (*args, *kwargs.values())
            if isinstance(argument, str)
        )
        weight = ENTRY_BYTES + texts + self._weigh(value, *args, **kwargs)
        with self._lock, suppress(ValueError):  # larger than the cache
            self._entries[key] = value, weight
        return value

    def cache_clear(self) -> None:
        with self._lock:
            self._entries.clear()


def cache_results(
    most_bytes: int, weigh: Callable[..., int]
) -> Callable[[Callable[Asked, Value]], CachedFunction[Asked, Value]]:
    """Cache the last results of a function, up to `most_bytes`. `weigh` returns the approximate
    bytes of a result, given the result and the arguments. Texts in the arguments are counted too.
    """
    return lambda compute: CachedFunction(compute, most_bytes, weigh)
