"""Backups of the database and the batch files: `python -m cli.stack.backup keep FILE --files URL
--at URL`.

`keep` stores a dump written by `pg_dump` with the batch files of the same time. It also deletes old
backups, but never the newest. `list` prints the names of backups. `fetch` copies a dump and its
files, for `pg_restore`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import fsspec
from fsspec.core import url_to_fs

from shared.ledger.file_store import INCOMING
from shared.ledger.file_store import OURS as FILE

TIME = "%Y%m%dT%H%M%SZ"
DUMP = re.compile(r"touchstone-\d{8}T\d{6}Z\.dump")  # other names are not ours
MAGIC = b"PGDMP"  # of pg_dump's custom format


class Backups:
    """The backups under one URL. Their names sort by time."""

    def __init__(self, url: str) -> None:
        self._system, self._root = _filesystem_of(url)

    def store(self, dump: Path, files: str, now: datetime) -> str:
        """Store a dump with the batch files under the URL `files`. Return the name of the new
        backup. Raises ValueError if `dump` was not written by pg_dump, and OSError."""
        with dump.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise ValueError(
                    f"{dump} was not made with pg_dump --format custom; make the dump again"
                )
        source, root = _filesystem_of(files)
        _check_mounted(source, root, files)
        sizes = _sizes(source, root, FILE)
        names, stored = sorted(sizes), _sizes(self._system, self._path("files"), FILE)
        for name in names:
            if stored.get(name) != sizes[name]:
                with suppress(FileNotFoundError):  # deleted meanwhile
                    _copy(source, f"{root}/{name}", self._system, self._path(f"files/{name}"))
        _check_mounted(source, root, files)
        name = f"touchstone-{now:{TIME}}.dump"
        self._system.pipe_file(self._path(f"{name}.files"), "\n".join(names).encode())
        self._system.put_file(str(dump), self._path(name))
        return name

    def names(self) -> list[str]:
        """Return the names of all backups, oldest first."""
        return _names(self._system, self._root, DUMP)

    def delete_old(self, before: datetime) -> list[str]:
        """Delete backups older than `before`, except the newest. Return their names."""
        limit = f"touchstone-{before:{TIME}}.dump"
        old = [name for name in self.names()[:-1] if name < limit]
        for name in old:
            self._system.rm_file(self._path(name))
            self._system.rm_file(self._path(f"{name}.files"))
        listed = {file for name in self.names() for file in self._listed(name)}
        for file in set(self._files()) - listed:
            self._system.rm_file(self._path(f"files/{file}"))
        return old

    def fetch(self, name: str, dump: Path, files: str) -> None:
        """Copy the backup's dump to `dump` and its files to the URL `files`.

        Raises ValueError for an invalid name, and OSError.
        """
        if not DUMP.fullmatch(name):
            raise ValueError(
                f"{name!r} is not the name of a backup; use a name that the backup command "
                "has printed"
            )
        self._system.get_file(self._path(name), str(dump))
        target, root = _filesystem_of(files)
        stored = _sizes(self._system, self._path("files"), FILE)
        present = _sizes(target, root, FILE)
        for file in sorted(stored.keys() & self._listed(name)):
            if present.get(file) != stored[file]:  # a batch file never changes
                _copy(self._system, self._path(f"files/{file}"), target, f"{root}/{file}")
        if _is_folder(files):  # the restored database says that the folder has been made
            target.makedirs(f"{root}/{INCOMING}", exist_ok=True)

    def _listed(self, name: str) -> list[str]:
        content: bytes = self._system.cat_file(self._path(f"{name}.files"))
        return content.decode().split()

    def _files(self) -> list[str]:
        return _names(self._system, self._path("files"), FILE)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def _is_folder(url: str) -> bool:
    return "://" not in url or url.startswith(("file://", "local://"))


def _check_mounted(system: fsspec.AbstractFileSystem, root: str, url: str) -> None:
    """Raise OSError if the folder is not mounted. Otherwise a backup without its files would look
    complete."""
    if _is_folder(url) and not system.exists(f"{root}/{INCOMING}"):
        raise OSError(
            f"the file store {root} is not available, because it lacks the folder {INCOMING}"
        )


def _filesystem_of(url: str) -> tuple[fsspec.AbstractFileSystem, str]:
    system, root = url_to_fs(url, **({"auto_mkdir": True} if _is_folder(url) else {}))
    return cast(fsspec.AbstractFileSystem, system), str(root).rstrip("/")


def _names(system: fsspec.AbstractFileSystem, root: str, pattern: re.Pattern[str]) -> list[str]:
    return sorted(_sizes(system, root, pattern))


def _sizes(
    system: fsspec.AbstractFileSystem, root: str, pattern: re.Pattern[str]
) -> dict[str, int]:
    """Return the sizes in bytes of all matching files in the folder, by name."""
    if not system.exists(root):
        return {}
    entries = {
        entry["name"].rsplit("/", 1)[-1]: int(entry["size"] or 0)
        for entry in system.ls(root, detail=True, refresh=True)
    }
    return {name: size for name, size in entries.items() if pattern.fullmatch(name)}


def _copy(
    source: fsspec.AbstractFileSystem, path: str, target: fsspec.AbstractFileSystem, to: str
) -> None:
    try:
        with source.open(path, "rb") as reader, target.open(to, "wb") as writer:
            shutil.copyfileobj(reader, writer)
    except BaseException:
        with suppress(OSError):  # a part of a file must not count as the file
            target.rm_file(to)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status, 1 if it fails."""
    options = _parser().parse_args(arguments)
    backups = Backups(options.at)
    try:
        if options.action == "list":
            lines = backups.names()
        elif options.action == "fetch":
            backups.fetch(options.name, options.file, options.files)
            lines = [str(options.file)]
        else:
            now = datetime.now(UTC)
            lines = [backups.store(options.file, options.files, now)]
            lines += [f"deleted {name}" for name in backups.delete_old(now - options.days)]
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m cli.stack.backup", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    keep, fetch, listed = (actions.add_parser(name) for name in ("keep", "fetch", "list"))
    keep.add_argument("file", type=Path)
    keep.add_argument("--days", type=_parse_age, default=_parse_age("30"), help="how long (30)")
    fetch.add_argument("name")
    fetch.add_argument("file", type=Path)
    for command in (keep, fetch):
        command.add_argument("--files", required=True, help="TOUCHSTONE_FILES_URL")
    for command in (keep, fetch, listed):
        command.add_argument(
            "--at", required=True, help="address of the backups, such as s3://bucket/folder"
        )
    return parser


def _parse_age(text: str) -> timedelta:
    days = int(text)
    if days < 1:
        raise argparse.ArgumentTypeError("must be at least one day")
    return timedelta(days=days)


if __name__ == "__main__":
    sys.exit(main())
