"""A line that cannot be kept, a row that cannot be written, a crowd: one scheduler outlives it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import httpx
import psutil
import pytest
from sqlalchemy import create_engine, text

from shared.ledger.engine import sqlalchemy_url
from tests.batches import FINAL, URL, Json, line
from tests.end_to_end.batch import contents, started
from tests.end_to_end.keys import opened
from tests.end_to_end.service import Service, serving

pytestmark = pytest.mark.end_to_end

HASTE = {"TOUCHSTONE_TICK_SECONDS": "0.2"}
CROWD = 10
REFUSAL = """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'poison, on purpose'; END $$"""
TRIGGER = """CREATE TRIGGER poison BEFORE UPDATE ON batches FOR EACH ROW
WHEN (NEW.completed > OLD.completed AND NEW.id ="""


def schedulers(service: Service) -> set[int]:
    return {
        process.pid
        for process in psutil.process_iter(["cmdline", "environ"])
        if "services.scheduler" in (process.info["cmdline"] or [])
        and (process.info["environ"] or {}).get("REDIS_URL") == service.redis_url
    }


def poison(service: Service, batch: Json) -> None:
    """The ledger refuses to count an answer of this batch."""
    engine = create_engine(sqlalchemy_url(service.database_url))
    with engine.begin() as connection:
        connection.execute(text(REFUSAL))
        connection.execute(text(f"{TRIGGER} '{batch['id']}') EXECUTE FUNCTION refuse()"))
    engine.dispose()


def final(client: httpx.Client, batch: Json) -> Json:
    while batch["status"] not in FINAL:
        time.sleep(0.2)
        batch = client.get(f"/v1/batches/{batch['id']}").json()
    return batch


def test_poison_of_every_kind_ends_its_own_batch_alone(tmp_path: Path) -> None:
    many = [line(str(number), f"People are kind, number {number}") for number in range(400)]
    few = [line(str(number), f"Neighbours are kind, number {number}") for number in range(3)]
    with (
        serving(tmp_path, "--services", "hatexscore", **HASTE) as service,
        opened(service, "crowd", "batch") as crowd,
        opened(service, "other", "batch") as other,
    ):
        before = schedulers(service)
        unkeepable = started(crowd, [*few, line("a\x00b", "x")], URL)
        contradicted = started(crowd, many, URL)
        waiting = [started(crowd, many, URL) for _ in range(CROWD)]
        poison(service, contradicted)
        good = final(other, started(other, few, URL))
        unfinished = [crowd.get(f"/v1/batches/{one['id']}").json()["status"] for one in waiting]
        unkeepable, contradicted = final(crowd, unkeepable), final(crowd, contradicted)
        output = contents(crowd, contradicted["output_file_id"])
        after = schedulers(service)
    assert (good["status"], good["request_counts"]["completed"]) == ("completed", 3)
    assert not FINAL & set(unfinished)  # nobody waited for the crowd
    (fault,) = unkeepable["errors"]["data"]
    assert (unkeepable["status"], fault["line"], fault["param"]) == ("failed", 4, "#/custom_id")
    assert contradicted["status"] == "failed"
    assert contradicted["errors"]["data"][0]["code"] == "internal"
    assert {one["custom_id"] for one in output} <= {one["custom_id"] for one in many}
    assert json.dumps(output).count('"status_code": 200') == len(output)
    assert before == after
    assert len(before) == 1
