"""A file store that is away ends nothing: batches wait for it, and say so."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from services.gateway import file_store_watch
from services.gateway.file_store_watch import HANGS
from services.scheduler import failure_isolation
from services.scheduler.failure_isolation import FailureIsolation, StepErrors
from services.scheduler.retention import PrivateInputs
from shared.contracts.errors import FileStoreAway, ModelNotReady
from shared.ledger.file_store import FileStore
from shared.models.catalogue.catalogue import Catalogue
from shared.process.settings import Settings
from tests.batches import Json, Scene, line, store_folder, upload
from tests.gateway.serving import serving
from tests.patience import SECONDS, eventually

LINES = [line(str(number), f"text {number}") for number in range(6)]
MORE_THAN_THREADS = 60  # Starlette has 40 for everything
MORE_THAN_TRIES = failure_isolation.TRIES + 2


def on_a_full_disk(store: FileStore, file_id: str) -> str:
    """For `FileStore._unfinished`."""
    link = Path(f"{store._incoming}/{file_id}.{secrets.token_hex(8)}")
    link.symlink_to("/dev/full")
    return str(link)


@contextmanager
def away(scene: Scene) -> Iterator[None]:
    """The disk is gone, and its empty mount point is there."""
    folder = store_folder(scene.chosen)
    disk = folder.with_name(f"{folder.name}-disk")
    folder.rename(disk)
    folder.mkdir()
    try:
        yield
        assert not list(folder.iterdir())
    finally:
        folder.rmdir()
        disk.rename(folder)


def wait_for_files(scene: Scene, batch: Json) -> Json:
    """The batch after more rounds than any other error may take."""
    feeder, filing = scene.feeder(), scene.filing()
    for _ in range(MORE_THAN_TRIES):
        filing.round()
        feeder.round()
        scene.work()
    return scene.batch(batch)


def all_answered(scene: Scene, batch: Json) -> None:
    batch = scene.finish(batch)
    assert batch["status"] == "completed"
    assert batch["request_counts"] == {"total": 6, "completed": 6, "failed": 0}
    assert [one["custom_id"] for one in scene.file(batch["output_file_id"])] == list("012345")


def test_a_batch_is_validated_once_its_file_is_there(scene: Scene) -> None:
    batch = scene.make(LINES)
    with away(scene):
        assert wait_for_files(scene, batch)["status"] == "validating"
    all_answered(scene, batch)


def test_a_batch_needs_no_files_while_it_is_fed(scene: Scene) -> None:
    batch = scene.read(scene.make(LINES))
    with away(scene):
        waiting = wait_for_files(scene, batch)
        assert waiting["request_counts"]["completed"] == 6
    all_answered(scene, batch)


def test_a_batch_is_completed_only_once_its_files_are_there(scene: Scene) -> None:
    batch = scene.read(scene.make(LINES))
    scene.feeder().round()
    scene.work()
    scene.feeder().round()
    with away(scene):
        waiting = wait_for_files(scene, batch)
        assert (waiting["status"], waiting["output_file_id"]) == ("finalizing", None)
    all_answered(scene, batch)


def test_a_batch_whose_time_is_over_keeps_its_results(scene: Scene) -> None:
    batch = scene.read(scene.make(LINES))
    scene.feeder().round()
    scene.work(most=3)
    with scene.engine.begin() as connection:
        connection.execute(text("UPDATE batches SET expires_at = now()"))
    with away(scene):
        assert wait_for_files(scene, batch)["status"] == "finalizing"
    batch = scene.finish(batch)
    assert batch["status"] == "expired"
    assert len(scene.file(batch["output_file_id"])) >= 3


def test_a_file_of_which_a_part_is_there_is_not_read_as_the_whole(scene: Scene) -> None:
    batch = scene.make(LINES)
    blob = store_folder(scene.chosen) / f"{batch['input_file_id']}.jsonl"
    whole = blob.read_bytes()
    blob.write_bytes(whole[: whole.index(b"\n") + 1])
    assert wait_for_files(scene, batch)["status"] == "validating"
    blob.write_bytes(whole)
    all_answered(scene, batch)


def test_only_a_delete_in_the_database_makes_a_file_unknown(scene: Scene) -> None:
    batch = scene.make(LINES)
    with scene.engine.begin() as connection:
        connection.execute(text("DELETE FROM files"))
    batch = scene.finish(batch)
    assert batch["status"] == "failed"
    assert batch["errors"]["data"][0]["code"] == "unknown_file"


def test_uploads_and_downloads_are_refused_while_the_store_is_away(scene: Scene) -> None:
    file = upload(scene.client, b"x")
    form: dict[str, Any] = {"data": {"purpose": "batch"}, "files": {"file": b"y"}}
    with away(scene):
        for answer in (
            scene.client.post("/v1/files", **form),
            scene.client.get(f"/v1/files/{file['id']}/content"),
        ):
            assert answer.status_code == 503, answer.text
            assert int(answer.headers["Retry-After"]) > 0
        assert len(scene.client.get("/v1/files").json()["data"]) == 1
    assert scene.client.get(f"/v1/files/{file['id']}/content").content == b"x"
    assert scene.client.post("/v1/files", **form).status_code == 200


def test_a_store_that_hangs_stops_nothing_else(
    chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, reading = threading.Event(), threading.Semaphore(0)
    real = FileStore.open_read

    def read(*arguments: Any, **options: Any) -> Any:
        reading.release()
        released.wait(SECONDS)
        return real(*arguments, **options)

    monkeypatch.setattr(file_store_watch, "LOOK_SECONDS", 0.1)
    with (
        serving(chosen.model_copy(update={"authentication": "none"})) as url,
        httpx.Client(base_url=url, timeout=SECONDS) as client,
        ThreadPoolExecutor(MORE_THAN_THREADS) as pool,
    ):
        path = f"/v1/files/{upload(client, b'x')['id']}/content"
        try:
            with monkeypatch.context() as patch:
                patch.setattr(FileStore, "open_read", read)
                downloads = [pool.submit(client.get, path) for _ in range(MORE_THAN_THREADS)]
                for _ in range(file_store_watch.THREADS):
                    assert reading.acquire(timeout=SECONDS)
                # only now: once a check has hung, no further download reads
                patch.setattr(FileStore, "check", lambda _: released.wait(SECONDS))
                patch.setattr(file_store_watch, "PATIENCE_SECONDS", 0.1)
                eventually(lambda: client.get("/readyz").json()["files"] == HANGS)
                assert client.get("/v1/files").status_code == 200
                refused = client.get(path)
                assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (503, True)
        finally:
            released.set()
        for download in downloads:
            if not isinstance(
                download.exception(), httpx.RemoteProtocolError
            ):  # cut off, which shows
                assert download.result().status_code in (200, 503)
        eventually(lambda: client.get(path).status_code == 200)


def test_a_file_is_deleted_while_the_store_is_away(scene: Scene) -> None:
    file = upload(scene.client, b"x")
    with away(scene):
        assert scene.client.delete(f"/v1/files/{file['id']}").status_code == 200
        assert scene.client.get(f"/v1/files/{file['id']}/content").status_code == 404


def test_a_private_input_that_cannot_be_read_is_searched_later(scene: Scene) -> None:
    private = line("a", "text") | {"body": {"do_not_store_text": True, "text": "?"}}
    batch = scene.make([private])
    scene.client.post(f"/v1/batches/{batch['id']}/cancel")
    scene.finish(batch)
    inputs = PrivateInputs(scene.engine, scene.chosen)
    with away(scene):
        assert inputs.round() == 0
    assert inputs.round() == 1
    assert scene.client.get(f"/v1/files/{batch['input_file_id']}").status_code == 404


def test_the_page_and_the_counters_say_that_a_batch_waits(scene: Scene) -> None:
    batch = scene.make(LINES)
    said, counted = "waiting because the file store", "touchstone_batches_waiting"
    with away(scene):
        wait_for_files(scene, batch)
        assert said in scene.client.get(f"/batches/{batch['id']}").text
        assert f"{counted} 1.0" in scene.client.get("/metrics").text
    scene.read(batch)
    assert said not in scene.client.get(f"/batches/{batch['id']}").text
    assert f"{counted} 0.0" in scene.client.get("/metrics").text


def test_a_store_may_be_away_for_days(scene: Scene) -> None:
    trouble = StepErrors(away=100_000)
    trouble.postpone(1.0)
    isolation = FailureIsolation(scene.engine, rest_seconds=0)
    for _ in range(2_000):
        with isolation.guard("validating", "batch_x"):
            raise FileStoreAway("away")


def test_a_full_disk_keeps_a_batch_from_its_end_only_while_it_is_full(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = scene.read(scene.make(LINES))
    scene.feeder().round()
    scene.work()
    scene.feeder().round()
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "_unfinished", on_a_full_disk)
        assert wait_for_files(scene, batch)["status"] == "finalizing"
    assert not list((store_folder(scene.chosen) / "incoming").iterdir())
    all_answered(scene, batch)


def test_a_line_is_not_at_fault_for_a_model_whose_folder_is_away(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise ModelNotReady("the folder of the model 'm' is missing", model="m", state="away")

    batch = scene.make(LINES)
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "check_request", away)
        assert wait_for_files(scene, batch)["status"] == "validating"
    all_answered(scene, batch)
