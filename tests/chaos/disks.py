"""A disk that is full for a while: that of the files, or that of everything. A small one is mounted
for it, which needs root."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import httpx

from tests.batches import URL, packed
from tests.chaos.faults import AWAY_SECONDS
from tests.chaos.sending import Json, Sent, bodies
from tests.chaos.trial import Trial
from tests.end_to_end.batch import ended, started
from tests.end_to_end.service import Service

FILES = "small"  # under the service's folder
FILES_MEGABYTES, ALL_MEGABYTES = 128, 512  # processes unpack a model of languages there
BATCHES = 8
PAUSE_SECONDS = 4.0  # between them: some meet a full disk at each of their stages
PADDED_LINES, PADDING = 3, b" " * 700_000  # more than an upload may have in memory
PATIENCE_SECONDS = 600
PIECE = b"x" * 65_536


@cache
def can_mount() -> bool:
    """Whether we may."""
    try:
        with tempfile.TemporaryDirectory() as folder, _mounted(Path(folder), 1):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def files_apart(folder: Path) -> Iterator[dict[str, str]]:
    """A small disk for the files, and for uploads on their way."""
    disk = folder / FILES
    disk.mkdir()
    with _mounted(disk, FILES_MEGABYTES):
        (disk / "spool").mkdir()
        yield {
            "TOUCHSTONE_FILES_URL": str(disk / "files"),
            "TMPDIR": str(disk / "spool"),
        }


@contextmanager
def all_apart(folder: Path) -> Iterator[dict[str, str]]:
    """A small disk for the database, Redis, files and logs."""
    with _mounted(folder, ALL_MEGABYTES):
        yield {}


def fill_files(service: Service) -> str:
    """No byte more on the disk of the files."""
    return _full(service.folder / FILES)


def fill_all(service: Service) -> str:
    """No byte more on the disk of everything."""
    return _full(service.folder)


def send_batches(service: Trial, jobs: int) -> Sent:
    """Batches one after the other: uploaded, read and written while the disk is full, too."""
    asked = bodies(jobs)
    refused: list[int] = []
    with service.client() as client, ThreadPoolExecutor(BATCHES) as pool:
        client.event_hooks["response"].append(lambda answer: refused.append(answer.status_code))

        def one(number: int) -> tuple[list[str], int]:
            time.sleep(number * PAUSE_SECONDS)
            lines = [_line(body) for body in asked[number::BATCHES]]
            found = ended(client, _started(client, lines, number), PATIENCE_SECONDS)
            return found.job_ids, len(found.output) - len(lines)

        ends = list(pool.map(one, range(BATCHES)))
    ids = [job_id for some, _ in ends for job_id in some]
    wrong = [f"{missing} lines too many in an output file" for _, missing in ends if missing]
    counts = {status: refused.count(status) for status in (503, 507) if status in refused}
    seen = ", ".join(f"{count} answers {status}" for status, count in counts.items())
    return Sent(ids, seen, tuple(wrong))


def _line(body: Json) -> Json:
    return {"custom_id": str(body["seed"]), "method": "POST", "url": URL, "body": body}


def _started(client: httpx.Client, lines: list[Json], number: int) -> Json:
    """Every other file is so large that it passes the spool's disk."""
    if number % 2 == 0:
        return started(client, lines, URL)
    raw = [packed([line]) for line in lines]
    padded = [line[:-1] + PADDING + b"}" for line in raw[:PADDED_LINES]]
    return started(client, [*padded, *raw[PADDED_LINES:]], URL)


def _full(folder: Path) -> str:
    """Take whatever becomes free, for a while."""
    ballast = folder / "ballast"
    deadline = time.monotonic() + AWAY_SECONDS
    try:
        with ballast.open("wb", buffering=0) as file:
            while time.monotonic() < deadline:
                with suppress(OSError):
                    while file.write(PIECE):
                        pass
                time.sleep(0.05)
        return f"{ballast.stat().st_size // 1_000_000} MB taken"
    finally:
        ballast.unlink()


@contextmanager
def _mounted(folder: Path, megabytes: int) -> Iterator[None]:
    size = f"size={megabytes}m"
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True, capture_output=True
    )
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
