"""SHA-256 of files and of the weights in a folder: what `sha256` in `models.toml` means."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path


def folder_sha256(folder: Path) -> str | None:
    """SHA-256, in hex, of the safetensors files of a folder; None if there are none.

    One file: its own hash, as `sha256sum` and the hub show it. Several (a sharded model): the hash
    of the lines "<hash>  <file name>", sorted by file name.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None
    if len(files) == 1:
        return file_sha256(files[0])
    lines = "".join(f"{file_sha256(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def files_state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, bytes, nanoseconds of its last change) of each file of a folder; nothing is read."""
    try:
        found = [(file.name, file.stat()) for file in folder.iterdir() if file.is_file()]
    except OSError:
        return ()
    return tuple(sorted((name, state.st_size, state.st_mtime_ns) for name, state in found))


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex; read again only when its size or time of change differs."""
    state = path.stat()
    return _read(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
