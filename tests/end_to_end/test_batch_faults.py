"""A batch survives the death of everybody: every line answered once, with the result of
an undisturbed run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.agreement import difference
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from shared.contracts.answers import stored_result
from tests.answers import CheckedClient
from tests.batches import FINAL, URL, line
from tests.end_to_end.batch import contents, patiently, started
from tests.end_to_end.service import Service, serving
from tests.patience import SECONDS

score = SERVICE.score

pytestmark = pytest.mark.end_to_end


def crash_store_and_gateway(service: Service) -> None:
    service.crash_postgres()
    service.kill("services.gateway")


LINES = [120, pytest.param(240, marks=pytest.mark.nightly)]

HASTE = {
    "TOUCHSTONE_TICK_SECONDS": "0.2",
    "TOUCHSTONE_LEASE_SECONDS": "16",
}
FAULTS: tuple[tuple[str, Callable[[Service], None]], ...] = (
    ("scheduler-killed", lambda service: service.kill("services.scheduler")),
    ("redis-flushed", Service.flush_redis),
    ("worker-killed", lambda service: service.kill("services.worker")),
    ("scheduler-killed", lambda service: service.kill("services.scheduler")),
    # last: while they are away nobody sees how far the batch has come
    ("postgres-crashed, gateway-killed", crash_store_and_gateway),
)


@pytest.mark.parametrize("count", LINES)
def test_every_line_is_answered_once_whoever_dies(tmp_path: Path, count: int) -> None:
    distinct = count * 3 // 4
    window = {"TOUCHSTONE_BATCH_WINDOW": str(count // len(FAULTS))}  # one for each fault
    lines = [line(str(n), f"Muslims are kind, number {n % distinct}") for n in range(count)]
    with (
        serving(tmp_path, "--services", "hatexscore", **HASTE, **window) as service,
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
    ):
        batch = started(client, lines, URL)
        faults = list(FAULTS)
        while batch["status"] not in FINAL:
            done = batch["request_counts"]["completed"] / count
            if faults and done >= (len(FAULTS) - len(faults)) / len(FAULTS):
                faults.pop(0)[1](service)
            time.sleep(0.2)
            batch = patiently(client, "GET", f"/v1/batches/{batch['id']}").json()
        output = contents(client, batch["output_file_id"])
        errors = contents(client, batch["error_file_id"])
    assert not faults
    assert (batch["status"], errors) == ("completed", [])
    assert [one["custom_id"] for one in output] == [one["custom_id"] for one in lines]
    assert batch["request_counts"] == {"total": count, "completed": count, "failed": 0}
    assert len({one["response"]["request_id"] for one in output}) == distinct
    for one, asked_line in zip(output[::12], lines[::12], strict=True):
        undisturbed = score(HatexscoreRequest.model_validate(asked_line["body"]))
        found = stored_result(one["response"]["body"]["result"])
        assert difference(found, undisturbed.model_dump(mode="json")) is None
