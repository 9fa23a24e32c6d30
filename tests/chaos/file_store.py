"""The store of files is away, slow or read-only, and batches are uploaded, read and written."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.chaos.disks import FILES
from tests.chaos.faults import AWAY_SECONDS
from tests.chaos.trial import Trial

SLOW = "slow"  # under the service's folder: while it is there, the store is slow


def away_for(seconds: float) -> Callable[[Trial], str]:
    """A fault: the disk of the files is gone, and its empty mount point is there."""

    def take_away(service: Trial) -> str:
        folder = service.folder / "files"
        disk = folder.with_name("files-disk")
        folder.rename(disk)
        folder.mkdir()
        try:
            time.sleep(seconds)
            return f"{len(list(folder.iterdir()))} files written into the mount point"
        finally:
            for path in folder.iterdir():
                path.rename(disk / f"stray-{path.name}")
            folder.rmdir()
            disk.rename(folder)

    return take_away


@contextmanager
def slow_files(folder: Path) -> Iterator[dict[str, str]]:
    """The store is slow while a file is in the folder: `startup` looks for it."""
    yield {"CHAOS_SLOW_FILES": str(folder / SLOW)}


def slow(service: Trial) -> None:
    """Each file takes seconds to open."""
    mark = service.folder / SLOW
    mark.touch()
    try:
        time.sleep(AWAY_SECONDS)
    finally:
        mark.unlink()


def read_only(service: Trial) -> None:
    """The disk of the files takes no writes."""
    _remount(service.folder / FILES, "ro")
    try:
        time.sleep(AWAY_SECONDS)
    finally:
        _remount(service.folder / FILES, "rw")


def _remount(folder: Path, mode: str) -> None:
    """As soon as nobody writes there."""
    command = ["mount", "-o", f"remount,{mode}", str(folder)]
    for _ in range(200):
        with suppress(subprocess.CalledProcessError):
            subprocess.run(command, check=True, capture_output=True)
            return
        time.sleep(0.1)
    raise RuntimeError("the disk is always being written to")
