"""A scheduler is well while all of its duties come round."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest

from cli.stack.servers import HOST, free_port
from services.scheduler.__main__ import PeriodicTask
from services.scheduler.health import TaskMonitor, start_server
from tests.patience import SECONDS, eventually


@pytest.fixture
def rounds() -> TaskMonitor:
    """Late after a tenth of a second."""
    return TaskMonitor(0.1)


@pytest.fixture
def probes(rounds: TaskMonitor) -> Iterator[httpx.Client]:
    port = free_port()
    server = start_server(rounds, HOST, port)
    with httpx.Client(base_url=f"http://{HOST}:{port}", timeout=SECONDS) as client:
        yield client
    server.shutdown()
    server.server_close()


def test_a_duty_that_hangs_is_named_and_one_that_goes_on_is_well_again(
    rounds: TaskMonitor, probes: httpx.Client
) -> None:
    stop, hung, free = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        if not hung.is_set():
            hung.set()
            free.wait()

    thread = threading.Thread(
        target=PeriodicTask("filing", work, 0.01).run_until, args=(stop, rounds)
    )
    thread.start()
    try:
        eventually(lambda: probes.get("/healthz").status_code == 503)
        assert list(probes.get("/readyz").json()) == ["filing"]
        free.set()
        eventually(lambda: probes.get("/healthz").status_code == 200)
    finally:
        free.set()
        stop.set()
        thread.join()


def test_a_thread_that_ended_is_late(rounds: TaskMonitor, probes: httpx.Client) -> None:
    rounds.begin("recovery")
    eventually(lambda: probes.get("/healthz").status_code == 503)


def test_counters_are_there_too(probes: httpx.Client) -> None:
    assert probes.get("/healthz").json() == {"status": "ok"}
    assert "touchstone_jobs_finished_total" in probes.get("/metrics").text
