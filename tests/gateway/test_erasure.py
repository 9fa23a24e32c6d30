"""A deleted job leaves nothing of its text behind, in no row and in no file."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from shared.contracts.errors import FileStoreAway
from shared.ledger import erasure
from shared.ledger.file_store import FileStore
from shared.ledger.files import new_id
from shared.ledger.tables import metadata
from shared.process.settings import Settings
from tests.batches import URL, Json, Scene, line, store_folder
from tests.gateway.conftest import Opens
from tests.gateway.pages.test_new_batches import confirmed, uploaded
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
    assert first == {"object": "job_deletion", "jobs": 2, "lines": 3, "open": 1}
    assert scene.batch(batch)["erased"] == 3
    for name, size in before.items():
        answer = scene.client.get(f"/v1/files/{batch[name]}/content")
        assert len(answer.content) == size
        assert MARK not in answer.text
    assert [row["custom_id"] for row in _rows(scene, batch["output_file_id"])] == ["kept"]
    scene.finish(open_batch)
    scene.client.delete("/v1/jobs", params=query).raise_for_status()
    assert places_of(scene, MARK) == []
    again = scene.finish(scene.make([], input_file_id=batch["input_file_id"]))
    assert again["request_counts"]["total"] == 1


def test_deletion_by_metadata_reaches_the_files_of_failed_and_cancelled_batches(
    scene: Scene,
) -> None:
    lines: list[Json | str | bytes] = [
        line("mine", f"{MARK} one", **MINE),
        line("kept", "a text", metadata={"user": "u18"}),
        line("invalid", f"{MARK} two", **MINE) | {"url": "/elsewhere"},
        "{not JSON",
    ]
    failed = scene.read(scene.make(lines))
    cancelled = scene.make(lines[:2])
    scene.client.post(f"/v1/batches/{cancelled['id']}/cancel").raise_for_status()
    late = scene.read(scene.make(lines[:2]))  # cancelled after it was read
    scene.client.post(f"/v1/batches/{late['id']}/cancel").raise_for_status()
    query = {"metadata[user]": "u17"}
    assert scene.client.delete("/v1/jobs", params=query).json()["open"] == 2
    batches = [failed, scene.finish(cancelled), scene.finish(late)]
    assert [batch["status"] for batch in batches] == ["failed", "cancelled", "cancelled"]
    assert len(places_of(scene, MARK)) == 2
    erased = scene.client.delete("/v1/jobs", params=query).json()
    assert (erased["lines"], erased["open"]) == (2, 0)
    assert [scene.batch(batch)["erased"] for batch in batches] == [2, 1, 1]
    assert places_of(scene, MARK) == []
    for batch in batches:
        content = scene.client.get(f"/v1/files/{batch['input_file_id']}/content").text
        assert ("u18" in content, "u17" in content) == (True, False)
    assert "{not JSON" in scene.client.get(f"/v1/files/{failed['input_file_id']}/content").text
    assert scene.client.delete("/v1/jobs", params=query).json()["lines"] == 0


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

    def is_kept(number: int, raw: bytes) -> bool:
        return number != 1 and json.loads(raw)["custom_id"] != "c"

    with pytest.raises(FileStoreAway):  # a part is away; the file stays as it is
        erasure.blank_lines(store, file_id, 55, is_kept)
    for _ in range(2):  # an interrupted deletion is repeated
        erasure.blank_lines(store, file_id, 54, is_kept)
        left = b"".join(store.iter_chunks(file_id, size=54))
        assert left == b" " * 17 + b'\n{"custom_id":"b"}\n\n' + b" " * 17


def test_deletions_at_the_same_time_do_not_undo_each_other(scene: Scene) -> None:
    lines = [line(f"l{n}", f"zqmany{n} text", metadata={"user": f"u{n}"}) for n in range(8)]
    batch = scene.finish(scene.make(lines))

    def erase(number: int) -> int:
        query = {"metadata[user]": f"u{number % 6}"}  # two are sent twice
        return scene.client.delete("/v1/jobs", params=query).status_code

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(erase, range(8))} == {200}
    assert scene.batch(batch)["erased"] == 6
    for number in range(8):
        assert bool(places_of(scene, f"zqmany{number}")) == (number >= 6)


def test_a_deletion_blanks_lines_again_that_were_erased_earlier(scene: Scene) -> None:
    lines = [line(name, f"{MARK} {name}", metadata={"user": name}) for name in ("a", "b")]
    batch = scene.finish(scene.make([*lines, line("c", "a text")]))
    names = [batch[name] for name in ("input_file_id", "output_file_id")]
    paths = [store_folder(scene.chosen) / f"{name}.jsonl" for name in names]
    contents = [path.read_bytes() for path in paths]
    for user in ("a", "b"):
        scene.client.delete("/v1/jobs", params={"metadata[user]": user}).raise_for_status()
        if user == "a":
            for path, content in zip(paths, contents, strict=True):
                path.write_bytes(content)  # as an older writer would leave it
    assert places_of(scene, MARK) == []
    assert [one["custom_id"] for one in _rows(scene, names[1])] == ["c"]


def test_the_uploaded_table_of_an_erased_line_is_deleted(scene: Scene) -> None:
    rows = f"post,reason,decision,user\n{MARK},hateful,hateful,u17\na text,hateful,hateful,u18\n"
    address = uploaded(scene.client, rows.encode())
    table = address.partition("?")[0].rpartition("/")[2]
    shown = f"{address}&c.text=post&c.explanation=reason&c.decision=decision&m=user"
    for language in ("en", "de"):  # two batches of one table
        made = confirmed(scene.client, shown, **{"k.language": language})
        assert made.status_code == 303, made.text
        scene.finish({"id": made.headers["location"].rpartition("/")[2]})
    deleted = scene.client.delete("/v1/jobs", params={"metadata[user]": "u17"}).json()
    assert (deleted["jobs"], deleted["lines"]) == (2, 2)
    assert places_of(scene, MARK) == []
    assert scene.client.get(f"/v1/files/{table}/content").status_code == 404
    gone = scene.client.get(address)
    assert gone.status_code == 404
    assert "this table is gone" in gone.text


def test_the_reports_on_an_erased_line_are_deleted(scene: Scene) -> None:
    lines = [line("mine", f"{MARK} one", **MINE), line("kept", "a text")]
    batch = scene.finish(scene.make(lines))
    mine, kept = (row["response"]["body"]["id"] for row in scene.file(batch["output_file_id"]))
    of_batch = {"batch": batch["id"]}
    post = scene.client.post
    reports = [
        post(f"/v1/batches/{batch['id']}/report"),
        post("/v1/reports", json={"metric": "hatexscore"} | of_batch),
        post("/v1/reports", json={"metric": "hatexscore", "jobs": [mine]}),
        post("/v1/reports", json={"metric": "hatexscore", "jobs": [kept], "against": of_batch}),
        post("/v1/reports", json={"metric": "hatexscore", "jobs": [kept]}),
    ]
    scene.client.delete(f"/v1/jobs/{mine}").raise_for_status()
    found = [scene.client.get(one.headers["location"]).status_code for one in reports]
    assert found == [404, 404, 404, 404, 200]
    assert scene.client.get(f"/v1/batches/{batch['id']}/report").status_code == 409
    assert post(f"/v1/batches/{batch['id']}/report").status_code == 202


def test_a_batch_that_is_being_validated_counts_as_open(scene: Scene, opens: Opens) -> None:
    other, query = opens("other", "score"), {"metadata[user]": "u17"}
    batch = scene.make([line("mine", f"{MARK} one", **MINE), line("kept", "a text")])
    nothing = {"object": "job_deletion", "jobs": 0, "lines": 0}
    assert scene.client.delete("/v1/jobs", params=query).json() == nothing | {"open": 1}
    assert other.delete("/v1/jobs", params=query).json() == nothing | {"open": 0}
    scene.read(batch)
    assert scene.client.delete("/v1/jobs", params=query).json() == nothing | {"open": 1}
    scene.finish(batch)
    erased = scene.client.delete("/v1/jobs", params=query).json()
    assert erased == nothing | {"jobs": 1, "lines": 1, "open": 0}
    assert places_of(scene, MARK) == []


def test_the_page_of_a_batch_says_how_many_lines_were_erased(scene: Scene) -> None:
    lines = [line(f"l{number}", f"a text {number}", **MINE) for number in range(2)]
    batch = scene.finish(scene.make([*lines, line("kept", "a text")]))
    sentence = "2 of 3 lines were erased"
    assert sentence not in scene.client.get(f"/batches/{batch['id']}").text
    scene.client.delete("/v1/jobs", params={"metadata[user]": "u17"}).raise_for_status()
    assert sentence in scene.client.get(f"/batches/{batch['id']}").text


def _rows(scene: Scene, file_id: str) -> list[dict[str, Any]]:
    content = scene.client.get(f"/v1/files/{file_id}/content").text
    return [json.loads(row) for row in content.split("\n") if row.strip()]
