"""Estimates the work of a request before it is accepted.

A metric's `cost` lists the work as products of sizes: tokens that a model reads or writes, or steps
of computation. No model is loaded and no text is tokenized. A `certain` product is a lower bound,
so a request above the limit is rejected. A likely product only separates heavy from light requests.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf, prod
from typing import Any

from shared.contracts.errors import TooCostly, TooManyRows

TOKENS = "tokens that a model reads or writes"
FEWEST_READ = 128  # tokens that every model reads, where no more is known of it

_SPACE = re.compile(r"[ \t\r\n]+")  # what every tokenizer takes for white space


@dataclass(frozen=True)
class Size:
    """One factor of the work. `pointer` is the field that reduces it, if any."""

    name: str  # as the caller reads it: "`draws`", "characters of `text`"
    value: float
    pointer: str | None = None
    least: int = 1  # it cannot be lowered below this


@dataclass(frozen=True)
class Reduction:
    """A request field that lowers the work, but not in proportion."""

    name: str  # as the caller reads it
    pointer: str
    value: int  # in the request
    works: Callable[[int], Sequence[Work]]  # all work with another value; a smaller one: no more


@dataclass(frozen=True)
class Work:
    """An amount of work: the product of the sizes, in `unit`."""

    sizes: tuple[Size, ...]
    unit: str = TOKENS  # plural
    seconds_each: float | None = None  # of one core; None: tokens, as fast as the settings say
    certain: bool = True  # the request asks for at least so much
    most: float | None = None  # of the unit, whatever the settings say
    lowerings: tuple[Reduction, ...] = ()  # none: the sizes with a pointer
    at_server: bool = False  # requests to a model's server, which have a limit of their own

    @property
    def amount(self) -> float:
        """Return the amount of work, the product of its sizes, in its unit."""
        return prod(size.value for size in self.sizes)

    def seconds(self, tokens_per_second: float) -> float:
        """Return approximate seconds on one worker."""
        each = 1 / tokens_per_second if self.seconds_each is None else self.seconds_each
        return self.amount * each


ROUNDING = 1e-9  # of a limit: who lowers a number as far as the refusal says is accepted

Cost = Callable[[Any, int], Sequence[Work]]  # request, tokens that its model surely reads → work


@dataclass(frozen=True)
class Excess:
    """Work above a limit. `share` is the part of the work that would fit."""

    work: Work
    share: float
    limit: str  # as the caller reads it


@dataclass(frozen=True)
class WorkLimit:
    """The limits of a request: seconds of computation at `tokens_per_second`, and rows sent to a
    model server."""

    seconds: float
    tokens_per_second: float
    server_rows: float = inf

    def expected_time(self, works: Sequence[Work]) -> float:
        """Return the expected computation time of a request in seconds. `works` may include
        uncertain work."""
        return sum(work.seconds(self.tokens_per_second) for work in works)

    def check(self, works: Sequence[Work]) -> None:
        """Raise TooCostly if the work is surely above the limit."""
        excess = self._excess(works)
        if excess is not None:
            raise self._to_error(excess, [work for work in works if work.certain])

    def passes(self, works: Sequence[Work]) -> bool:
        """Return True if `check` would pass."""
        return self._excess(works) is None

    def _excess(self, works: Sequence[Work]) -> Excess | None:
        certain = [work for work in works if work.certain]
        for work in certain:
            most = self.server_rows if work.at_server else work.most
            if most is not None and work.amount > most * (1 + ROUNDING):
                share = min(most / work.amount, self._share(work, certain))
                return Excess(work, share, _number(most))
        total = self.expected_time(certain)
        if total > self.seconds * (1 + ROUNDING):
            largest = max(certain, key=lambda work: work.seconds(self.tokens_per_second))
            limit = f"{_number(self.seconds)} seconds of work (this is about {_number(total)})"
            return Excess(largest, self._share(largest, certain), limit)
        return None

    def _to_error(self, excess: Excess, works: Sequence[Work]) -> TooCostly:
        largest = excess.work
        product = " × ".join(f"{_number(size.value)} {size.name}" for size in largest.sizes)
        lower = [
            (lowering.name, self._max_value(lowering), 1) for lowering in largest.lowerings
        ] or [
            (size.name, floor(size.value * excess.share), size.least)
            for size in largest.sizes
            if size.pointer is not None
        ]
        possible = [f"{name} to at most {most:,}" for name, most, least in lower if most >= least]
        advice = f"lower {', or '.join(possible)}" if possible else "lower several of them"
        fields: list[Reduction | Size] = []
        for work in (largest, *works):
            fields += (*work.lowerings, *work.sizes)
        pointers = dict.fromkeys(field.pointer for field in fields if field.pointer)
        refusal = TooManyRows if largest.at_server else TooCostly
        return refusal(
            f"{product} make {_number(largest.amount)} {largest.unit}, and one request may need "
            f"at most {excess.limit}: {advice}",
            pointers=tuple(pointers),
        )

    def _max_value(self, one: Reduction) -> int:
        """Return the largest smaller value of a request field that is within this limit, or 0 if no
        value is."""
        values = range(1, one.value)
        return bisect_left(values, True, key=lambda value: not self.passes(one.works(value)))

    def _share(self, work: Work, works: Sequence[Work]) -> float:
        """Return the fraction of `work` that stays within the time limit, if the other amounts of
        work stay unchanged."""
        seconds = work.seconds(self.tokens_per_second)
        return (self.seconds - (self.expected_time(works) - seconds)) / seconds


def words_of(text: str) -> int:
    """Return a lower bound on the number of tokens of a text."""
    return sum(any(map(str.isalnum, word)) for word in _SPACE.split(text))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or float(value).is_integer() else f"{value:,.2g}"
