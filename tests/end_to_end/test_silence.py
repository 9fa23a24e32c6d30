"""A process of the real service that is stopped is started again, and its jobs are finished."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.answers import CheckedClient
from tests.end_to_end.batch import patiently
from tests.end_to_end.load import examples, submit
from tests.end_to_end.service import WARM, Service, serving
from tests.patience import SECONDS, eventually

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Whoever is silent for some seconds is given up."""
    folder: Path = tmp_path_factory.mktemp("silence")
    # warm: an analyser that loads under the interpreter's lock is silent for seconds, too
    options = ("--services", "hatexscore", "inference")
    # a process that is silent for two leases is killed
    with serving(folder, *options, **WARM, TOUCHSTONE_LEASE_SECONDS="16") as running:
        yield running


def process_of(service: Service, module: str) -> psutil.Process:
    return next(
        process
        for process in psutil.process_iter(["cmdline", "environ"])
        if module in (process.info["cmdline"] or [])
        and (process.info["environ"] or {}).get("REDIS_URL") == service.redis_url
    )


@pytest.mark.parametrize("module", ["services.worker", "services.scheduler", "services.gateway"])
def test_who_is_stopped_is_started_again(service: Service, module: str) -> None:
    stopped = process_of(service, module)
    os.kill(stopped.pid, signal.SIGSTOP)
    eventually(lambda: not stopped.is_running())
    eventually(service.is_ready)
    with CheckedClient(base_url=service.url, timeout=SECONDS) as client:
        job = f"/v1/jobs/{submit(client, examples()[0])}"  # whoever is started again meanwhile
        eventually(lambda: patiently(client, "GET", job).json()["status"] == "succeeded")
