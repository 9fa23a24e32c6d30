"""Compares two answers to the same request, within the tolerance that their models guarantee.

An answer is JSON. Its provenance says for each model whether equal requests give equal bytes, or
numbers within the tolerance of a dtype (`shared.process.numerics`). An answer without models comes
from sums in one process, so its bytes must be equal. Tests, chaos tests, soak tests and benches use
this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.process.numerics import tolerance

BYTES = 0.0
OF_INSTALLATION = "text_key"  # says nothing elsewhere


def agree(one: Any, other: Any) -> bool:
    """Return True if the answers differ by no more than their models allow."""
    return difference(one, other) is None


def difference(one: Any, other: Any) -> str | None:
    """Return the first place with a difference above the allowed one, or None."""
    return next(_differences("", one, other, allowed(one, other)), None)


def allowed(*answers: Any) -> float:
    """Return the allowed difference of numbers in these answers; 0: bytes must be equal."""
    uses = (use for answer in answers for use in _uses(answer))
    return max((_of(use) for use in uses), default=BYTES)


def _of(use: Mapping[str, Any]) -> float:
    return BYTES if use["numerics"] == "bytes" else tolerance(use["dtype"])


def _uses(answer: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the provenance entries of models at any depth."""
    if isinstance(answer, Mapping):
        if {"numerics", "dtype"} <= answer.keys() and isinstance(answer["dtype"], str):
            yield answer  # and no schema of one
        for value in answer.values():
            yield from _uses(value)
    elif _is_list(answer):
        for value in answer:
            yield from _uses(value)


def _differences(place: str, one: Any, other: Any, most: float) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys, others = ([key for key in some if key != OF_INSTALLATION] for some in (one, other))
        if keys != others:
            yield f"{place}: other fields"
            return
        for key in keys:
            yield from _differences(f"{place}/{key}", one[key], other[key], most)
    elif _is_list(one) and _is_list(other):
        if len(one) != len(other):
            yield f"{place}: {len(one)} and {len(other)} of them"
            return
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(f"{place}/{number}", *pair, most)
    elif not _near(one, other, most):
        yield f"{place}: {one!r} and {other!r}"


def _near(one: Any, other: Any, most: float) -> bool:
    """Return True if two values are equal. Floats may differ by `most`, relative to values above
    1."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=most, abs_tol=most)
    return type(one) is type(other) and bool(one == other)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
