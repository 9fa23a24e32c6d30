"""Reads files and folders a few rows at a time: JSON Lines, CSV and TSV, Parquet, Arrow, and those
of Hugging Face `datasets`. CSV follows RFC 4180 strictly. The first violation is reported with its
line."""

from __future__ import annotations

import csv
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any, BinaryIO

from touchstone_client.data.addresses import (
    Form,
    Place,
    files_in,
    form_of,
    inside,
    is_folder,
    opened,
)
from touchstone_client.data.cells import REST, Exact, holds_nul

Row = Mapping[str, Any]
ROWS_AT_ONCE = 250
SEPARATOR = "sep="  # Excel's own first line, as in `sep=;`
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls
LONGEST_CELL = 16_777_216
OTHERS = (";", "\t", "|")  # what else stands between columns
BOM = b"\xef\xbb\xbf"
SPLIT = re.compile(
    r"(?:^|.*/)([A-Za-z][\w]*?)(?:[-.]\d[\w.-]*)?\.\w+$"
)  # train-00000-of-00001.parquet
NEEDED = "Parquet and Arrow files need the package pyarrow; run pip install 'path/to/sdk[data]'"


@dataclass(frozen=True)
class Reading:
    """Options for reading a file. `delimiter` is for CSV, and `split` for a folder. If `refused` is
    a dict, invalid lines are skipped and their reasons stored there by line number. If it is None,
    they are errors."""

    form: Form | None = None
    delimiter: str | None = None
    split: str | None = None
    refused: dict[int, str] | None = None

    def leave_out(self, number: int, error: Exception) -> None:
        """Record an invalid line in `refused`. If `refused` is None, raise ValueError with the
        line's number."""
        message = str(error).removeprefix(f"line {number} is ")
        if self.refused is None:
            has_number = str(error).startswith(f"line {number} ")
            raise ValueError(str(error) if has_number else f"line {number}: {error}") from None
        self.refused[number] = message


@dataclass(frozen=True)
class Table:
    """An open file. `names` holds its column names, or None for JSON Lines. `rows` yields each row
    with its line or row number, counted from 1. `is_ours` is True if `convert` wrote the file."""

    names: Sequence[str] | None
    rows: Iterator[tuple[int, Row]]

    @property
    def is_ours(self) -> bool:
        return self.names is not None and REST in self.names


AS_NAMED = Reading()


@contextmanager
def table_of(location: Place | BinaryIO, how: Reading = AS_NAMED) -> Iterator[Table]:
    """Open a file or folder as a table. Raises OSError, and ValueError for an invalid line, with
    the number of that line."""
    if not isinstance(location, str | PathLike):
        yield _table(location, how.form or "jsonl", how)
    elif is_folder(location):
        yield _folder(location, how)
    else:
        with opened(location) as stream:
            yield _table(stream, how.form or form_of(location), how)


def _table(stream: BinaryIO, form: Form, how: Reading) -> Table:
    if form == "jsonl":
        return Table(None, json_lines(stream, how))
    if form in ("csv", "tsv"):
        usual = "\t" if form == "tsv" else ","
        texts = _texts(stream)
        first_line, delimiter, before = next(texts, ""), how.delimiter, 0
        if first_line.startswith(SEPARATOR):
            first_line, delimiter, before = (
                next(texts, ""),
                first_line.removeprefix(SEPARATOR)[:1],
                1,
            )
        _require_delimiter(first_line, None if delimiter else usual)
        return _separated(chain([first_line], texts), delimiter or usual, before)
    return _arrow([stream], form)


