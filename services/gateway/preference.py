"""`Prefer: wait=N` (RFC 7240): how long the caller would rather wait than come back."""

from __future__ import annotations

import re

WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,18})\"?(?=$|[,;\s])", re.IGNORECASE)


def wait_seconds(prefer: str | None, *, most: int) -> int:
    """The seconds to wait, [0, most]; 0 where nothing (intelligible) is asked."""
    found = WAIT.search(prefer or "")
    return min(int(found[1]), most) if found else 0
