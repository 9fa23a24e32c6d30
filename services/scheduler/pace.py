"""How many jobs of batches may wait in a metric's lane: what its workers end in a few seconds.

A newcomer's jobs stand behind those that wait already, so that the wait is bounded by time, not by
a count. A lane that was found empty was too short: then twice as many may wait. So the bound
follows the workers, however many and however fast they are.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

SECONDS_AHEAD = 3.0  # a few rounds of feeding, so that no worker is idle


@dataclass(frozen=True)
class Seen:
    """A metric's lane when it was last looked at. ended: jobs a second; bound: that could wait."""

    at: float
    open_jobs: int
    ended: float
    bound: int


class Pace:
    """Each metric's pace, as one scheduler sees it. For one thread.

    least, most: jobs that may wait, however slow or fast the lane is.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least = min(least, most)
        self._most = most
        self._fed: Counter[str] = Counter()  # since the lane was last looked at
        self._seen: dict[str, Seen] = {}

    def fed(self, metric: str, count: int) -> None:
        """So many jobs went into the lane."""
        self._fed[metric] += count

    def bound(self, metric: str, open_jobs: int, waiting: int, at: float | None = None) -> int:
        """How many jobs may wait in the lane, where so many are open in it, and wait, now."""
        at = time.monotonic() if at is None else at
        fed, before = self._fed.pop(metric, 0), self._seen.get(metric)
        ended, bound = 0.0, self._least
        if before is not None and at > before.at:
            latest = max(0, before.open_jobs + fed - open_jobs) / (at - before.at)
            ended = max(latest, (before.ended + latest) / 2)  # quickly up, slowly down
            bound = round(ended * SECONDS_AHEAD)
            if waiting == 0 and fed:
                bound = max(bound, 2 * before.bound)
        bound = min(self._most, max(self._least, bound))
        self._seen[metric] = Seen(at, open_jobs, ended, bound)
        return bound
