"""The simulated queues agree with what is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench import queueing
from bench.queueing import Station, needed, served, sized, sojourn


def test_an_idle_station_only_takes_its_time() -> None:
    took = sojourn(0.001, [Station("s", 1.0)], [1])
    assert took.mean() == pytest.approx(1.0, rel=0.05)


def test_one_server_waits_as_pollaczek_and_khinchine_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "JOBS", 400_000)
    busy, spread = 0.5, queueing.SPREAD
    took = sojourn(busy, [Station("s", 1.0)], [1])
    expected = 1.0 + busy * (1 + spread**2) / (2 * (1 - busy))  # M/G/1, service time 1
    assert took.mean() == pytest.approx(expected, rel=0.05)


def test_nobody_leaves_before_being_served_and_more_servers_never_hurt() -> None:
    random = np.random.default_rng(1)
    came = queueing.arrivals(10, 2_000, random)
    few = served(came, 0.3, 4, np.random.default_rng(2))
    many = served(came, 0.3, 8, np.random.default_rng(2))
    assert np.all(few > came)
    assert np.all(many <= few + 1e-9)


def test_sizes_keep_the_promise_and_a_wall_is_seen() -> None:
    stations = [Station("a", 0.01), Station("b", 0.2)]
    servers, p95 = sized(20, stations, within=2)
    assert servers[1] >= needed(20, stations[1], 1.0)
    assert p95 <= 2
    _, p95 = sized(200, [Station("ledger", 0.01, most=1)], within=2)
    assert math.isinf(p95)
