"""Files of this machine and, by fsspec, of anywhere that the caller's own credentials open: `s3://`,
`gs://`, `az://`, `hf://`, and whatever else an installed filesystem knows."""

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


def is_address(place: object) -> bool:
    """Whether fsspec is to open it."""
    return isinstance(place, str) and SCHEME.match(place) is not None


def form_of(place: Place) -> Form:
    """What its name says; JSON Lines where it says nothing."""
    return FORMS.get(Path(fspath(place).partition("?")[0]).suffix.lower(), "jsonl")


def target_form(place: Place) -> Form:
    """What is to be written there: as `form_of`, but a name that says something else is refused.
    Raises ValueError."""
    ending = Path(fspath(place).partition("?")[0]).suffix
    if ending and ending.lower() not in FORMS:
        raise ValueError(f"{place} cannot be written: a name ends with {', '.join(FORMS)}")
    return form_of(place)


def name_of(place: Place) -> str:
    """The last part of a path or address."""
    return fspath(place).rstrip("/").rpartition("/")[2] or "lines.jsonl"


@contextmanager
def opened(place: Place) -> Iterator[BinaryIO]:
    """For reading. Raises OSError; ValueError where a filesystem is not installed."""
    if not is_address(place):
        with Path(place).open("rb") as stream:
            yield stream
        return
    with _filesystem(place).open(fspath(place), "rb") as stream:
        yield stream


@contextmanager
def created(place: Place) -> Iterator[BinaryIO]:
    """For writing; a file of this machine is there once it is whole. Raises as `opened`."""
    if is_address(place):
        with _filesystem(place).open(fspath(place), "wb") as stream:
            yield stream
        return
    path = Path(place)
    if path.exists() and not path.is_file():  # a device or a pipe
        with path.open("wb") as stream:
            yield stream
        return
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def is_folder(place: Place) -> bool:
    """Whether files lie in it."""
    return _filesystem(place).isdir(place) if is_address(place) else Path(place).is_dir()


def files_in(folder: Place) -> list[str]:
    """Every file below it, by its path inside it, in order."""
    base = fspath(folder).rstrip("/")
    if not is_address(folder):
        root = Path(folder)
        return sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file())
    system = _filesystem(folder)
    bare = system._strip_protocol(base)  # noqa: SLF001 - how fsspec names what it lists
    return sorted(one.removeprefix(bare).lstrip("/") for one in system.find(base))


def inside(folder: Place, name: str) -> str:
    """The address of a file in a folder."""
    return f"{fspath(folder).rstrip('/')}/{name}"


def _filesystem(place: Place) -> Any:
    scheme = fspath(place).partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ValueError(f"{scheme}:// needs fsspec: pip install 'path/to/sdk[data]'") from None
    try:
        return url_to_fs(fspath(place))[0]
    except ImportError as error:
        raise ValueError(f"{scheme}:// cannot be opened: {error}") from None
