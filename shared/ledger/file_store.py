"""The bytes of files, in a folder or in any object store that fsspec supports.

The ledger records which files exist. A blob is complete before its row is inserted, and its row is
deleted before the blob. If the bytes cannot be read, the store is therefore unreachable and the
file is not deleted.

A blob is written in `incoming` and then moved. In a folder, `incoming` is created when this
database uses the folder for the first time, and never again. An empty mount point has no
`incoming`, so nothing is written there while the disk is missing.
"""

from __future__ import annotations

import errno
import io
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import IO, Any, cast

import fsspec
from fsspec.core import url_to_fs
from sqlalchemy import Engine

from shared.contracts.errors import FileStoreAway, ScoringError, StorageFull
from shared.ledger import files
from shared.ledger.engine import transaction
from shared.process import telemetry

SUFFIX = ".jsonl"
OURS = re.compile(r"file_[0-9a-f]{32}\.jsonl")  # other names are not ours
UNFINISHED = re.compile(r"file_[0-9a-f]{32}\.[0-9a-f]{16}")
INCOMING = "incoming"
PIECE_BYTES = 1 << 18
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

logger = telemetry.logger(__name__)


def store_error(error: Exception) -> FileStoreAway:
    """Convert an error of the operating system or of an object store's library to FileStoreAway."""
    if isinstance(error, OSError) and error.errno in FULL:
        return StorageFull("there is no space left for files; try again later")
    if isinstance(error, FileNotFoundError):
        return FileStoreAway("the file store does not contain this file or folder at the moment")
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileStoreAway(f"the file store cannot be reached: {reason}")


@contextmanager
def store_errors() -> Iterator[None]:
    """Raise FileStoreAway for any error in the block, which must use only the store.

    Libraries of object stores raise other errors than OSError.
    """
    try:
        yield
    except ScoringError:
        raise
    except Exception as error:
        raise store_error(error) from error


class FileStore:
    """Stores the bytes of files (blobs) under one URL. Each blob is identified by the id of its
    file."""

    def __init__(self, url: str, engine: Engine) -> None:
        self._system, self._root = cast(tuple[fsspec.AbstractFileSystem, str], url_to_fs(url))
        self._is_folder = "://" not in url or url.startswith(("file://", "local://"))
        self._incoming = f"{self._root}/{INCOMING}"
        self._engine = engine
        self._is_known = False  # the folder is noted in the database

    def check(self) -> None:
        """Raise FileStoreAway if the store cannot be used now. This call blocks."""
        try:
            self._make_once()
            with store_errors():
                self._system.invalidate_cache()
                self._find_root()
        except FileStoreAway:
            telemetry.FILE_STORE_READY.set(0)
            raise
        telemetry.FILE_STORE_READY.set(1)

    @contextmanager
    def open_write(self, file_id: str) -> Iterator[IO[bytes]]:
        """Open a stream whose content becomes the blob `file_id` at the end of the block, replacing
        an existing blob. If the block fails, the existing blob remains.

        Raises FileStoreAway, StorageFull."""
        self._make_once()
        unfinished = self._unfinished(file_id)
        with store_errors():
            stream = io.BufferedWriter(_Blob(self._system.open(unfinished, "wb")), PIECE_BYTES)
        try:
            yield stream
            stream.close()
            with store_errors():
                self._system.mv(unfinished, self._path(file_id))
        except BaseException:
            with suppress(ScoringError):
                stream.close()
            self._remove(unfinished)
            raise

    @contextmanager
    def open_read(self, file_id: str, start: int = 0, *, size: int) -> Iterator[IO[bytes]]:
        """Read the blob of an existing file, from byte `start` on. `size` is the number of bytes of
        the whole file. Raises FileStoreAway, also if the blob ends before `size`."""
        with store_errors():
            raw = self._system.open(self._path(file_id), "rb")
            raw.seek(start)
        with io.BufferedReader(_Blob(raw, size - start), PIECE_BYTES) as stream:
            yield stream

    def iter_chunks(self, file_id: str, *, size: int) -> Iterator[bytes]:
        """Yield the blob in pieces. Raises FileStoreAway."""
        with self.open_read(file_id, size=size) as stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece

    def remove(self, file_id: str) -> None:
        """Remove the blob of a file whose row is deleted. If the blob cannot be removed now, the
        scheduler removes it after a day."""
        self._remove(self._path(file_id))

    def list_by_age(self, age: timedelta) -> Iterator[str]:
        """Yield the ids of blobs written longer than `age` ago. Raises FileStoreAway."""
        for path in self._older(self._root, OURS, age):
            yield path.rsplit("/", 1)[-1].removesuffix(SUFFIX)

    def remove_unfinished(self, age: timedelta) -> None:
        """Remove blobs that were begun longer than `age` ago and never completed. Raises
        FileStoreAway."""
        for path in self._older(self._incoming, UNFINISHED, age):
            self._remove(path)

    def _find_root(self) -> None:
        """Raise an error if the folder or the bucket does not exist. The store's prefix is empty at
        first, and credentials may be limited to it. If they may not read the bucket itself, the
        bucket is assumed to exist."""
        try:
            self._system.info(self._incoming if self._is_folder else self._root)
        except FileNotFoundError:
            if self._is_folder:
                raise
            with suppress(PermissionError):
                self._system.info(self._root.partition("/")[0])

    def _make_once(self) -> None:
        """Create the folder, unless the database has recorded an earlier use of it."""
        if not self._is_folder or self._is_known:
            return
        with transaction(self._engine) as connection:
            if files.is_new_store(connection, self._incoming):
                with store_errors():
                    self._system.makedirs(self._incoming, exist_ok=True)
        self._is_known = True

    def _older(self, folder: str, names: re.Pattern[str], age: timedelta) -> Iterator[str]:
        before = datetime.now(UTC) - age
        with store_errors():
            if not self._system.exists(folder):
                return
            paths = self._system.ls(folder, detail=False)
        for path in paths:
            if names.fullmatch(path.rsplit("/", 1)[-1]):
                with store_errors():
                    is_old = self._system.modified(path) < before
                if is_old:
                    yield path

    def _remove(self, path: str) -> None:
        try:
            with store_errors():
                self._system.rm_file(path)
        except FileStoreAway as error:
            logger.warning("file_store.not_removed", file=path, detail=error.detail)

    def _unfinished(self, file_id: str) -> str:
        """Return a temporary path that no other writer uses. The blob is moved from there once it
        is complete."""
        return f"{self._incoming}/{file_id}.{secrets.token_hex(8)}"

    def _path(self, file_id: str) -> str:
        return f"{self._root}/{file_id}{SUFFIX}"


class _Blob(io.RawIOBase):
    """A file-like wrapper of an fsspec stream that raises FileStoreAway for any error. It does so,
    too, if the stream ends before `bytes_left` bytes are read."""

    def __init__(self, raw: Any, bytes_left: int = 0) -> None:
        self._raw = raw
        self._bytes_left = bytes_left

    def readable(self) -> bool:
        return bool(self._raw.readable())

    def writable(self) -> bool:
        return bool(self._raw.writable())

    def readinto(self, buffer: Any) -> int:
        with store_errors():
            piece = self._raw.read(len(buffer))
        self._bytes_left -= len(piece)
        if not piece and self._bytes_left > 0:
            raise FileStoreAway("the file store has only a part of this file at the moment")
        buffer[: len(piece)] = piece
        return len(piece)

    def write(self, piece: Any) -> int:
        with store_errors():
            self._raw.write(bytes(piece))
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            try:
                with store_errors():
                    self._raw.close()
            finally:
                super().close()
