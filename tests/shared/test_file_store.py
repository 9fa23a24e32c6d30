"""The file store behaves the same in a folder and in a store without folders."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from shared.contracts.errors import Unavailable, UnknownFile
from shared.ledger.file_store import FileStore
from shared.ledger.files import new_id

NOW = timedelta(seconds=-1)


@pytest.fixture(params=["folder", "file://", "memory://"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    places = {
        "folder": str(tmp_path / "not" / "yet"),
        "file://": f"file://{tmp_path}/files",
        "memory://": f"memory://{tmp_path.name}",
    }
    return FileStore(places[request.param])


def write(store: FileStore, content: bytes) -> str:
    file_id = new_id()
    with store.open_write(file_id) as stream:
        stream.write(content)
    return file_id


def test_what_is_written_is_read(store: FileStore) -> None:
    file_id = write(store, b"0123456789")
    assert b"".join(store.iter_chunks(file_id)) == b"0123456789"
    with store.open_read(file_id, 7) as stream:
        assert stream.read() == b"789"


def test_a_file_written_again_is_the_new_one(store: FileStore) -> None:
    file_id = write(store, b"a longer one")
    with store.open_write(file_id) as stream:
        stream.write(b"short")
    assert b"".join(store.iter_chunks(file_id)) == b"short"


def test_what_is_removed_is_gone_and_may_be_removed_again(store: FileStore) -> None:
    file_id = write(store, b"x")
    store.remove(file_id)
    store.remove(file_id)
    with pytest.raises(UnknownFile), store.open_read(file_id):
        pass


def test_old_blobs_are_found(store: FileStore) -> None:
    assert list(store.list_by_age(NOW)) == []
    file_id = write(store, b"x")
    assert list(store.list_by_age(NOW)) == [file_id]
    assert list(store.list_by_age(timedelta(hours=1))) == []


def test_a_store_that_cannot_be_written_to_is_away(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("a file, not a folder")
    with pytest.raises(Unavailable), FileStore(str(tmp_path / "files")).open_write(new_id()):
        pass
