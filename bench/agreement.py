"""Whether two answers to one request are the same, as far as their models guarantee it.

An answer is JSON; every model in it says in its use entry whether bytes are promised, or numbers
within the tolerance of its dtype (`shared.process.numerics`). An answer without models
comes of sums in one process: its bytes are promised. Tests, chaos, soak and benches compare by this
alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.process.numerics import tolerance

BYTES = 0.0
OF_INSTALLATION = "text_key"  # says nothing elsewhere


def agree(one: Any, other: Any) -> bool:
    """Whether the two are the same, as far as both guarantee it."""
    return difference(one, other) is None


def difference(one: Any, other: Any) -> str | None:
    """The first place where they differ by more than is allowed, and how; None: nowhere."""
    return next(_differences("", one, other, allowed(one, other)), None)


def allowed(*answers: Any) -> float:
    """How far numbers of these answers may lie apart; 0: every byte is promised."""
    uses = (use for answer in answers for use in _uses(answer))
    return max((_of(use) for use in uses), default=BYTES)


def _of(use: Mapping[str, Any]) -> float:
    return BYTES if use["numerics"] == "bytes" else tolerance(use["dtype"])


def _uses(answer: Any) -> Iterator[Mapping[str, Any]]:
    """The use entries of models, wherever they stand."""
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
    """Floats within `most`, of their size where that is above 1; everything else equal."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=most, abs_tol=most)
    return type(one) is type(other) and bool(one == other)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
