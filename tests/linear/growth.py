"""Whether the time of a function grows faster than its text, in processor time of this thread.

Other processes cannot change the verdict: only processor time counts, of several tries the least,
and a suspicion is raised again from anew before it is one. A call that does not come back is ended
by an alarm in processor time, which Python's own pattern engine obeys.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SIZES = (5_000, 10_000, 20_000)
NEGLIGIBLE = 0.02  # seconds for the longest text: nothing to look at
STEEPEST = 8.0  # from the shortest to the longest: 4 is linear, 16 quadratic
LONGEST = 4.0  # seconds of any one call
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
        begun = time.thread_time()
        with alarm(LONGEST):
            call(text)
        least = min(least, time.thread_time() - begun)
    return least


def complaint(call: Callable[[str], Any], text: Text) -> str | None:
    """How the time grows where it grows too fast; None where it does not."""
    said = None
    for _ in range(TRIES):
        said = _complaint(call, text)
        if said is None:
            return None
    return said


def _complaint(call: Callable[[str], Any], text: Text) -> str | None:
    try:
        longest = seconds(call, text(SIZES[-1]))
        if longest <= NEGLIGIBLE:
            return None
        shortest = seconds(call, text(SIZES[0]), 3)
        longest = min(longest, seconds(call, text(SIZES[-1])))
    except TooLong:
        return f"more than {LONGEST} s"
    if longest <= max(NEGLIGIBLE, STEEPEST * shortest):
        return None
    return f"{shortest * 1e3:.1f} ms for {SIZES[0]}, {longest * 1e3:.1f} ms for {SIZES[-1]}"
