"""How long a test waits for what must happen: long, and over as soon as it has happened.

No test fails because the machine is busy. A wait ends early on success; how long a hopeless one
lasts grows with what else the machine has to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

SECONDS = 120.0  # of an idle machine; nothing that a test waits for takes a tenth of it there
LOOK_SECONDS = 0.02

T = TypeVar("T")


def busy() -> float:
    """How many times slower than idle this machine may be just now: runnable tasks a core."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def looks(seconds: float = SECONDS, every: float = LOOK_SECONDS) -> Iterator[float]:
    """The seconds gone by, at each look, until patience ends: `for _ in looks(): …`."""
    begun = time.monotonic()
    while (gone := time.monotonic() - begun) < seconds * busy():
        yield gone
        time.sleep(every)


def eventually(
    holds: Callable[[], T | None],
    why: Callable[[], object] | str = "it did not happen",
    *,
    seconds: float = SECONDS,
    every: float = LOOK_SECONDS,
) -> T:
    """What `holds` returns once it is true. Raises AssertionError, with the reason, if it never is.

    seconds: on an idle machine.
    """
    for _ in looks(seconds, every):
        if found := holds():
            return found
    raise AssertionError(why() if callable(why) else why)
