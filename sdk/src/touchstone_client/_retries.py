"""The rules for retries: four attempts, with random pauses of up to 0.5 s, doubling up to 8 s. The
service's headers `x-should-retry` and `Retry-After` take precedence."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

from touchstone_client._http import Answer

TRIES = 4
FIRST_SECONDS = 0.5
LONGEST_SECONDS = 8.0
LONGEST_TOLD_SECONDS = 60.0
PASSING = frozenset({408, 429, 502, 503, 504})


def may_pass(answer: Answer) -> bool:
    """Return True if the same request may succeed later."""
    header = answer.headers.get("x-should-retry")
    return header == "true" if header in ("true", "false") else answer.status in PASSING


def told_seconds(answer: Answer) -> float | None:
    """Return the seconds in `Retry-After`. Return None if the header is missing or contains a
    date."""
    header = answer.headers.get("retry-after", "")
    return float(header) if header.isascii() and header.isdigit() else None


@dataclass
class Tries:
    """The attempts of one call. During the first `patience` seconds, every failed attempt is
    retried."""

    patience: float = 0.0
    _attempts: int = 0
    _begun: float = field(default_factory=time.monotonic)

    def pause(self, answer: Answer | None) -> float | None:
        """Return the seconds until the next attempt, or None to give up. `answer` is None if there
        was no response."""
        self._attempts += 1
        if answer is not None and not may_pass(answer):
            return None
        requested = None if answer is None else told_seconds(answer)
        if requested is not None and requested > LONGEST_TOLD_SECONDS:
            return None
        is_over = time.monotonic() - self._begun >= self.patience
        if self._attempts >= TRIES and is_over:
            return None
        most = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(self._attempts - 1, 8))
        random_seconds = random.uniform(0, most)  # noqa: S311 - it spreads callers, it guards nothing
        return max(requested or 0.0, random_seconds)
