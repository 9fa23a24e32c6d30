"""What is old goes, what is young or open stays, and no blob outlives its row for long."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest
from sqlalchemy import select, text, update

from services.scheduler.retention import PrivateInputs, Retention
from shared.ledger import files, tenants
from shared.ledger.tables import batches, jobs
from shared.ledger.tables import files as file_table
from tests.batches import URL, Scene, line, store_folder, upload
from tests.gateway.test_scores import GOOD

LONG_AGO = text("now() - interval '40 days'")


@pytest.fixture
def retention(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Retention:
    monkeypatch.setattr("shared.ledger.retention.CLOCKS", timedelta(days=60))  # ids are of today
    for blob in store_folder(scene.chosen).glob("*.jsonl"):
        if blob.is_file():
            blob.unlink()
    return Retention(scene.engine, scene.chosen)


def blobs(scene: Scene) -> set[str]:
    return {path.stem for path in store_folder(scene.chosen).iterdir() if path.is_file()}


def count(scene: Scene, table: str) -> int:
    tables = {"jobs", "batches", "batch_lines", "files", "idempotency_keys"}
    assert table in tables
    with scene.engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())  # noqa: S608


def test_old_ended_jobs_go_and_open_ones_stay(scene: Scene, retention: Retention) -> None:
    ids = [scene.client.post(URL, json=GOOD).json()["id"] for _ in range(3)]
    scene.work(most=2)
    with scene.engine.begin() as connection:
        connection.execute(update(jobs).values(created_at=LONG_AGO))
        connection.execute(update(jobs).where(jobs.c.id == ids[0]).values(finished_at=LONG_AGO))
    retention.round()
    statuses = [scene.client.get(f"/v1/jobs/{job_id}").status_code for job_id in ids]
    assert statuses == [404, 200, 200]


def test_an_old_batch_goes_with_its_jobs_lines_and_files(
    scene: Scene, retention: Retention
) -> None:
    old = scene.finish(scene.make([line(str(n), f"text {n}") for n in range(5)]))
    young = scene.finish(scene.make([line("a", "a")]))
    still_open = scene.read(scene.make([line("b", "b")]))
    with scene.engine.begin() as connection:
        for batch in (old, still_open):
            connection.execute(
                update(batches)
                .where(batches.c.id == batch["id"])
                .values(created_at=LONG_AGO, completed_at=LONG_AGO)
            )
        connection.execute(update(jobs).values(finished_at=LONG_AGO))
        gone = [old["input_file_id"], old["output_file_id"], still_open["input_file_id"]]
        connection.execute(
            update(file_table).where(file_table.c.id.in_(gone)).values(expires_at=LONG_AGO)
        )
    retention.round()
    assert scene.client.get(f"/v1/batches/{old['id']}").status_code == 404
    assert scene.batch(young) == young
    assert (count(scene, "batches"), count(scene, "jobs"), count(scene, "batch_lines")) == (2, 1, 2)
    assert blobs(scene) == {
        young["input_file_id"],
        young["output_file_id"],
        still_open["input_file_id"],  # its term is over, but it is still read
    }


def test_a_file_past_its_term_is_not_found_even_before_it_is_purged(scene: Scene) -> None:
    file = upload(scene.client, b"x")
    with scene.engine.begin() as connection:
        connection.execute(update(file_table).values(expires_at=LONG_AGO))
    assert scene.client.get(f"/v1/files/{file['id']}").status_code == 404
    answer = scene.client.post("/v1/batches", json={"input_file_id": file["id"], "endpoint": URL})
    assert answer.json()["errors"][0]["pointer"] == "#/input_file_id"


def test_blobs_without_a_row_go_after_a_day_and_foreign_files_never(
    scene: Scene, retention: Retention
) -> None:
    known = upload(scene.client, b"x")["id"]
    old, young = files.new_id(), files.new_id()
    folder = store_folder(scene.chosen)
    two_days_ago = (folder / f"{known}.jsonl").stat().st_mtime - 2 * 86_400
    for name in (f"{old}.jsonl", f"{young}.jsonl", "theirs.jsonl"):
        (folder / name).write_bytes(b"x")
    for name in (f"{old}.jsonl", f"{known}.jsonl", "theirs.jsonl"):
        os.utime(folder / name, (two_days_ago, two_days_ago))
    retention.round()
    assert blobs(scene) == {known, young, "theirs"}


def test_keys_are_forgotten_and_may_be_used_again(scene: Scene, retention: Retention) -> None:
    key = {"Idempotency-Key": '"one"'}
    asked = {"input_file_id": upload(scene.client, b"{}")["id"], "endpoint": URL}
    first = scene.client.post("/v1/batches", json=asked, headers=key).json()
    scene.client.post(URL, json=GOOD, headers=key)
    with scene.engine.begin() as connection:
        connection.execute(update(batches).values(created_at=LONG_AGO))
        connection.execute(text("UPDATE idempotency_keys SET created_at = now() - interval '2 d'"))
    retention.round()
    assert count(scene, "idempotency_keys") == 0
    second = scene.client.post("/v1/batches", json=asked, headers=key).json()
    assert first["id"] != second["id"]


def test_a_batch_that_keeps_no_text_keeps_no_input_either(
    scene: Scene, retention: Retention
) -> None:
    secret = "nobody may find this again"
    batch = scene.finish(
        scene.make([line("a", secret, do_not_store_text=True), line("b", "plain")])
    )
    assert batch["status"] == "completed"
    assert scene.client.get(f"/v1/files/{batch['input_file_id']}").status_code == 404
    assert batch["input_file_id"] not in blobs(scene)
    with scene.engine.connect() as connection:
        requests = connection.execute(text("SELECT request::text FROM jobs")).scalars().all()
    assert not any(secret in request for request in requests)


def test_what_is_purged_comes_in_portions(
    scene: Scene, retention: Retention, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.ledger.retention.PORTION", 2)
    for _ in range(5):
        scene.client.post(URL, json=GOOD)
    scene.work()
    with scene.engine.begin() as connection:
        connection.execute(update(jobs).values(finished_at=LONG_AGO))
    retention.round()
    assert count(scene, "jobs") == 0
    assert timedelta(hours=scene.chosen.retention_hours) < timedelta(days=40)


@pytest.mark.parametrize(("own_days", "age_days", "own_stays"), [(1, 2, False), (60, 40, True)])
def test_a_tenant_s_own_retention_is_of_its_data_alone(
    scene: Scene, retention: Retention, own_days: int, age_days: int, *, own_stays: bool
) -> None:
    """The default is 30 days."""
    tables = (jobs, batches, file_table)
    scene.finish(scene.make([line(str(n), f"text {n}") for n in range(3)]))
    scene.client.post(URL, json=GOOD)
    scene.work()
    age = text(f"interval '{age_days} days'")
    with scene.engine.begin() as connection:
        for table in tables:
            connection.execute(update(table).values(tenant="own"))
        tenants.set_retention(connection, "own", timedelta(days=own_days))
    scene.finish(scene.make([line("a", "a")]))
    scene.client.post(URL, json=GOOD)
    scene.work()
    with scene.engine.begin() as connection:
        made = files.NewFile(files.new_id(), "batch", "a", 1, 30 * 24, "own")
        kept = files.insert_file(connection, made)
        assert kept.expires_at == kept.created_at + timedelta(days=own_days)
        later = file_table.c.expires_at - age
        connection.execute(update(file_table).values(expires_at=later))
        connection.execute(update(jobs).values(finished_at=jobs.c.finished_at - age))
        connection.execute(update(batches).values(completed_at=batches.c.completed_at - age))
    retention.round()
    with scene.engine.begin() as connection:
        left = {
            table.name: set(connection.execute(select(table.c.tenant)).scalars())
            for table in tables
        }
    stays = {"own"} if own_stays else {"default"}
    assert left == {"jobs": stays, "batches": stays, "files": stays}


@pytest.mark.parametrize("ending", ["a fault beside it", "its own fault", "cancelled", "too early"])
def test_a_batch_that_ends_otherwise_keeps_no_input_either(scene: Scene, ending: str) -> None:
    private = line("a", "nobody may find this again", do_not_store_text=True)
    batch = {
        "a fault beside it": lambda: scene.make([private, "no line"]),
        "its own fault": lambda: scene.make(
            [line("a", "", do_not_store_text=True, options={"tau": 2})]
        ),
        "cancelled": lambda: scene.make([private]),
        "too early": lambda: scene.make([*["no line"] * 200, private]),
    }[ending]()
    if ending == "cancelled":  # before anything was read
        scene.client.post(f"/v1/batches/{batch['id']}/cancel")
        scene.feeder().round()
        scene.filing().round()
    else:
        assert scene.read(batch)["status"] == "failed"
    PrivateInputs(scene.engine, scene.chosen).round()
    assert scene.client.get(f"/v1/files/{batch['input_file_id']}").status_code == 404
    assert batch["input_file_id"] not in blobs(scene)


def test_a_failed_batch_that_may_keep_its_text_keeps_its_file(scene: Scene) -> None:
    batch = scene.make([line("a", "plain"), "no line"])
    assert scene.read(batch)["status"] == "failed"
    for _ in range(2):
        assert PrivateInputs(scene.engine, scene.chosen).round() == 0
    assert batch["input_file_id"] in blobs(scene)
