"""Dumps of the database in object storage: `python -m cli.stack.backup keep FILE --at URL`.

`pg_dump` has written the file; this puts it under a URL that fsspec knows, named by the time, and
deletes those that are too old, never the newest. `list` names them, `fetch` brings one back for
`pg_restore`. Used by k8s/components/backup.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import fsspec
from fsspec.core import url_to_fs

TIME = "%Y%m%dT%H%M%SZ"
DUMP = re.compile(r"touchstone-(\d{8}T\d{6}Z)\.dump")  # whatever else lies there is not ours
MAGIC = b"PGDMP"  # of pg_dump's custom format


class Backups:
    """The dumps under one URL, by name: names sort by time."""

    def __init__(self, url: str) -> None:
        self._system, self._root = cast(
            tuple[fsspec.AbstractFileSystem, str], url_to_fs(url, auto_mkdir=True)
        )

    def store(self, file: Path, now: datetime) -> str:
        """Put it there; its name. Raises ValueError where it is no dump of `pg_dump`, OSError."""
        with file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"{file} is no dump of pg_dump --format custom")
        name = f"touchstone-{now:{TIME}}.dump"
        self._system.put_file(str(file), self._path(name))
        return name

    def names(self) -> list[str]:
        """Oldest first."""
        if not self._system.exists(self._root):
            return []
        paths = self._system.ls(self._root, detail=False, refresh=True)
        return sorted(name for path in paths if DUMP.fullmatch(name := path.rsplit("/", 1)[-1]))

    def delete_old(self, before: datetime) -> list[str]:
        """Delete those from before this time, but the newest of all; which they were."""
        limit = f"touchstone-{before:{TIME}}.dump"
        old = [name for name in self.names()[:-1] if name < limit]
        for name in old:
            self._system.rm_file(self._path(name))
        return old

    def fetch(self, name: str, file: Path) -> None:
        """Bring one back. Raises ValueError for what is no name of a dump, OSError."""
        if not DUMP.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a dump")
        self._system.get_file(self._path(name), str(file))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; 1 where it cannot be done."""
    asked = _parser().parse_args(arguments)
    backups = Backups(asked.at)
    try:
        if asked.action == "list":
            lines = backups.names()
        elif asked.action == "fetch":
            backups.fetch(asked.name, asked.file)
            lines = [str(asked.file)]
        else:
            now = datetime.now(UTC)
            lines = [backups.store(asked.file, now)]
            lines += [f"deleted {name}" for name in backups.delete_old(now - asked.days)]
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
    for one in (keep, fetch, listed):
        one.add_argument("--at", required=True, help="as in s3://bucket/folder")
    return parser


def _parse_age(text: str) -> timedelta:
    days = int(text)
    if days < 1:
        raise argparse.ArgumentTypeError("a day at least")
    return timedelta(days=days)


if __name__ == "__main__":
    sys.exit(main())
