"""Nothing that was accepted is lost, whatever dies: real processes, real faults, many jobs each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.end_to_end.load import all_succeed_once
from tests.end_to_end.service import WARM, Service, serving

JOBS = [80, pytest.param(200, marks=pytest.mark.nightly)]
FAULT_AFTER = 0.2  # of them have ended: the fault comes in the middle
# A worker's death costs one lease, whatever its length; `make chaos` does the same with 60 s.
SHORT = WARM | {
    "TOUCHSTONE_LEASE_SECONDS": "16",
}

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all faults: it must survive them one after the other."""
    folder: Path = tmp_path_factory.mktemp("service")
    with serving(folder, "--services", "hatexscore", "inference", **SHORT) as running:
        yield running


FAULTS: dict[str, Callable[[Service], None]] = {
    "redis-flushed": Service.flush_redis,
    "postgres-crashed": Service.crash_postgres,
    "worker-killed": lambda service: service.kill("services.worker"),
    "gateway-and-scheduler-killed": lambda service: service.kill(
        "services.gateway", "services.scheduler"
    ),
}


@pytest.mark.parametrize("jobs", JOBS)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_accepted_job_succeeds_once(service: Service, fault: str, jobs: int) -> None:
    all_succeed_once(service, jobs, round(FAULT_AFTER * jobs), FAULTS[fault])
