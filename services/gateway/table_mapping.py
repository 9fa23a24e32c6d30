"""Conversion of an uploaded table's rows into requests. The mapping is the same as in the client
library.

    {"custom_id": "post_id", "text": "body",
     "decision": {"column": "flag", "values": {"1": "hateful"}}, "metadata": ["market"]}

Other columns are not sent, except human labels, ratings and columns with few values. These become
metadata by default. CSV is read as UTF-8. The delimiter is the most frequent candidate in the first
line.
"""

from __future__ import annotations

import codecs
import csv
import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, Any, TypeVar

from services.gateway.batch_csv import is_exported, unquoted
from shared.contracts.column_names import ID, is_gold
from shared.contracts.fields import options_of
from shared.contracts.messages import MOST_METADATA
from shared.contracts.service import MetricContract

DELIMITERS = (",", ";", "\t", "|")
MOST_COLUMNS = 200
NO_CSV = (
    "is not a CSV file: a quotation mark is not closed, one cell is longer than "
    f"{csv.field_size_limit():,} characters, or a line ends in the middle of a cell"
)
LONGEST_NAME = 200  # characters of a column's name
LONGEST_KEY, LONGEST_VALUE = 64, 40  # characters of what becomes metadata by itself
MOST_VALUES = 20  # of a column that does
LONGEST_LINE = 2_000_000  # bytes
MOST_LINES = 2_000_000  # of the file; a quoted cell may have many
AS_UTF_8 = (
    "save the file again, in Excel as “CSV UTF-8”, in LibreOffice with the character set "
    "“Unicode (UTF-8)”, in a text editor with the encoding UTF-8"
)
WORKBOOK = f"a spreadsheet workbook, which cannot be read here; {AS_UTF_8}"
BINARY = {
    b"PK\x03\x04": WORKBOOK,
    b"\xd0\xcf\x11\xe0": WORKBOOK,
    b"PAR1": "a Parquet file; only CSV and JSON Lines are supported here, but `touchstone "
    "submit` reads Parquet",
}
SEPARATOR = "sep="  # Excel's own first line, as in `sep=;`
WORK_SECONDS, REST_SECONDS = 0.01, 0.01
PREFIX = "metadata."  # of the columns of a downloaded table
AS_KEY = {  # characters that a key of metadata cannot have
    **dict.fromkeys((*range(32), 127), " "),
    ord("["): "(",
    ord("]"): ")",
}
Row = Mapping[str, Any]
T = TypeVar("T")


class TableError(ValueError):
    """An error in a line of the file. `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class TableMapping:
    """A mapping from table columns to request fields.

    `columns` maps a field to its column, and `values` maps a field's cells to values. `metadata`
    lists columns that become metadata. A field may be nested, such as `probabilities.original` or
    `options.k`. `of_all` holds values for empty cells by field.
    """

    columns: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metadata: Sequence[str] = ()
    of_all: Mapping[str, str] = field(default_factory=dict)

    def body(self, row: Row, contract: MetricContract) -> dict[str, Any]:
        """Return the request for a row. Empty cells are not sent."""
        body: dict[str, Any] = dict(self.of_all)
        for name, column in self.columns.items():
            cell = row.get(column)
            if name == ID or cell is None or cell == "":
                continue
            cell = self.values.get(name, {}).get(str(cell), cell)
            value = _value(cell, contract, name)
            whole, _, part = name.partition(".")
            if part:
                held = body.setdefault(whole, {})
                body[whole] = {**held, part: value} if isinstance(held, Mapping) else held
            else:
                body[name] = value
        of_metadata = {name: row[name] for name in self.metadata if row.get(name) not in (None, "")}
        metadata = {  # a list, as JSON Lines may have it, stays JSON
            (name.removeprefix(PREFIX) or name).translate(AS_KEY): cell
            if isinstance(cell, str)
            else json.dumps(cell, ensure_ascii=False)
            for name, cell in of_metadata.items()
        }
        return body | ({"metadata": metadata} if metadata else {})

    def custom_id(self, row: Row, number: int) -> str:
        """Return the row's custom id, or the row's number if it has none."""
        cell = row.get(self.columns.get(ID, ""))
        return str(number) if cell in (None, "") else str(cell)


def guess_metadata(names: Sequence[str], rows: Sequence[Row], used: Collection[str]) -> list[str]:
    """Return the columns that become metadata by default: human labels and downloaded metadata
    first, then columns with few values, such as a market. `used` holds the columns that become
    fields."""
    gold = [name for name in names if is_gold(name) or name.startswith(PREFIX)]
    free = [
        candidate
        for candidate in names
        if candidate not in used and candidate not in gold and len(candidate) <= LONGEST_KEY
    ]
    grouping = []
    for name in free:
        cells = [cell for row in rows if (cell := row.get(name)) not in (None, "")]
        if has_few_values(cells, min(MOST_VALUES, len(cells) // 2)):  # each in two, by and large
            grouping.append(name)
    columns = [*gold, *grouping][:MOST_METADATA]
    return [name for name in names if name in columns]


def has_few_values(cells: Iterable[Any], most: int) -> bool:
    """Return True if the non-empty cells have at most `most` different values, all of them
    short."""
    values = {str(cell) for cell in cells if cell not in (None, "")}
    return 1 <= len(values) <= most and all(len(cell) <= LONGEST_VALUE for cell in values)


def rows_of(stream: IO[bytes]) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a CSV or JSON Lines file as (line, row). Raises TableError."""
    lines = _decode_lines(stream)
    skipped, delimiter, first = 0, None, next(lines, None)
    while first is not None and (not first.strip() or first.startswith(SEPARATOR)):
        delimiter = first.removeprefix(SEPARATOR)[:1] if first.strip() else delimiter
        skipped, first = skipped + 1, next(lines, None)
    if first is None:
        raise TableError(1, "the file is empty")
    if first.lstrip().startswith("{"):
        yield from _of_json(chain([first], lines), skipped + 1)
    else:
        yield from _of_csv(first, lines, delimiter or max(DELIMITERS, key=first.count), skipped)


