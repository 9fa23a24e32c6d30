"""What is kept of callers' texts is bounded, whoever never repeats himself; found, not listed."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import tracemalloc
from collections.abc import Iterator
from enum import Enum
from sys import getsizeof
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import services
import shared
from shared.process.cached import ENTRY_BYTES, CachedFunction, cache_results

SKIPPED = ("cli.stack.", "shared.ledger.migrations.", ".embedded.train", "__main__")
MOST_ENTRIES = 256  # of a cache that is not weighed: of a name, a path, a short text
MOST_BYTES = 2**26  # of one that is


def modules() -> Iterator[Any]:
    for package in (services, shared):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part in found.name for part in SKIPPED):
                yield importlib.import_module(found.name)


def caches() -> dict[str, Any]:
    """Every function of ours whose results are kept, of modules and of classes."""
    found: dict[str, Any] = {}
    for module in modules():
        classes = [one for one in vars(module).values() if inspect.isclass(one)]
        for place in (module, *classes):
            for value in vars(place).values():
                kept = isinstance(value, functools._lru_cache_wrapper | CachedFunction)
                if kept and value.__module__ == module.__name__:
                    found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def parameters(function: Any) -> list[Any]:
    plain = inspect.unwrap(function)
    hints = get_type_hints(plain)
    return [hints[name] for name in inspect.signature(plain).parameters]


def is_closed(kind: Any) -> bool:
    """Whether there are but so many values, whatever callers send."""
    if get_origin(kind) in (Literal, type):
        return True
    if get_args(kind):
        return all(is_closed(one) for one in get_args(kind))
    return kind in (bool, type(None)) or (isinstance(kind, type) and issubclass(kind, Enum))


def holds_many(kind: Any) -> bool:
    """Whether one value may hold any number of others, as a tuple of texts does."""
    if is_closed(kind):
        return False
    if get_origin(kind) is not None or not isinstance(kind, type):
        return True
    return kind.__module__.startswith(("services.", "shared."))  # a dataclass or message of ours


def test_every_cache_of_callers_texts_is_bounded() -> None:
    found = caches()
    weighed = {name for name, one in found.items() if isinstance(one, CachedFunction)}
    assert {"services.ftc.phrases.parse", "services.hatexscore.group_terms._word_table"} <= weighed
    assert len(found) > 40
    assert [name for name in weighed if found[name].most_bytes > MOST_BYTES] == []
    unbounded, unweighed = [], []
    for name in found.keys() - weighed:
        open_ones = [kind for kind in parameters(found[name]) if not is_closed(kind)]
        most = found[name].cache_parameters()["maxsize"]
        if open_ones and (most is None or most > MOST_ENTRIES):
            unbounded.append(name)
        if any(map(holds_many, open_ones)):
            unweighed.append(name)
    assert (unbounded, unweighed) == ([], [])


@pytest.mark.parametrize("length", [10, 1_000, 20_000])
def test_memory_is_bounded_for_a_caller_who_never_repeats_himself(length: int) -> None:
    most = 2_000_000

    @cache_results(most, lambda words, _text: sum(map(getsizeof, words)))
    def words(text: str) -> list[str]:
        return [text[start : start + 5] for start in range(0, len(text), 5)]

    tracemalloc.start()
    try:
        for number in range(8 * most // (ENTRY_BYTES + 12 * length)):
            words(f"{number:010}" * (length // 10))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most / 4 < kept < 1.5 * most


def test_what_is_kept_is_not_computed_again() -> None:
    computed: list[tuple[str, int]] = []

    @cache_results(10_000, lambda *_, **__: 0)
    def one(text: str, times: int = 1) -> str:
        computed.append((text, times))
        return text * times

    assert [one("a"), one("a"), one("a", 2), one("a", times=2)] == ["a", "a", "aa", "aa"]
    assert computed == [("a", 1), ("a", 2), ("a", 2)]
    one.cache_clear()
    assert one("a") == "a"
    assert computed[-1] == ("a", 1)


def test_what_is_larger_than_all_that_may_be_kept_is_computed_each_time() -> None:
    computed: list[str] = []

    @cache_results(100, lambda *_: 1_000)
    def large(text: str) -> str:
        computed.append(text)
        return text

    assert [large("a"), large("a")] == computed == ["a", "a"]
