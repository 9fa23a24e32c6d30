"""The file store behaves the same in a folder and in a store without folders, and what it cannot
read is away."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from shared.contracts.errors import FileStoreAway, Unavailable
from shared.ledger.file_store import FileStore
from shared.ledger.files import new_id

NOW = timedelta(seconds=-1)


@pytest.fixture(params=["folder", "file://", "memory://"])
def store(request: pytest.FixtureRequest, tmp_path: Path, engine: Engine) -> FileStore:
    places = {
        "folder": str(tmp_path / "not" / "yet"),
        "file://": f"file://{tmp_path}/files",
        "memory://": f"memory://{tmp_path.name}",
    }
    return FileStore(places[request.param], engine)


def write(store: FileStore, content: bytes) -> str:
    file_id = new_id()
    with store.open_write(file_id) as stream:
        stream.write(content)
    return file_id


def test_what_is_written_is_read(store: FileStore) -> None:
    file_id = write(store, b"0123456789")
    assert b"".join(store.iter_chunks(file_id, size=10)) == b"0123456789"
    with store.open_read(file_id, 7, size=10) as stream:
        assert stream.read() == b"789"


@pytest.mark.parametrize("start", [0, 7, 10, 11])
def test_a_part_of_a_file_is_not_the_whole(store: FileStore, start: int) -> None:
    file_id = write(store, b"0123456789")
    with store.open_read(file_id, start, size=12) as stream, pytest.raises(FileStoreAway):
        stream.read()


def test_a_file_written_again_is_the_new_one(store: FileStore) -> None:
    file_id = write(store, b"a longer one")
    with store.open_write(file_id) as stream:
        stream.write(b"short")
    assert b"".join(store.iter_chunks(file_id, size=5)) == b"short"


def test_what_is_removed_is_gone_and_may_be_removed_again(store: FileStore) -> None:
    file_id = write(store, b"x")
    store.remove(file_id)
    store.remove(file_id)
    with pytest.raises(FileStoreAway), store.open_read(file_id, size=1):
        pass


def test_old_blobs_are_found(store: FileStore) -> None:
    assert list(store.list_by_age(NOW)) == []
    file_id = write(store, b"x")
    assert list(store.list_by_age(NOW)) == [file_id]
    assert list(store.list_by_age(timedelta(hours=1))) == []


def test_a_store_that_cannot_be_written_to_is_away(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "files").write_text("a file, not a folder")
    store = FileStore(str(tmp_path / "files"), engine)
    with pytest.raises(Unavailable), store.open_write(new_id()):
        pass


@pytest.mark.parametrize("is_left", ["an empty mount point", "nothing"])
def test_a_folder_that_was_used_before_is_never_made_again(
    tmp_path: Path, engine: Engine, is_left: str
) -> None:
    folder, disk = tmp_path / "files", tmp_path / "disk"
    before = FileStore(str(folder), engine)
    file_id = write(before, b"x")
    folder.rename(disk)
    if is_left == "an empty mount point":
        folder.mkdir()
    for store in (before, FileStore(str(folder), engine)):
        with pytest.raises(FileStoreAway), store.open_write(new_id()):
            pass
        with pytest.raises(FileStoreAway), store.open_read(file_id, size=1):
            pass
        with pytest.raises(FileStoreAway):
            store.check()
        store.remove(file_id)
    assert not folder.exists() or not list(folder.iterdir())
    if folder.exists():
        folder.rmdir()
    disk.rename(folder)
    before.check()
    assert b"".join(before.iter_chunks(file_id, size=1)) == b"x"


def test_a_disk_that_goes_while_a_file_is_written_leaves_no_file(
    tmp_path: Path, engine: Engine
) -> None:
    folder = tmp_path / "files"
    store, file_id = FileStore(str(folder), engine), new_id()

    def write_while_it_goes() -> None:
        with store.open_write(file_id) as stream:
            stream.write(b"x")
            folder.rename(tmp_path / "disk")
            folder.mkdir()

    with pytest.raises(FileStoreAway):
        write_while_it_goes()
    assert not list(folder.iterdir())


def test_a_write_that_fails_keeps_the_old_file(store: FileStore) -> None:
    file_id = write(store, b"old")

    def fail_while_writing() -> None:
        with store.open_write(file_id) as stream:
            stream.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_while_writing()
    assert b"".join(store.iter_chunks(file_id, size=3)) == b"old"
    assert not store._system.glob(f"{store._incoming}/*")


def test_what_a_dead_writer_left_is_removed(tmp_path: Path, engine: Engine) -> None:
    store = FileStore(str(tmp_path / "files"), engine)
    file_id = write(store, b"x")
    left = tmp_path / "files" / "incoming" / f"{new_id()}.{'0' * 16}"
    left.write_bytes(b"y")
    store.remove_unfinished(timedelta(hours=1))
    assert left.exists()
    store.remove_unfinished(NOW)
    assert not left.exists()
    assert b"".join(store.iter_chunks(file_id, size=1)) == b"x"


@pytest.mark.parametrize("error", [OSError("no network"), RuntimeError("a library's own error")])
def test_whatever_the_store_raises_it_is_away(
    store: FileStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    file_id = write(store, b"x")

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(store._system, "open", fail)
        with pytest.raises(FileStoreAway), store.open_read(file_id, size=1):
            pass
        with pytest.raises(FileStoreAway), store.open_write(new_id()):
            pass
    with pytest.raises(RuntimeError), store.open_write(new_id()):
        raise RuntimeError("the writer's own")