def pause_between(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, with a pause after every few milliseconds of work, so that other threads can
    run."""
    rest = time.monotonic() + WORK_SECONDS
    for item in items:
        yield item
        if time.monotonic() > rest:
            time.sleep(REST_SECONDS)
            rest = time.monotonic() + WORK_SECONDS


def _decode_lines(stream: IO[bytes]) -> Iterator[str]:
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
        if len(raw) > LONGEST_LINE:
            raise TableError(number, f"is longer than {LONGEST_LINE:,} bytes")
        if number > MOST_LINES:
            raise TableError(number, f"a file may have at most {MOST_LINES:,} lines")
        kind = next((BINARY[start] for start in BINARY if raw.startswith(start)), None)
        if number == 1 and kind is not None:
            raise TableError(1, f"the file is {kind}")
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise TableError(number, f"is not UTF-8{_other_encoding(raw, number)}") from None
        if "\0" in line:
            raise TableError(number, "contains the character U+0000, which is not allowed")
        yield line


def _other_encoding(raw: bytes, number: int) -> str:
    """Return the likely encoding and how to save the file as UTF-8, or an empty string if
    unknown."""
    if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"; it looks like UTF-16: {AS_UTF_8}"
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    return f"; it may be Windows-1252, as older spreadsheets save it: {AS_UTF_8}"


def _of_csv(
    first: str, lines: Iterable[str], delimiter: str, skipped: int
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a CSV file. `skipped` is the number of lines before the header."""
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader)]
        width = len(names)
        while names and not names[-1]:  # Excel leaves columns without a name behind the last one
            names.pop()
        if len(set(names)) < len(names):
            raise TableError(
                skipped + 1, "contains a column name twice; give each column its own name"
            )
        _check_columns(skipped + 1, names)
        has_quotes = is_exported(names)
        begin = skipped + reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != width:
                raise TableError(
                    begin, f"has {len(cells)} cells, but the header has {width} columns"
                )
            if any(cells[len(names) :]):
                raise TableError(begin, f"has a cell in a column without a name: {cells[-1]!r}")
            if cells and has_quotes:
                cells = [unquoted(cell) for cell in cells]
            if cells:
                yield begin, dict(zip(names, cells, strict=False))
            begin = skipped + reader.line_num + 1
    except csv.Error:
        raise TableError(skipped + reader.line_num, NO_CSV) from None


def _of_json(lines: Iterable[str], begin: int) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(lines, begin):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise TableError(number, "is not JSON") from None
        if not isinstance(row, dict):
            raise TableError(number, "is not a JSON object")
        if isinstance(row.get("body"), dict) and "url" in row:  # a line of a batch
            row = {ID: row.get(ID), **row["body"]}
        _check_columns(number, row)
        if "\\u" in line:
            # escapes may write what no text may hold
            text = json.dumps(row, ensure_ascii=False)
            if "\\u0000" in text:
                raise TableError(number, "contains the character U+0000, which is not allowed")
            try:
                text.encode()
            except UnicodeEncodeError:
                raise TableError(
                    number, "contains half of a surrogate pair, which is not a character"
                ) from None
        yield number, row


def _check_columns(number: int, names: Collection[str]) -> None:
    if len(names) > MOST_COLUMNS or any(len(name) > LONGEST_NAME for name in names):
        limits = f"{MOST_COLUMNS} columns, each with a name of at most {LONGEST_NAME} characters"
        raise TableError(number, f"may have at most {limits}")


def _value(cell: Any, contract: MetricContract, name: str) -> Any:
    """Return the cell's value. Cells of text fields stay text, and other cells are parsed as
    JSON."""
    whole, _, part = name.partition(".")
    fields, options = contract.request.model_fields, options_of(contract.request)
    field = options.get(part) if whole == "options" and part else fields.get(whole)
    if not isinstance(cell, str) or field is None or _is_text(field.annotation):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        lowered = cell.strip().lower()
        return {"true": True, "false": False}.get(lowered, cell)


def _is_text(annotation: Any) -> bool:
    parts = getattr(annotation, "__args__", ())
    if annotation is str:
        return True
    if parts and all(isinstance(part, str) for part in parts):  # Literal
        return True
    is_union = type(annotation).__name__ in ("UnionType", "Union", "_UnionGenericAlias")
    return (is_union or hasattr(annotation, "__metadata__")) and any(map(_is_text, parts))
