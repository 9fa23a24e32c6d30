"""A worker's process whose metric never ends, in the way that the text names: `python -m
tests.stubborn`."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from services.worker import run_worker
from shared.contracts.service import Service
from shared.process import telemetry
from shared.process.settings import settings
from shared.queue import job_context
from shared.worker import job, register
from shared.worker import watchdog as watchdog_module
from shared.worker.process import Health
from shared.worker.process import start_server as serve_health
from shared.worker.watchdog import watchdog
from tests.echo_metric import ECHO, EchoReport, EchoRequest, echo

STUBBORN = replace(ECHO, name="stubborn")
SLOW_STEPS = 20
GRACE_SECONDS = 2


def backtracks() -> None:
    """Holds the interpreter's lock: no other thread runs."""
    re.match("(a+)+$", "a" * 64 + "b")


def loops() -> None:
    """Never asks whether it is still wanted."""
    while True:
        pass


def sleeps() -> None:
    """Waits in compiled code, without the lock: no exception gets there."""
    time.sleep(3_600)


def asks() -> None:
    """Asks before every step."""
    while True:
        time.sleep(0.01)
        job_context.check()


def slow() -> None:
    """Ends, but not at once."""
    for _ in range(SLOW_STEPS):
        time.sleep(0.05)


WAYS = {way.__name__: way for way in (backtracks, loops, sleeps, asks, slow)}


class Stubborn(Service):
    """The text back, sooner, later or never."""

    contract = STUBBORN

    def score(self, request: EchoRequest) -> EchoReport:
        """The text back."""
        WAYS[request.text]()
        return echo(request)


def main() -> None:
    """As `services.worker` does, without models."""
    for module in (job, watchdog_module):
        pytest.MonkeyPatch().setattr(module, "GRACE_SECONDS", GRACE_SECONDS)
    chosen = settings()
    telemetry.configure_logging(chosen.log_level, chosen.log_format)
    register(Stubborn())
    health = Health()
    health.ailment = watchdog.health_error
    health.clear("worker")
    if chosen.metrics_port is not None:
        serve_health(health, chosen.metrics_host, chosen.metrics_port)
    watchdog.start()
    run_worker([], chosen)


if __name__ == "__main__":
    main()
