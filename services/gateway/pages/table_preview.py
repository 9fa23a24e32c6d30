"""What an uploaded table would become: how its columns become fields, its first rows and requests,
and what is wrong by line. What is shown and what is scored are read alike.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.gateway.batch_input import Line
from services.gateway.http_requests import OWN_KEY
from services.gateway.pages.table_faults import (
    CustomIds,
    TableFaults,
    named_fault,
    validation_error,
)
from services.gateway.state import State
from services.gateway.table_mapping import (
    ID,
    Row,
    TableError,
    TableMapping,
    guess_columns,
    guess_metadata,
    has_few_values,
    pause_between,
    rows_of,
)
from shared.contracts.service import MetricContract
from shared.ledger.files import File

MOST_TOLD = 20  # lines that were left out
SHOWN, REQUESTS = 20, 3
GUESSED_FROM, GUESSED_FROM_CHARACTERS = 500, 1_000_000  # rows, and what they hold
CHECK_SECONDS = 2.0
LONGEST_REQUEST = 4_000  # characters that are shown
LONG_CELL = 40  # characters: longer ones are no label
MOST_VALUES = 8  # of a column whose cells are mapped one by one
Pair = tuple[str, str]


@dataclass(frozen=True)
class TablePreview:
    """What would be scored. complete: whether every line was read.
    cells: of fields with choices, field → what the mapped column holds."""

    mapping: TableMapping
    names: list[str]
    rows: list[list[str]]
    requests: list[str]
    faults: TableFaults
    lines: int
    complete: bool
    cells: dict[str, list[str]] = field(default_factory=dict)

    def plain(self, contract: MetricContract) -> set[str]:
        """Columns that are no texts: ids, labels and metadata, as far as they are short."""
        fields = [ID, *(one.name for one in contract.form if one.choices)]
        told = {self.mapping.columns.get(name) for name in fields} | {*self.mapping.metadata}
        return {
            name
            for place, name in enumerate(self.names)
            if name in told and all(len(row[place]) <= LONG_CELL for row in self.rows)
        }


def read_preview(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[Pair]
) -> TablePreview:
    """Blocks, for two seconds at most; the rest of a large file is checked when it is sent."""
    until = time.monotonic() + CHECK_SECONDS
    mapping = _read_mapping(gateway, file, contract, sent)
    seen = TableReader(contract, mapping)
    try:
        for number, row in _rows_of_batch(gateway, file):
            seen.add_row(number, row)
            if time.monotonic() > until:
                seen.complete = False
                break
    except TableError as fault:
        seen.faults.add(fault)
        seen.faults.is_broken = True
        seen.complete = False
    return seen.preview


def _rows_of_batch(gateway: State, file: File) -> Iterator[tuple[int, Row]]:
    """(line of the file, row), as many as a batch may have. Raises TableError at the next one, and
    where a line is no row."""
    most = gateway.settings.max_batch_lines
    with gateway.files.open_read(file.id) as stream:
        for count, (number, row) in enumerate(pause_between(rows_of(stream)), 1):
            if count > most:
                raise TableError(number, f"a batch may have {most:,} lines")
            yield number, row


def lines_of(
    gateway: State,
    file: File,
    contract: MetricContract,
    sent: Sequence[Pair],
    left_out: list[int] | None = None,
) -> Iterator[Line]:
    """All of them. Raises TableError at the first line that is no request; where `left_out` is
    given, its number goes there instead."""
    mapping, ids, count = _read_mapping(gateway, file, contract, sent), CustomIds(), 0
    for count, (number, row) in enumerate(_rows_of_batch(gateway, file), 1):
        body, custom_id = mapping.body(row, contract), mapping.custom_id(row, count)
        error = validation_error(contract, body)
        said = named_fault(error, body)[1] if error else ids.fault(custom_id)
        if not said:
            yield custom_id, body
        elif left_out is None:
            raise TableError(number, said)
        else:
            left_out.append(number)
    if count == len(left_out or ()):
        raise TableError(1, "there is no row")


def private_lines(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[Pair], *, skips: bool
) -> PrivateLines:
    """skips: whether faulty lines are left out."""
    left_out: list[int] = []
    found = lines_of(gateway, file, contract, sent, left_out if skips else None)
    return PrivateLines(found, left_out)


def upload_key(file: File, sent: Sequence[tuple[str, str]], *, skips: bool) -> str:
    """Of these columns of this file: pressed twice, they are one batch."""
    chosen = json.dumps([sorted(pair for pair in sent if pair[0] != "keep"), skips])
    return f"{OWN_KEY} table {file.id} {hashlib.sha256(chosen.encode()).hexdigest()}"


@dataclass
class PrivateLines:
    """The lines as they come; found: whether the texts of one must not be stored. left_out: lines
    of the file that are faulty."""

    source: Iterator[Line]
    left_out: list[int]
    found: bool = False

    def lines(self, told: dict[str, str]) -> Iterator[Line]:
        """told: of the batch; at the end it says what was left out."""
        for custom_id, body in self.source:
            self.found |= bool(body.get("do_not_store_text"))
            yield custom_id, body
        if self.left_out:
            first = ", ".join(map(str, self.left_out[:MOST_TOLD]))
            more = "" if len(self.left_out) <= MOST_TOLD else " …"
            told["left_out"] = f"{len(self.left_out)} lines of the file: {first}{more}"


def _read_mapping(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[Pair]
) -> TableMapping:
    """As the address or the form says; where it says nothing, guessed."""
    is_told = any(name.startswith("c.") for name, _ in sent)
    rows = _first_rows(gateway, file, 1 if is_told else GUESSED_FROM)
    names = list(rows[0]) if rows else []
    columns = {name[2:]: value for name, value in sent if name.startswith("c.") and value in names}
    metadata = [value for name, value in sent if name == "m" and value in names]
    if not is_told:
        columns = _guess(contract, names, rows)
        metadata = metadata or guess_metadata(names, rows, columns.values())
    values: dict[str, dict[str, str]] = {}
    for name, value in sent:
        field_name, _, cell = name[2:].partition(".")
        if name.startswith("v.") and value and field_name in columns:
            values.setdefault(field_name, {})[cell] = value
    return TableMapping(columns, values, list(dict.fromkeys(metadata)))


def _first_rows(gateway: State, file: File, most: int) -> list[Row]:
    """With the beginnings of their cells; up to the first line that is no row."""
    found: list[Row] = []
    size = 0
    with gateway.files.open_read(file.id) as stream:
        try:
            for _, row in pause_between(rows_of(stream)):
                size += sum(len(cell) for cell in row.values() if isinstance(cell, str))
                found.append({name: _cut(cell, LONG_CELL) for name, cell in row.items()})
                if len(found) == most or size > GUESSED_FROM_CHARACTERS:
                    break
        except TableError:
            pass  # whoever reads all of them says so
    return found


def _guess(contract: MetricContract, names: Sequence[str], rows: Sequence[Row]) -> dict[str, str]:
    """A column of another name is a field with choices only where it holds few words."""
    chosen = {one.name for one in contract.form if one.choices}
    return {
        name: column
        for name, column in guess_columns(contract, names).items()
        if name not in chosen
        or column.lower() == name
        or has_few_values([row.get(column) for row in rows], MOST_VALUES)
    }


@dataclass
class TableReader:
    """What has been seen of a table's rows so far."""

    contract: MetricContract
    mapping: TableMapping
    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    cells: dict[str, dict[str, None]] = field(default_factory=dict)
    lines: int = 0
    complete: bool = True
    faults: TableFaults = field(init=False)

    def __post_init__(self) -> None:
        self.faults = TableFaults(self.contract)

    def add_row(self, number: int, row: Row) -> None:
        """One row more."""
        if not self.lines:
            self.names = list(row)
        self.lines += 1
        if len(self.rows) < SHOWN:
            self.rows.append([_cut(row.get(name)) for name in self.names])
        self._collect_values(row)
        body = self.mapping.body(row, self.contract)
        custom_id = self.mapping.custom_id(row, self.lines)
        if len(self.requests) < REQUESTS:
            told = json.dumps({ID: custom_id, "body": body}, ensure_ascii=False, indent=1)
            self.requests.append(_cut(told, LONGEST_REQUEST))
        self.faults.check_row(number, row, body, self.mapping, custom_id)

    def _collect_values(self, row: Row) -> None:
        for one in self.contract.form:
            cell = row.get(self.mapping.columns.get(one.name, ""))
            seen = self.cells.setdefault(one.name, {})
            if one.choices and cell and len(seen) <= MOST_VALUES and len(str(cell)) < LONG_CELL:
                seen[str(cell)] = None

    @property
    def preview(self) -> TablePreview:
        told = {name: list(some) for name, some in self.cells.items() if len(some) <= MOST_VALUES}
        return TablePreview(
            self.mapping,
            self.names,
            self.rows,
            self.requests,
            self.faults,
            self.lines,
            self.complete,
            told,
        )


def _cut(value: Any, most: int = 120) -> str:
    said = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return said if len(said) <= most else f"{said[:most]}…"
