"""What a tenant may keep, and what may be on its way: counted where it is made, never overrun."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text
from starlette import formparsers

from services.gateway import caller as caller_module
from services.gateway import spool as spool_module
from services.gateway.spool import Spool, SpoolFull
from shared.contracts.errors import QuotaExceeded
from shared.ledger import files, keys
from shared.ledger.file_store import FileStore
from shared.ledger.files import NewFile
from shared.ledger.keys import NewKey
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.batches import URL, Json
from tests.gateway.serving import serving
from tests.patience import SECONDS

LIMITS = {
    "authentication": "keys",
    "stored_bytes": 10_000,
}
PURPOSE = {"purpose": "batch"}
BODY = b'--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'

Opens = Callable[[str], httpx.Client]


@pytest.fixture(scope="module")
def _bounded(_settings: Settings) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool_module, "UPLOADS_PER_TENANT", 2)
        patch.setattr(caller_module, "MOST_OPEN_BATCHES", 3)
        patch.setattr(caller_module, "MOST_FILES", 4)
        with serving(_settings.model_copy(update=LIMITS)) as url:
            yield url


@pytest.fixture
def opens(_bounded: str, chosen: Settings, engine: Engine) -> Iterator[Opens]:
    made: list[httpx.Client] = []

    def client(tenant: str) -> httpx.Client:
        with engine.begin() as connection:
            _, secret = keys.make(connection, NewKey(tenant, "test", ("batch",)))
        bearer = {"Authorization": f"Bearer {secret}"}
        made.append(CheckedClient(base_url=_bounded, timeout=SECONDS, headers=bearer))
        return made[-1]

    yield client
    for one in made:
        one.close()


def send(client: httpx.Client, content: bytes = b"{}") -> httpx.Response:
    return client.post("/v1/files", data=PURPOSE, files={"file": ("in.jsonl", content)})


def make(client: httpx.Client, file_id: str, **headers: str) -> httpx.Response:
    return client.post(
        "/v1/batches", json={"input_file_id": file_id, "endpoint": URL}, headers=headers
    )


def refused(answer: httpx.Response, policy: str) -> None:
    problem: Json = answer.json()
    assert answer.status_code == problem["status"] == 429, answer.text
    assert problem["type"].endswith("#quota-exceeded")
    assert problem["violated-policies"] == [policy]
    assert int(answer.headers["Retry-After"]) >= 1


def blobs(chosen: Settings) -> set[str]:
    folder = Path(chosen.files_url)
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_open_batches_are_the_tenants_and_their_end_makes_room(opens: Opens) -> None:
    one, two, other = opens("a"), opens("a"), opens("b")
    file_id = send(one).json()["id"]
    first = make(one, file_id, **{"Idempotency-Key": "one"})
    ids = [first.json()["id"], *(make(one, file_id).json()["id"] for _ in range(2))]
    for client in (one, two):
        refused(make(client, file_id), "open-batches")
    assert make(one, file_id, **{"Idempotency-Key": "one"}).json()["id"] == ids[0]
    assert make(other, send(other).json()["id"]).status_code == 200
    assert len(one.get("/v1/batches").json()["data"]) == 3


def test_a_crowd_does_not_overrun_the_quota_of_batches(opens: Opens, engine: Engine) -> None:
    client = opens("a")
    file_id = send(client).json()["id"]
    with ThreadPoolExecutor(20) as pool:
        answers = sorted(pool.map(lambda _: make(client, file_id).status_code, range(20)))
    assert answers == [200] * 3 + [429] * 17
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE batches SET status = 'cancelled' WHERE id = (SELECT min(id) FROM batches)")
        )
    assert make(client, file_id).status_code == 200


def test_files_are_counted_and_a_deleted_one_makes_room(opens: Opens, chosen: Settings) -> None:
    client, other = opens("a"), opens("b")
    ids = [send(client).json()["id"] for _ in range(4)]
    before = blobs(chosen)
    refused(send(client), "stored-files")
    assert blobs(chosen) == before
    assert send(other).status_code == 200
    assert client.delete(f"/v1/files/{ids[0]}").status_code == 200
    assert send(client).status_code == 200


def test_a_crowd_of_uploads_overruns_nothing_and_leaves_nothing(
    opens: Opens, chosen: Settings, engine: Engine
) -> None:
    before = blobs(chosen)
    clients = [opens("a") for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        answers = [
            answer.status_code
            for answer in pool.map(lambda n: send(clients[n % 2], b"x" * 2_400), range(16))
        ]
    assert set(answers) == {200, 429}
    assert answers.count(200) <= 4
    with engine.connect() as connection:
        known = {f"{row.id}.jsonl" for row in connection.execute(text("SELECT id FROM files"))}
        total = connection.execute(text("SELECT sum(bytes) FROM files")).scalar_one()
    assert total <= 10_000
    assert blobs(chosen) - before == known


def test_bytes_are_counted_with_those_that_batches_wrote(opens: Opens, engine: Engine) -> None:
    client = opens("a")
    output = NewFile(files.new_id(), "batch_output", "o", 9_000, 1, "a")
    with engine.begin() as connection:
        files.insert_file(connection, output)
    assert send(client, b"x" * 1_000).status_code == 200
    refused(send(client, b"x"), "stored-bytes")
    more = NewFile(files.new_id(), "batch_output", "o", 10**9, 1, "a")
    with engine.begin() as connection:  # what a batch writes is never refused
        assert files.insert_file(connection, more).bytes == 10**9


def test_a_file_beyond_the_whole_quota_is_too_large(opens: Opens, chosen: Settings) -> None:
    before = blobs(chosen)
    answer = send(opens("a"), b"x" * 10_001)
    assert (answer.status_code, answer.json()["status"]) == (413, 413)
    assert blobs(chosen) == before


def begun(released: threading.Event, seen: threading.Event) -> Iterator[bytes]:
    """A body that stops in the middle."""
    yield BODY
    seen.set()
    released.wait(SECONDS)
    yield b"x\r\n--a--\r\n"


def test_a_tenants_uploads_at_a_time_are_bounded(opens: Opens) -> None:
    client, other = opens("a"), opens("b")
    released, seen = threading.Event(), [threading.Event() for _ in range(2)]
    kind = {"Content-Type": "multipart/form-data; boundary=a"}
    with ThreadPoolExecutor(2) as pool:
        slow = [
            pool.submit(client.post, "/v1/files", content=begun(released, one), headers=kind)
            for one in seen
        ]
        try:
            assert all(one.wait(SECONDS) for one in seen)
            while (answer := client.post("/v1/files", files={"file": b"x"})).status_code == 422:
                time.sleep(0.02)  # until the beginnings of both have come
            refused(answer, "uploads")
            assert send(other).status_code == 200
        finally:
            released.set()
        assert {one.result().status_code for one in slow} == {422}  # without a purpose
    assert send(client).status_code == 200


class Key:
    """What stands for a key."""


def caller(tenant: str) -> Any:
    return type("Caller", (), {"tenant": tenant, "key": Key()})()


def test_the_spool_counts_what_has_come_and_gives_it_back(
    chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "UPLOADS_PER_TENANT", 3)
    size = 100_000 // spool_module.SPOOL_FILES - spool_module.FORM_BYTES  # 100,000 bytes in all
    place = Spool(chosen.model_copy(update={"max_file_bytes": size}))
    with place.upload(caller("a"), 0) as one, place.upload(caller("a"), 40_000) as two:
        one.receive(30_000)
        two.receive(20_000)
        with pytest.raises(SpoolFull):  # half of it is the most that one tenant may have
            one.receive(1)
        with place.upload(caller("b"), 50_000) as other:
            other.receive(50_000)
            with pytest.raises(SpoolFull), place.upload(caller("c"), 1):
                raise AssertionError
        with (
            place.upload(caller("a"), 0),
            pytest.raises(QuotaExceeded),
            place.upload(caller("a"), 0),
        ):
            raise AssertionError
    assert not place.received
    with place.upload(caller("a"), 50_000) as again:
        again.receive(50_000)


def test_a_spool_that_is_full_refuses_before_it_is_written(
    client: httpx.Client, chosen: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    small = {"authentication": "none", "max_file_bytes": 1_040_000}
    with (
        serving(chosen.model_copy(update=small)) as url,
        CheckedClient(base_url=url, timeout=SECONDS) as one,
    ):
        assert send(one, b"x" * 1_030_000).status_code == 200
        assert send(one, b"x" * 1_100_000).status_code == 413
    assert list(tmp_path.iterdir()) == []


def full(*_: Any, **__: Any) -> Any:
    """A place with no space left: the system's own error."""
    return Path("/dev/full").open("r+b", buffering=0)


def out_of_space(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["status"]) == (507, 507), answer.text
    assert answer.json()["type"].endswith("storage-full")
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_full_disk_under_the_spool_is_said_and_leaves_nothing(
    client: httpx.Client, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = blobs(chosen)
    with monkeypatch.context() as patch:
        patch.setattr(formparsers, "SpooledTemporaryFile", full)
        out_of_space(send(client))
    assert blobs(chosen) == before
    assert send(client).status_code == 200


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_full_disk_under_the_store_is_said_and_leaves_nothing(
    client: httpx.Client, chosen: Settings, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    file_id = files.new_id()
    link = Path(chosen.files_url) / "incoming" / f"{file_id}.{'0' * 16}"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("/dev/full")
    with monkeypatch.context() as patch:
        patch.setattr(files, "new_id", lambda: file_id)
        patch.setattr(FileStore, "_unfinished", lambda _, __: str(link))
        out_of_space(send(client, b"x" * size))
    assert not link.is_symlink()
    assert f"{file_id}.jsonl" not in blobs(chosen)
    assert client.get(f"/v1/files/{file_id}").status_code == 404
    assert send(client).status_code == 200
