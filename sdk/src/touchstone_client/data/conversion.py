"""Converts files of requests or results between formats. A file of requests keeps every value, so
it can be converted back. A file of results becomes a flat table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone_client.data._columns import ID
from touchstone_client.data.addresses import Form, Place, created, opened, target_form
from touchstone_client.data.cells import REST, cell_of, holds_nul, readings, types_of, value_of
from touchstone_client.data.mapping import ColumnMapping, Columns
from touchstone_client.data.readers import AS_NAMED, Reading, Table, table_of
from touchstone_client.data.scores import FIRST, LAST, RESULT, write_answers
from touchstone_client.data.writers import Kind, json_line, reversible, table_writer

ANSWERED = {*FIRST, *LAST}  # columns of every table of answers
BATCH_LINE = {ID, "method", "url", "body"}
PLAIN_KINDS: Mapping[str, Kind] = {
    "integer": "integer", "number": "number", "boolean": "boolean"
}  # fmt: skip
MOST_INTEGER = 2**63
Record = dict[str, Any]  # a plain request; or a line of a batch, its body beside custom_id and url


@dataclass(frozen=True)
class Conversion:
    """A source file and the settings that convert its rows into records."""

    source: Place
    metric: str | None
    columns: Columns | None
    how: Reading

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield (line number, record) for all rows of the file. Raises ValueError for a row that
        contains U+0000 or cannot be read."""
        with table_of(self.source, self.how) as table:
            take = self._taker(table)
            for number, row in table.rows:
                if holds_nul(row):
                    raise ValueError(
                        f"line {number} contains the character U+0000, which is not allowed"
                    )
                yield number, take(row, number)

    def _taker(self, table: Table) -> Callable[[Mapping[str, Any], int], Record]:
        if table.names is None and self.columns is None:
            return flat_line
        if table.is_ours and self.columns is None:
            return lambda row, _: decoded(row, self.metric)
        names = list(table.names or ())
        mapping = (
            ColumnMapping(self.columns or {}, self.metric)
            if table.names is None
            else ColumnMapping.of(self.columns, self.metric, names)
        )
        return lambda row, number: {
            **({"id": mapping.custom_id(row, number)} if ID in mapping.columns else {}),
            **mapping.request(row),
        }

    def holds_answers(self) -> bool:
        """Return True if the file is an output or error file of a batch."""
        with table_of(self.source, self.how) as table:
            if table.names is not None or self.columns is not None:
                return False
            _, first = next(table.rows, (0, {}))
            return ID in first and "response" in first

    def holds_answer_table(self) -> bool:
        """Return True if the file is a table with the results of a batch."""
        with table_of(self.source, self.how) as table:
            return self.columns is None and set(table.names or ()) >= ANSWERED

    def raw_lines(self) -> Iterator[bytes]:
        with opened(self.source) as stream:
            yield from (raw for raw in stream if raw.strip())


def convert(
    source: Place,
    target: Place,
    *,
    metric: str | None = None,
    columns: Columns | None = None,
    how: Reading = AS_NAMED,
    form: Form | None = None,
) -> int:
    """Convert `source` to `target` and return the number of rows. The format is `form`, or else
    that of the target's file name. `metric` and `columns` describe a table that `convert` did not
    write, as in `score_many`. Raises OSError, or ValueError with the number of an invalid line."""
    conversion = Conversion(source, metric, columns, how)
    target_format = form or target_form(target)
    if conversion.holds_answers():
        if target_format == "jsonl":
            raise ValueError("the answers are already JSON Lines")
        with created(target) as stream:
            return write_answers(conversion.raw_lines, stream, target_format)
    if conversion.holds_answer_table():
        return _rewrite_answers(conversion, target, target_format)
    with created(target) as stream:
        if target_format == "jsonl":
            count = 0
            for _, record in conversion.records():
                stream.write(json_line(line_of_record(record)))
                count += 1
            return count
        return _write_table(conversion, stream, target_format)


