"""The store of files is away, slow, hanging or read-only, while batches are uploaded, read and
written."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.chaos.disks import FILES
from tests.chaos.faults import AWAY_SECONDS
from tests.chaos.trial import Trial

MARK = "fault"  # under the service's folder: names the store's fault


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
def marked_files(folder: Path) -> Iterator[dict[str, str]]:
    """Prepare a store whose fault `startup` reads from a file."""
    yield {"CHAOS_FILES": str(folder / MARK)}


def marked(fault: str) -> Callable[[Trial], None]:
    """Return a fault: files are `slow` to open, or opening one is `hanging` until it is over."""

    def mark_store(service: Trial) -> None:
        mark = service.folder / MARK
        mark.write_text(fault)
        try:
            time.sleep(AWAY_SECONDS)
        finally:
            mark.unlink()

    return mark_store


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
