"""Opens local files, and remote files through fsspec. Remote addresses are `s3://`, `gs://`,
`az://`, `hf://`, and those of other installed filesystems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Literal

Place = str | PathLike[str]
Form = Literal["jsonl", "csv", "tsv", "parquet", "arrow"]
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
FORMS: dict[str, Form] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv",
    ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".ipc": "arrow",
}  # fmt: skip


def is_address(location: object) -> bool:
    """Return True if the location is a remote address."""
    return isinstance(location, str) and SCHEME.match(location) is not None


def form_of(location: Place) -> Form:
    """Return the file format that the name's ending stands for. The default is JSON Lines."""
    return FORMS.get(Path(fspath(location).partition("?")[0]).suffix.lower(), "jsonl")


def target_form(location: Place) -> Form:
    """Return the file format to write, from the name's ending. Raises ValueError for an unknown
    ending."""
    ending = Path(fspath(location).partition("?")[0]).suffix
    if ending and ending.lower() not in FORMS:
        raise ValueError(
            f"{location} cannot be written; its name must end with one of {', '.join(FORMS)}"
        )
    return form_of(location)


def name_of(location: Place) -> str:
    """Return the last part of a path or address."""
    return fspath(location).rstrip("/").rpartition("/")[2] or "lines.jsonl"


@contextmanager
def opened(location: Place) -> Iterator[BinaryIO]:
    """Open a file for reading. Raises OSError, and ValueError if the filesystem is not
    installed."""
    if not is_address(location):
        with Path(location).open("rb") as stream:
            yield stream
        return
    with _filesystem(location).open(fspath(location), "rb") as stream:
        yield stream


@contextmanager
def created(location: Place) -> Iterator[BinaryIO]:
    """Open a file for writing. A local file only appears when it is complete. Raises OSError, and
    ValueError if the filesystem is not installed."""
    if is_address(location):
        with _filesystem(location).open(fspath(location), "wb") as stream:
            yield stream
        return
    path = Path(location)
    if path.exists() and not path.is_file():  # a device or a pipe
        with path.open("wb") as stream:
            yield stream
        return
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    except OSError as error:
        if error.filename == fspath(part):
            error.filename = fspath(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def is_folder(location: Place) -> bool:
    """Return True if the location is a folder."""
    return (
        _filesystem(location).isdir(location) if is_address(location) else Path(location).is_dir()
    )


def files_in(folder: Place) -> list[str]:
    """Return the relative paths of all files in the folder and its subfolders, sorted."""
    base = fspath(folder).rstrip("/")
    if not is_address(folder):
        root = Path(folder)
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    system = _filesystem(folder)
    bare = system._strip_protocol(base)  # noqa: SLF001 - how fsspec names what it lists
    return sorted(path.removeprefix(bare).lstrip("/") for path in system.find(base))


def inside(folder: Place, name: str) -> str:
    """Return the address of a file in a folder."""
    return f"{fspath(folder).rstrip('/')}/{name}"


def _filesystem(location: Place) -> Any:
    scheme = fspath(location).partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ValueError(
            f"{scheme}:// needs the package fsspec; run pip install 'path/to/sdk[data]'"
        ) from None
    try:
        return url_to_fs(fspath(location))[0]
    except ImportError as error:
        raise ValueError(f"{scheme}:// cannot be opened: {error}") from None
