"""Queues in series: waiting times of jobs for any number of servers at each station.

First come, first served, G/G/c: arrivals are Poisson, service times lognormal with the measured
mean. Simulated, since the 95th percentile of the sojourn has no closed form.
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
    """`seconds`: mean of one job's service. `most`: servers that it can have; None: any number."""

    name: str
    seconds: float
    most: int | None = None


def arrivals(rate: float, jobs: int, random: np.random.Generator) -> Floats:
    """Return (N,) arrival times in seconds, `rate` a second."""
    return np.cumsum(random.exponential(1 / rate, jobs))


def served(came: Floats, seconds: float, servers: int, random: np.random.Generator) -> Floats:
    """Return (N,) seconds at which jobs leave a station of `servers` servers."""
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
    """Return (N,) seconds from arrival to the end of the last station, without the first tenth."""
    random = np.random.default_rng(seed)
    came = arrivals(rate, JOBS, random)
    at = came
    for station, count in zip(stations, servers, strict=True):
        at = served(np.sort(at), station.seconds, count, random)
    return (np.sort(at) - came)[JOBS // 10 :]


def needed(rate: float, station: Station, busy: float) -> int:
    """Return the number of servers that keeps a station's load at this share or below."""
    return max(1, math.ceil(rate * station.seconds / busy))


def sized(rate: float, stations: Sequence[Station], within: float) -> tuple[list[int], float]:
    """Return (servers of each station, p95 sojourn): the fewest whose p95 is at most `within`.

    All stations are given slack together, from 95 % busy down to 30 %. A station that needs more
    servers than possible gets `most`, and the p95 shows it.
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