def json_lines(
    stream: Iterable[bytes], how: Reading = AS_NAMED
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for each line. Empty and invalid lines are skipped."""
    for number, raw in enumerate(stream, 1):
        text = raw.removeprefix(BOM) if number == 1 else raw
        if not text.strip():
            continue
        try:
            parsed = object_of(text, number)
        except ValueError as error:
            how.leave_out(number, error)
        else:
            yield number, parsed


def object_of(raw: bytes, number: int) -> dict[str, Any]:
    """Parse a line as a JSON object. Raises ValueError with the line's number."""
    try:
        parsed = json.loads(raw, parse_constant=_refused)
    except json.JSONDecodeError as error:
        at = f"{error.msg} at character {error.pos + 1}"
        raise ValueError(f"line {number} is not JSON: {at}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise ValueError(f"line {number} is not a JSON object")
    return parsed


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _require_delimiter(first: str, usual: str | None) -> None:
    """Raise ValueError for an empty file, and for a first line that contains only a different
    delimiter. `usual` is the default delimiter, or None if a delimiter was given."""
    if not first:
        raise ValueError("the file is empty")
    other = next(
        (delimiter for delimiter in OTHERS if delimiter != usual and delimiter in first), None
    )
    if usual is not None and usual not in first and other is not None:
        raise ValueError(
            f"the columns seem to be separated by {other!r}; add --delimiter {other!r}"
        )


def _separated(texts: Iterator[str], delimiter: str, before: int) -> Table:
    """Return the table in CSV text. Its first line has the column names. `before` is the number of
    lines that precede the text in the file."""
    if len(delimiter) != 1:
        raise ValueError(f"a delimiter must be one character, not {delimiter!r}")
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    lines = _csv_rows(csv.reader(texts, delimiter=delimiter, strict=True), before)
    names = next(lines, (1, []))[1]
    if not any(names):
        raise ValueError("the first line does not contain the names of the columns")
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise ValueError(f"two columns are named {', '.join(twice)}")
    return Table(names, _with_names(lines, names))


def _texts(stream: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines as text. Raises ValueError for a UTF-16 file or a spreadsheet, and with the
    line's number if a line is not UTF-8 or contains U+0000."""
    for number, raw in enumerate(stream, 1):
        if number == 1 and raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise ValueError("the file is UTF-16; save it as UTF-8")
        if number == 1 and raw.startswith(WORKBOOKS):
            raise ValueError(
                "the file is a spreadsheet workbook, such as Excel's; save it as “CSV UTF-8”"
            )
        if b"\0" in raw:
            raise ValueError(f"line {number} contains the character U+0000, which is not allowed")
        try:
            yield (raw.removeprefix(BOM) if number == 1 else raw).decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"line {number} is not UTF-8: {error}") from None


def _csv_rows(reader: Any, before: int) -> Iterator[tuple[int, list[str]]]:
    """Yield (line on which the row begins, cells) for each row. Empty lines are skipped."""
    while True:
        begun = before + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"line {begun} is not valid CSV: {error}") from None
        if cells:
            yield begun, cells


def _with_names(
    lines: Iterator[tuple[int, list[str]]], names: list[str]
) -> Iterator[tuple[int, Row]]:
    is_ours = REST in names
    for line, cells in lines:
        if len(cells) != len(names):
            raise ValueError(
                f"line {line} has {len(cells)} cells, but the first line has {len(names)}"
            )
        row: dict[str, Any] = dict(zip(names, cells, strict=True))
        if is_ours:
            row = {n: c[1:] if c.startswith("'") and n != REST else c for n, c in row.items()}
            row = _completed(row, line)
        yield line, row


def _completed(row: dict[str, Any], line: int) -> dict[str, Any]:
    """Add the fields in the row's JSON cell, which holds values that no other cell can express.
    Return the row."""
    rest = row.pop(REST, None)
    if not rest:
        return row
    return {**row, **{name: Exact(value) for name, value in object_of(rest.encode(), line).items()}}


def _arrow(streams: Sequence[BinaryIO], form: Form) -> Table:
    """Return the table in files with the same schema, in order. Only a part of a row group is in
    memory."""
    try:
        import pyarrow  # noqa: F401 - whether it is there
        from pyarrow import ipc, parquet
    except ImportError:
        raise ValueError(NEEDED) from None
    if form == "parquet":
        files: list[Any] = [parquet.ParquetFile(stream) for stream in streams]
        batches = (
            batch
            for stream in files
            for batch in stream.iter_batches(ROWS_AT_ONCE, use_threads=False)
        )
        names = files[0].schema_arrow.names
    else:
        files = [_ipc(ipc, stream) for stream in streams]
        batches = (batch for stream in files for batch in _ipc_batches(stream))
        names = files[0].schema.names
    return Table(names, _arrow_rows(batches, names))


def _ipc(ipc: Any, stream: BinaryIO) -> Any:
    """Open an Arrow file, or an Arrow stream as `datasets` saves it."""
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    return ipc.open_file(stream) if is_file else ipc.open_stream(stream)


def _ipc_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        yield from map(reader.get_batch, range(reader.num_record_batches))
    else:
        yield from reader


def _arrow_rows(batches: Iterator[Any], names: Sequence[str]) -> Iterator[tuple[int, Row]]:
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            for row in batch.slice(start, ROWS_AT_ONCE).to_pylist():
                number += 1
                if holds_nul(list(row.values())):
                    raise ValueError(
                        f"row {number} contains the character U+0000, which is not allowed"
                    )
                yield number, _completed(row, number) if REST in names else row


def _folder(folder: Place, how: Reading) -> Table:
    """Return one split of a folder. The folder was saved by `datasets`, or has files with the split
    in their names."""
    files = [file for file in files_in(folder) if not file.startswith((".", "_"))]
    splits = _saved_splits(folder, files) or _named_splits(files)
    if not splits:
        raise ValueError(f"{folder} contains no Parquet, Arrow, CSV or JSON Lines file")
    if how.split is None and len(splits) > 1:
        raise ValueError(f"{folder} has the splits {', '.join(splits)}; choose one with `split`")
    name = how.split or next(iter(splits))
    if name not in splits:
        raise ValueError(f"{folder} has no split {name!r}; its splits are {', '.join(splits)}")
    locations = [inside(folder, file) for file in splits[name]]
    return _joined(locations, how)


def _saved_splits(folder: Place, files: Sequence[str]) -> dict[str, list[str]]:
    """Return the files of each split saved by `Dataset.save_to_disk` or `DatasetDict.save_to_disk`,
    from their state files."""
    splits: dict[str, list[str]] = {}
    for state in (file for file in files if file.rpartition("/")[2] == "state.json"):
        base = state.removesuffix("state.json")
        if f"{base}dataset_info.json" not in files:
            continue
        with opened(inside(folder, state)) as stream:
            listed = json.load(stream)["_data_files"]
        name = base.rstrip("/").rpartition("/")[2] or "train"
        splits[name] = [base + file["filename"] for file in listed]
    return splits


def _named_splits(files: Sequence[str]) -> dict[str, list[str]]:
    splits: dict[str, list[str]] = {}
    for file in files:
        match = SPLIT.match(file)
        if match and file.lower().endswith((".parquet", ".arrow", ".jsonl", ".csv")):
            splits.setdefault(match[1], []).append(file)
    return splits


def _joined(locations: Sequence[str], how: Reading) -> Table:
    form = form_of(locations[0])
    if any(form_of(location) != form for location in locations):
        raise ValueError(
            f"{locations[0]} and the other files in its folder have different formats; use one "
            "format"
        )
    names = _names(locations[0], how)
    return Table(names, _all_rows(locations, names, how))


def _names(location: str, how: Reading) -> Sequence[str] | None:
    with opened(location) as stream:
        return _table(stream, form_of(location), how).names


def _all_rows(
    locations: Sequence[str], names: Sequence[str] | None, how: Reading
) -> Iterator[tuple[int, Row]]:
    count = 0
    for location in locations:
        with opened(location) as stream:
            table = _table(stream, form_of(location), how)
            if table.names != names:
                raise ValueError(f"{location} has other columns than {locations[0]}")
            for _, row in table.rows:
                count += 1
                yield count, row
