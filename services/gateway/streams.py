"""The open event streams of this process: so many of a key, so many in all.

A stream costs little, but it lasts: without an end to their number they would hold the gateway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from services.gateway.keyring import Caller
from shared.errors import QuotaExceeded

POLICY = "open-streams"  # the policy's name in a refusal
MOST_OF_A_KEY = 20
MOST = 1_000
RETRY_SECONDS = 10


class Streams:
    """Who holds how many. For the event loop's thread."""

    def __init__(self) -> None:
        self._open: Counter[str | None] = Counter()  # key's id; None: where keys are not asked for

    @contextmanager
    def another(self, caller: Caller) -> Iterator[None]:
        """One more while the block lasts. Raises QuotaExceeded."""
        key = None if caller.key is None else caller.key.id
        if self._open.total() >= MOST:
            raise _refusal("this service holds as many event streams as it may")
        if key is not None and self._open[key] >= MOST_OF_A_KEY:
            raise _refusal(f"this key may hold {MOST_OF_A_KEY} event streams at a time")
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


def _refusal(detail: str) -> QuotaExceeded:
    return QuotaExceeded(detail, policy=POLICY, retry_after=RETRY_SECONDS)
