"""Where the bytes of files lie: a folder, or any object store that fsspec knows.

The ledger says which files there are. A blob is written whole before its row appears, and loses its
row before it is removed, so that a file that can be seen can be read.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import IO, cast

import fsspec
from fsspec.core import url_to_fs

from shared.contracts.errors import FileStoreAway, StorageFull, UnknownFile

SUFFIX = ".jsonl"
OURS = re.compile(r"file_[0-9a-f]{32}\.jsonl")  # whatever else lies there is not ours
PIECE_BYTES = 1 << 18
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def store_error(error: OSError) -> FileStoreAway:
    """The service's error for one of the operating system."""
    if error.errno in FULL:
        return StorageFull("there is no space left for files; try again later")
    return FileStoreAway("the file store cannot be reached")


class FileStore:
    """The blobs under one URL, by the id of their file."""

    def __init__(self, url: str) -> None:
        is_folder = "://" not in url or url.startswith(("file://", "local://"))
        made = (
            {"auto_mkdir": True} if is_folder else {}
        )  # s3fs and its like refuse what they do not know
        self._system, self._root = cast(
            tuple[fsspec.AbstractFileSystem, str], url_to_fs(url, **made)
        )

    @contextmanager
    def open_write(self, file_id: str) -> Iterator[IO[bytes]]:
        """A new blob, or the old one anew; where the block fails, none is left.

        Raises FileStoreAway, StorageFull.
        """
        try:
            with (
                self._handle_errors(file_id),
                self._system.open(self._path(file_id), "wb") as stream,
            ):
                yield stream
        except BaseException:
            with suppress(FileStoreAway):  # what stays is a stray, which goes after a day
                self.remove(file_id)
            raise

    @contextmanager
    def open_read(self, file_id: str, start: int = 0) -> Iterator[IO[bytes]]:
        """The blob from this byte on. Raises UnknownFile, FileStoreAway."""
        with self._handle_errors(file_id), self._system.open(self._path(file_id), "rb") as stream:
            stream.seek(start)
            yield stream

    def iter_chunks(self, file_id: str) -> Iterator[bytes]:
        """The blob, a piece at a time."""
        with self.open_read(file_id) as stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece

    def remove(self, file_id: str) -> None:
        with self._handle_errors(file_id):
            if self._system.exists(self._path(file_id)):
                self._system.rm_file(self._path(file_id))

    def list_by_age(self, age: timedelta) -> Iterator[str]:
        """The ids of blobs that were written longer ago than this."""
        before = datetime.now(UTC) - age
        with self._handle_errors(""):
            if not self._system.exists(self._root):
                return
            for path in self._system.ls(self._root, detail=False):
                name = path.rsplit("/", 1)[-1]
                if OURS.fullmatch(name) and self._system.modified(path) < before:
                    yield name.removesuffix(SUFFIX)

    @contextmanager
    def _handle_errors(self, file_id: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise UnknownFile(f"there is no file {file_id!r}") from None
        except OSError as error:
            raise store_error(error) from error

    def _path(self, file_id: str) -> str:
        return f"{self._root}/{file_id}{SUFFIX}"
