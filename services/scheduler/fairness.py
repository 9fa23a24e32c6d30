"""Who is fed how much: batches share a metric's window as equally as they can use it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence


def shares(hungry: Mapping[str, int], open_jobs: Mapping[str, int], window: int) -> Counter[str]:
    """How many new jobs each batch gets (max-min fairness).

    hungry:    batch → the most that it can use; in the order in which ties are served.
    open_jobs: batch → jobs that it has in the lane now, of hungry batches and of others.
    window:    the most jobs in the lane; what others hold is taken off first.

    Each free place goes to the batch with the fewest open jobs that can still use one.
    """
    given: Counter[str] = Counter()
    free = window - sum(open_jobs.values())
    turn = [(open_jobs.get(batch, 0), place, batch) for place, batch in enumerate(hungry)]
    heapq.heapify(turn)
    while free > 0 and turn:
        held, place, batch = heapq.heappop(turn)
        if given[batch] >= hungry[batch]:
            continue
        given[batch] += 1
        free -= 1
        heapq.heappush(turn, (held + 1, place, batch))
    return +given


def by_metric(
    counts: Mapping[tuple[str, str], int], metrics: Sequence[str]
) -> dict[str, dict[str, int]]:
    """metric → batch → open jobs, for these metrics."""
    return {
        name: {batch: count for (metric, batch), count in counts.items() if metric == name}
        for name in metrics
    }
