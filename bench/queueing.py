"""Simulates queues in series: waiting times of jobs for any number of servers at each station.

Each queue is first come, first served (G/G/c). Arrivals are Poisson, and service times are
lognormal with the measured mean. The 95th percentile of the total time has no closed form.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

JOBS = 20_000
SPREAD = 1.0  # coefficient of variation of a service time
BUSIEST = 0.95  # beyond it a queue has no end in sight


@dataclass(frozen=True)
class Station:
    """A station of the queue. `seconds` is the mean service time of a job. `most` is the maximum
    number of servers, or None."""

    name: str
    seconds: float
    most: int | None = None


def arrivals(rate: float, jobs: int, random: np.random.Generator) -> Floats:
    """Return N arrival times in seconds, at `rate` jobs per second."""
    return np.cumsum(random.exponential(1 / rate, jobs))


def served(came: Floats, seconds: float, servers: int, random: np.random.Generator) -> Floats:
    """Return the times in seconds at which N jobs leave a station with `servers` servers."""
    sigma = math.sqrt(math.log(1 + SPREAD**2))
    work = random.lognormal(math.log(seconds) - sigma**2 / 2, sigma, len(came))
    free = [0.0] * servers
    left = np.empty(len(came))
    for place, (at, needs) in enumerate(zip(came, work, strict=True)):
        start = max(at, heapq.heappop(free))
        left[place] = start + needs
        heapq.heappush(free, left[place])
    return left


def sojourn(
    rate: float, stations: Sequence[Station], servers: Sequence[int], seed: int = 0
) -> Floats:
    """Return the seconds from each job's arrival to its end, without the first tenth of the
    jobs."""
    random = np.random.default_rng(seed)
    came = arrivals(rate, JOBS, random)
    at = came
    for station, count in zip(stations, servers, strict=True):
        at = served(np.sort(at), station.seconds, count, random)
    return (np.sort(at) - came)[JOBS // 10 :]


def needed(rate: float, station: Station, busy: float) -> int:
    """Return the smallest number of servers that keeps a station's load at or below this share."""
    return max(1, math.ceil(rate * station.seconds / busy))


def sized(rate: float, stations: Sequence[Station], within: float) -> tuple[list[int], float]:
    """Return the fewest servers of each station with which the p95 of the total time is at most
    `within`, and this p95.

    The load of all stations is lowered together, from 95 % to 30 %. A station that needs more
    servers than possible gets `most`, and the p95 rises.
    """
    for busy in np.arange(BUSIEST, 0.25, -0.05):
        servers = [needed(rate, station, float(busy)) for station in stations]
        if any(
            station.most is not None and count > station.most
            for station, count in zip(stations, servers, strict=True)
        ):
            continue
        p95 = float(np.quantile(sojourn(rate, stations, servers), 0.95))
        if p95 <= within:
            return servers, p95
    return servers, math.inf
