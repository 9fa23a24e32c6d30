"""Whether the time of a function grows faster than its text, in processor time of this thread.

Other processes cannot change the verdict: only processor time counts, of several tries the least,
and a suspicion is raised again from anew before it is one. A call that does not come back is ended
by an alarm in processor time, which Python's own pattern engine obeys.
"""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from shared.contracts.errors import ScoringError

FIRST_LOOK = (1_250, 5_000)
SUSPICIOUS = 5.5  # from one to the other: 4 is linear
UNSEEN = 0.0015  # seconds: a square of it would be 24 ms for the longest text
SIZES = (5_000, 10_000, 20_000)
NEGLIGIBLE = 0.1  # seconds for the longest text: on a busy machine a cache that is shared is slower
STEEPEST = 8.0  # from the shortest to the longest: 4 is linear, 16 quadratic
LONGEST = 15.0  # seconds of any one call; an analyser of Korean takes 3
TRIES = 3

Text = Callable[[int], str]  # of so many characters


class TooLong(Exception):
    """A call had its time."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises TooLong after so much processor time."""

    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(call: Callable[[str], Any], text: str, tries: int = 1) -> float:
    """Processor time of one call, of several the least. Raises TooLong."""
    least = float("inf")
    for _ in range(tries):
        with uncollected():
            begun = time.thread_time()
            with alarm(LONGEST), suppress(ScoringError):  # a text may be refused
                call(text)
            least = min(least, time.thread_time() - begun)
    return least


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector, which walks through all that the suite has loaded till then."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def complaint(call: Callable[[str], Any], text: Text) -> str | None:
    """How the time grows where it grows too fast; None where it does not."""
    said = None
    for _ in range(TRIES):
        said = _first_look(call, text) and _complaint(call, text)
        if said is None:
            return None
    return said


def _first_look(call: Callable[[str], Any], text: Text) -> str | None:
    """Short texts, once each, and once more with care: most need no more."""
    short, longer = (text(size) for size in FIRST_LOOK)
    try:
        for tries in (1, TRIES):
            taken = seconds(call, longer, tries)
            if taken <= UNSEEN or taken <= SUSPICIOUS * seconds(call, short, tries):
                return None
    except TooLong:
        pass
    return "suspicious"


def _complaint(call: Callable[[str], Any], text: Text) -> str | None:
    try:
        times = [seconds(call, text(size), 2) for size in SIZES]
    except TooLong:
        return f"more than {LONGEST} s"
    if times[-1] <= max(NEGLIGIBLE, STEEPEST * times[0]):
        return None
    return ", ".join(f"{t * 1e3:.0f} ms for {n}" for n, t in zip(SIZES, times, strict=True))
