"""Writes CSV, TSV, Parquet and Arrow files, a few rows at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal

from touchstone_client.data.addresses import Form
from touchstone_client.data.cells import is_utf8, may_be_formula, quoted
from touchstone_client.data.readers import NEEDED, ROWS_AT_ONCE

Kind = Literal["text", "integer", "number", "boolean"]
Put = Callable[[Mapping[str, Any]], None]
NO_NOTES: Mapping[str, str] = {}


def json_line(value: Any) -> bytes:
    """Return the value as a line of JSON Lines. Lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return (text if is_utf8(text) else json.dumps(value)).encode() + b"\n"


def reversible(value: Any) -> str:
    """Return a CSV cell that no spreadsheet runs as a formula. The original text can be restored
    from it."""
    if isinstance(value, str) and (value.startswith("'") or may_be_formula(value)):
        return f"'{value}"
    return quoted(value)


@contextmanager
def table_writer(
    stream: BinaryIO,
    form: Form,
    columns: Mapping[str, Kind],
    *,
    cell: Callable[[Any], str] = quoted,
    notes: Mapping[str, str] = NO_NOTES,
) -> Iterator[Put]:
    """Yield a function that writes a row. Missing columns are left empty. `cell` formats the cells
    of CSV files. `notes` is the schema metadata of Parquet and Arrow files."""
    if form in ("csv", "tsv"):
        yield from _separated(stream, "\t" if form == "tsv" else ",", list(columns), cell)
    else:
        yield from _arrow(stream, form, columns, notes)


def _separated(
    stream: BinaryIO, delimiter: str, names: list[str], cell: Callable[[Any], str]
) -> Iterator[Put]:
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(names)

    def put(row: Mapping[str, Any]) -> None:
        writer.writerow([cell(row.get(name)) for name in names])

    try:
        yield put
    finally:
        text.detach()


def _arrow(
    stream: BinaryIO, form: Form, columns: Mapping[str, Kind], notes: Mapping[str, str]
) -> Iterator[Put]:
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise ValueError(NEEDED) from None
    kinds = {
        "text": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
    }  # fmt: skip
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()], dict(notes))
    open_writer = parquet.ParquetWriter if form == "parquet" else ipc.new_file
    with open_writer(stream, schema) as writer:
        rows: list[Mapping[str, Any]] = []

        def flush() -> None:
            if rows:
                arrays = {name: [row.get(name) for row in rows] for name in columns}
                writer.write_batch(pyarrow.RecordBatch.from_pydict(arrays, schema))
                rows.clear()

        def put(row: Mapping[str, Any]) -> None:
            rows.append(row)
            if len(rows) >= ROWS_AT_ONCE:
                flush()

        yield put
        flush()
