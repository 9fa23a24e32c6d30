"""How much work a request asks for, estimated from its sizes alone: before it is accepted.

A metric's contract names its `cost`: the request as products of sizes, each in tokens that a model
reads or writes, or in steps of pure computation. No model is loaded and no text is tokenized, so
that a product may be a bound from below (`certain`: what is refused for it could not have ended
well) or only likely (it separates heavy requests from light ones, and refuses nothing).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, prod
from typing import Any

from shared.errors import TooCostly

TOKENS = "tokens that a model reads or writes"
FEWEST_READ = 128  # tokens that every model reads, where no more is known of it

_SPACE = re.compile(r"[ \t\r\n]+")  # what every tokenizer takes for white space


@dataclass(frozen=True)
class Size:
    """One factor of the work. `pointer`: the field that makes it smaller, if there is one."""

    name: str  # as the caller reads it: "`draws`", "characters of `text`"
    value: float
    pointer: str | None = None
    least: int = 1  # it cannot be lowered below this


@dataclass(frozen=True)
class Work:
    """The product of some sizes, in a unit."""

    sizes: tuple[Size, ...]
    unit: str = TOKENS  # plural
    seconds_each: float | None = None  # of one core; None: tokens, as fast as the settings say
    certain: bool = True  # the request asks for at least so much
    most: float | None = None  # of the unit, whatever the settings say

    @property
    def amount(self) -> float:
        """In its unit."""
        return prod(size.value for size in self.sizes)

    def seconds(self, tokens_per_second: float) -> float:
        """About how long it takes one worker."""
        each = 1 / tokens_per_second if self.seconds_each is None else self.seconds_each
        return self.amount * each


ROUNDING = 1e-9  # of a limit: who lowers a number as far as the refusal says is accepted

Cost = Callable[[Any, int], Sequence[Work]]  # request, tokens that its model surely reads → work


@dataclass(frozen=True)
class WorkLimit:
    """What one request may ask for: seconds, at a model's speed."""

    seconds: float
    tokens_per_second: float

    def likely_seconds(self, works: Sequence[Work]) -> float:
        """About how long a request takes: what is certain and what is likely."""
        return sum(work.seconds(self.tokens_per_second) for work in works)

    def check(self, works: Sequence[Work]) -> None:
        """Raises TooCostly where the certain work is more than the limit."""
        certain = [work for work in works if work.certain]
        for work in certain:
            if work.most is not None and work.amount > work.most * (1 + ROUNDING):
                alone = work.most / work.amount
                raise _refusal(
                    work, min(alone, self._share(work, certain)), _number(work.most), certain
                )
        total = self.likely_seconds(certain)
        if total > self.seconds * (1 + ROUNDING):
            largest = max(certain, key=lambda work: work.seconds(self.tokens_per_second))
            limit = f"{_number(self.seconds)} seconds of work (this is about {_number(total)})"
            raise _refusal(largest, self._share(largest, certain), limit, certain)

    def _share(self, work: Work, works: Sequence[Work]) -> float:
        """How much of a product may stay, if the others stay as they are."""
        own = work.seconds(self.tokens_per_second)
        return (self.seconds - (self.likely_seconds(works) - own)) / own


def words_of(text: str) -> int:
    """At least so many tokens: no tokenizer joins words, and none drops one with a letter."""
    return sum(any(map(str.isalnum, word)) for word in _SPACE.split(text))


def _refusal(largest: Work, share: float, limit: str, works: Sequence[Work]) -> TooCostly:
    """What is asked for, what is allowed, and how far each number has to come down."""
    product = " × ".join(f"{_number(size.value)} {size.name}" for size in largest.sizes)
    asked = f"{product} make {_number(largest.amount)} {largest.unit}"
    lower = [
        (size, floor(size.value * share)) for size in largest.sizes if size.pointer is not None
    ]
    possible = [f"{size.name} to at most {to:,}" for size, to in lower if to >= size.least]
    advice = f"lower {', or '.join(possible)}" if possible else "lower several of them"
    others = [size for work in works for size in work.sizes]
    named = dict.fromkeys(size.pointer or "" for size in (*largest.sizes, *others))
    return TooCostly(
        f"{asked}, and one request may ask for {limit}: {advice}",
        pointers=tuple(pointer for pointer in named if pointer),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or float(value).is_integer() else f"{value:,.2g}"