def _rewrite_answers(conversion: Conversion, target: Place, form: Form) -> int:
    """Copy a table as CSV or TSV without the full-result column. Return the number of rows."""
    if form not in ("csv", "tsv"):
        raise ValueError(
            f"a file of answers can only be converted into CSV or TSV. For {form}, get the "
            "answers from the service: `touchstone get BATCH --output FILE`"
        )
    with table_of(conversion.source, conversion.how) as table, created(target) as stream:
        columns: dict[str, Kind] = {name: "text" for name in table.names or () if name != RESULT}
        count = 0
        with table_writer(stream, form, columns) as put:
            for _, row in table.rows:
                put(row)
                count += 1
        return count


def _write_table(conversion: Conversion, stream: Any, form: Form) -> int:
    names: dict[str, None] = {}
    for number, record in conversion.records():
        if REST in record:
            raise ValueError(
                f"line {number} has a field {REST}, a name that is reserved for a column of the "
                "output; rename the field"
            )
        names |= dict.fromkeys(record)
    is_csv = form in ("csv", "tsv")
    columns: dict[str, Kind] = {name: "text" if is_csv else kind_of(name) for name in names}
    columns[REST] = "text"
    count = 0
    with table_writer(stream, form, columns, cell=reversible) as put:
        for _, record in conversion.records():
            put(row_of_record(record, columns, is_csv))
            count += 1
    return count


def kind_of(field: str) -> Kind:
    """Return the type of the Parquet or Arrow column for this field."""
    types = frozenset().union(*readings(field)) - {"null"}
    return PLAIN_KINDS.get(next(iter(types)), "text") if len(types) == 1 else "text"


def row_of_record(record: Record, columns: Mapping[str, Kind], is_csv: bool) -> dict[str, Any]:
    """Return the cells of a record. An additional last cell holds the values that no cell can
    express. In a CSV file (`is_csv`) numbers stay numbers."""
    row: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in record.items():
        cell: Any = cell_of(value, name)
        if cell is not None and (is_csv or columns[name] != "text"):
            cell = value if isinstance(value, bool | int | float) else cell
        if cell is None or not _fits(cell, columns[name]):
            rest[name] = value
        else:
            row[name] = cell
    if rest:
        row[REST] = json_line(rest).decode().rstrip("\n")
    return row


def _fits(cell: Any, kind: Kind) -> bool:
    if kind == "text":
        return True
    if kind == "integer":
        is_integer = isinstance(cell, int) and not isinstance(cell, bool)
        return is_integer and -MOST_INTEGER <= cell < MOST_INTEGER
    return isinstance(cell, float if kind == "number" else bool)


def decoded(row: Mapping[str, Any], metric: str | None) -> Record:
    """Return the record from a row that `convert` wrote. Its fields are in the order of the row."""
    return {
        name: value_of(cell, types_of(metric, name))
        for name, cell in row.items()
        if cell is not None and not (isinstance(cell, str) and not cell)
    }


def flat_line(line: Mapping[str, Any], number: int) -> Record:
    """Return a line of JSON Lines as a flat record. If it is a batch line, the fields of its body
    are included."""
    body = line.get("body")
    is_batch_line = set(line) == BATCH_LINE and isinstance(body, dict)
    if is_batch_line and line["method"] == "POST" and not {ID, "url"} & set(body or ()):
        return {ID: line[ID], "url": line["url"], **(body or {})}
    if {ID, "url"} <= set(line):
        raise ValueError(
            f"line {number} is not a line of a batch, which has custom_id, method, url and body"
        )
    return dict(line)


def line_of_record(record: Record) -> dict[str, Any]:
    """Return the line of JSON Lines from which a record was made."""
    if not {ID, "url"} <= set(record):
        return record
    body = {name: value for name, value in record.items() if name not in (ID, "url")}
    return {ID: record[ID], "method": "POST", "url": record["url"], "body": body}
