"""A deleted job leaves nothing of its text behind, in no row and in no file."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine, text

from shared.contracts.errors import FileStoreAway
from shared.ledger import erasure
from shared.ledger.erasure import Erasure, FileLines
from shared.ledger.file_store import FileStore
from shared.ledger.files import new_id
from shared.ledger.tables import metadata
from shared.process.settings import Settings
from tests.batches import URL, Scene, line, store_folder
from tests.gateway.conftest import Opens
from tests.gateway.test_scores import GOOD

MARK = "zqmarked"
MINE = {"metadata": {"user": "u17"}}


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Scene:
    return Scene(client, engine, chosen)


def places_of(scene: Scene, mark: str) -> list[str]:
    """Return the tables and files that hold the mark."""
    with scene.engine.connect() as connection:
        tables = [
            table
            for table in metadata.tables
            if connection.execute(
                text(f'SELECT 1 FROM "{table}" AS one WHERE one::text LIKE :mark LIMIT 1'),  # noqa: S608
                {"mark": f"%{mark}%"},
            ).first()
        ]
    blobs = [path for path in store_folder(scene.chosen).rglob("*") if path.is_file()]
    return tables + [path.name for path in blobs if mark.encode() in path.read_bytes()]


def test_a_deleted_job_is_in_no_row(scene: Scene) -> None:
    body = GOOD | {"text": f"{MARK} {GOOD['text']}"} | MINE
    job = scene.client.post(URL, json=body).json()["id"]
    assert scene.client.delete(f"/v1/jobs/{job}").status_code == 409
    scene.work()
    assert "jobs" in places_of(scene, MARK)
    deleted = scene.client.delete(f"/v1/jobs/{job}").json()
    assert deleted == {"id": job, "object": "job", "deleted": True}
    assert places_of(scene, MARK) == []
    assert scene.client.delete(f"/v1/jobs/{job}").status_code == 404


def test_deletion_by_metadata_reaches_lines_files_and_equal_lines(scene: Scene) -> None:
    lines = [
        line("kept", "a text"),
        line("mine", f"{MARK} one", **MINE),
        line("equal", f"{MARK} one"),  # shares a job with the line before
        line("failed", f"bad {MARK}", **MINE),
    ]
    batch = scene.finish(scene.make(lines))
    open_batch = scene.read(scene.make([line("open", f"{MARK} later", **MINE)]))
    before = {name: scene.client.get(f"/v1/files/{batch[name]}").json()["bytes"]
              for name in ("input_file_id", "output_file_id", "error_file_id")}  # fmt: skip
    query = {"metadata[user]": "u17"}
    first = scene.client.delete("/v1/jobs", params=query).json()
    assert first == {"object": "job_deletion", "jobs": 2, "lines": 3, "open": 0}
    assert scene.batch(batch)["erased"] == 3
    for name, size in before.items():
        answer = scene.client.get(f"/v1/files/{batch[name]}/content")
        assert len(answer.content) == size
        assert MARK not in answer.text
    output = scene.client.get(f"/v1/files/{batch['output_file_id']}/content").text
    assert [json.loads(row)["custom_id"] for row in output.split("\n") if row.strip()] == ["kept"]
    scene.finish(open_batch)
    scene.client.delete("/v1/jobs", params=query).raise_for_status()
    assert places_of(scene, MARK) == []
    again = scene.finish(scene.make([], input_file_id=batch["input_file_id"]))
    assert again["request_counts"]["total"] == 1


def test_another_tenant_deletes_nothing(opens: Opens) -> None:
    mine, other = opens("a", "score"), opens("b", "score")
    job = mine.post(URL, json=GOOD | MINE).json()["id"]
    mine.post(f"/v1/jobs/{job}/cancel").raise_for_status()
    assert other.delete(f"/v1/jobs/{job}").status_code == 404
    assert other.delete("/v1/jobs", params={"metadata[user]": "u17"}).json()["jobs"] == 0
    assert other.delete("/v1/jobs").status_code == 422
    assert mine.delete("/v1/jobs", params={"metadata[user]": "u17"}).json()["jobs"] == 1


@pytest.mark.parametrize("place", ["", "memory://"])
def test_lines_become_blank_in_any_store(place: str, tmp_path: Path, engine: Engine) -> None:
    store = FileStore(place + str(tmp_path / "files"), engine)
    file_id = new_id()
    with store.open_write(file_id) as stream:
        stream.write(b'{"custom_id":"a"}\n{"custom_id":"b"}\n\n{"custom_id":"c"}')
    wanted = {file_id: FileLines(54, {1}, {"c"})}
    a_part_is_away = {file_id: FileLines(55, {1})}
    with pytest.raises(FileStoreAway):  # and keeps the file as it is
        erasure.blank_lines(store, Erasure([], {}, a_part_is_away))
    for _ in range(2):  # an interrupted deletion is repeated
        erasure.blank_lines(store, Erasure([], {}, wanted))
        left = b"".join(store.iter_chunks(file_id, size=54))
        assert left == b" " * 17 + b'\n{"custom_id":"b"}\n\n' + b" " * 17
