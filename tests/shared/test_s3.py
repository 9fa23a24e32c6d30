"""`s3://` as it is spoken: the file store and the client's files against an S3 of moto."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import fsspec
import httpx
import pytest
from sqlalchemy import Engine

from cli.stack.servers import HOST, free_port
from shared.contracts.errors import FileStoreAway
from shared.ledger.file_store import PIECE_BYTES, FileStore
from shared.ledger.files import new_id
from tests.patience import eventually
from touchstone_client.data import convert

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
}  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A process of its own, for its warnings are not ours."""
    url = f"http://{HOST}:{(port := free_port())}"
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as server:  # type: ignore[call-overload]
        try:
            eventually(lambda: _answers(url), "moto answers", every=0.2)
            yield url
        finally:
            server.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code < 500
    except httpx.TransportError:
        return False


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """`s3://bucket`, empty, found by the environment alone, as on a machine of a cloud."""
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    made = f"s3://bucket-{uuid.uuid4().hex}"
    fsspec.filesystem("s3").mkdir(made)
    return made


def test_files_of_batches_lie_in_a_bucket(bucket: str, engine: Engine) -> None:
    store, file_id = FileStore(f"{bucket}/touchstone", engine), new_id()
    content = b"0123456789" * (PIECE_BYTES // 4)  # several pieces
    with store.open_write(file_id) as stream:
        stream.write(content)
    assert b"".join(store.iter_chunks(file_id, size=len(content))) == content
    with store.open_read(file_id, len(content) - 3, size=len(content)) as stream:
        assert stream.read() == b"789"
    assert list(store.list_by_age(timedelta(seconds=-60))) == [file_id]
    assert list(store.list_by_age(timedelta(hours=1))) == []
    store.remove(file_id)
    store.remove(file_id)
    with pytest.raises(FileStoreAway), store.open_read(file_id, size=1):
        pass


def test_what_could_not_be_written_whole_is_not_there(bucket: str, engine: Engine) -> None:
    store, file_id = FileStore(f"{bucket}/touchstone", engine), new_id()

    def breaks() -> None:
        with store.open_write(file_id) as stream:
            stream.write(b"half")
            raise KeyError("the caller hung up")

    with pytest.raises(KeyError):
        breaks()
    assert list(store.list_by_age(timedelta(seconds=-60))) == []


def test_a_bucket_that_cannot_be_reached_is_away(
    bucket: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    FileStore(f"{bucket}/touchstone", engine).check()
    with pytest.raises(FileStoreAway):
        FileStore(f"{bucket}-gone/touchstone", engine).check()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{HOST}:{free_port()}")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    store = FileStore(f"{bucket}/touchstone", engine)
    monkeypatch.setattr(store._system, "retries", 1)
    with pytest.raises(FileStoreAway):  # not an OSError, as botocore has it
        store.check()
    with pytest.raises(FileStoreAway), store.open_read(new_id(), size=1):
        pass


def test_keys_that_open_only_the_stores_own_prefix_suffice(
    bucket: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, system = FileStore(f"{bucket}/touchstone", engine), fsspec.filesystem("s3")
    whole, asked = bucket.removeprefix("s3://"), system.info

    def limited(path: str) -> Any:
        if path == whole:
            raise PermissionError("Forbidden")
        return asked(path)

    monkeypatch.setattr(system, "info", limited)
    store.check()
    with store.open_write(new_id()) as stream:
        stream.write(b"{}")
    store.check()


def test_the_client_reads_and_writes_addresses(bucket: str) -> None:
    requests = [{"text": f"a{place}", "explanation": 'b, "c"\n'} for place in range(3)]
    with fsspec.open(f"{bucket}/in.jsonl", "wb") as stream:
        stream.write("".join(f"{json.dumps(one)}\n" for one in requests).encode())
    assert convert(f"{bucket}/in.jsonl", f"{bucket}/out.csv", metric="hatexscore") == 3
    assert convert(f"{bucket}/out.csv", f"{bucket}/back.jsonl", metric="hatexscore") == 3
    with fsspec.open(f"{bucket}/back.jsonl", "rb") as stream:
        assert [json.loads(line) for line in stream.read().splitlines()] == requests
