"""The preview of an uploaded table: its column mapping, first rows, first requests, and errors.
Equal errors are listed once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services import registry
from services.gateway.batch_csv import RESULT_COLUMNS, is_exported
from services.gateway.batch_input import Line
from services.gateway.http_requests import OWN_KEY
from services.gateway.state import State
from services.gateway.table_mapping import (
    Row,
    TableError,
    TableMapping,
    guess_metadata,
    has_few_values,
    pause_between,
    rows_of,
)
from shared.contracts.column_names import ID, SYNONYMS, guess_columns, plain_name
from shared.contracts.elicitation import is_needed
from shared.contracts.fields import field_paths
from shared.contracts.problems import parse_strict, validation_problem
from shared.contracts.redaction import repeats
from shared.contracts.service import MetricContract
from shared.ledger.erasure import TABLE
from shared.ledger.files import File

MOST_KINDS = 20  # of faults that are told
LONGEST_ID = 256  # characters, as the lines of a batch have it
SHORTEST = 12  # characters of a cell that a sentence of ours does not hold by chance
INSTEAD = "keep that column as metadata, and use another column or none as custom id"
MOST_TOLD = 20  # lines that were left out
SHOWN, REQUESTS = 20, 3
TRIED = 50  # rows whose cells tell whether a column is a field
GUESSED_FROM, GUESSED_FROM_CHARACTERS = 500, 1_000_000  # rows, and what they hold
CHECK_SECONDS = 2.0
LONGEST_REQUEST = 4_000  # characters that are shown
LONG_CELL = 40  # characters: longer ones are no label
VALUES_OF = "Values of "  # begins the heading of what each value of a column means
MOST_VALUES = 8  # of a column whose cells are mapped one by one
Pair = tuple[str, str]


@dataclass
class CustomIds:
    """Checks that the ids given by the caller (custom ids) are unique in a batch."""

    seen: set[str] = field(default_factory=set)

    def fault(self, custom_id: str) -> str:
        """Return why this id is invalid. If it is valid, remember it and return an empty string."""
        if len(custom_id) > LONGEST_ID:
            return f"custom_id: it is longer than {LONGEST_ID} characters; {INSTEAD}"
        if custom_id in self.seen:
            return f"custom_id: an earlier line has the same value; {INSTEAD}"
        self.seen.add(custom_id)
        return ""


@dataclass
class TableFaults:
    """The errors found so far in a table.

    `models` are the configured models. `missing` lists required fields without a column. `lines`
    counts invalid lines. `by_kind` maps an error to its first line and its number of lines.
    `quoting` holds errors that may repeat a cell; these are blurred. `is_broken` means that the
    rest of the file is unreadable.
    """

    contract: MetricContract
    models: Collection[str]
    missing: dict[str, None] = field(default_factory=dict)
    lines: int = 0
    by_kind: dict[str, tuple[int, int]] = field(default_factory=dict)
    quoting: set[str] = field(default_factory=set)
    is_broken: bool = False
    ids: CustomIds = field(default_factory=CustomIds)

    def __bool__(self) -> bool:
        return bool(self.missing or self.lines)

    def check_row(
        self, number: int, row: Row, body: dict[str, Any], how: TableMapping, custom_id: str
    ) -> None:
        """Check the next row. `number` is its line in the file, and `body` is the request made from
        it."""
        error = validation_error(self.contract, body)
        reason = unknown_model(body, self.models) or self.ids.fault(custom_id)
        if error is None:
            if reason:
                self._count(number, reason)
            return
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        absent = [
            str(fault["loc"][0])
            for fault in errors
            if fault["type"] == "missing" and len(fault["loc"]) == 1
        ]
        if any(name not in how.columns for name in absent):
            request = self.contract.request
            needed = [name for name in request.model_fields if is_needed(request, name)]
            unmapped = [name for name in (*needed, *absent) if name not in how.columns]
            self.missing |= dict.fromkeys(unmapped)
        else:
            name, said = named_fault(error, body, self.contract)
            column = how.columns.get(name) or how.columns.get(name.partition(".")[0])
            quoted = said if VALUES_OF in said else f"{said}{_cell(row, column)}"
            if quoted not in self.by_kind and repeats(
                quoted,
                [cell for cell in row.values() if isinstance(cell, str) and len(cell) >= SHORTEST],
            ):
                self.quoting.add(quoted)
            self._count(number, quoted)

    def add(self, fault: TableError) -> None:
        """Add the error that was found in a line."""
        self._count(fault.line, fault.reason)

    def _count(self, number: int, reason: str) -> None:
        self.lines += 1
        if reason in self.by_kind or len(self.by_kind) < MOST_KINDS:
            first, count = self.by_kind.get(reason, (number, 0))
            self.by_kind[reason] = first, count + 1


def validation_error(contract: MetricContract, body: dict[str, Any]) -> ValidationError | None:
    """Return the validation error of a request, or None if it is valid."""
    try:
        parse_strict(contract.request, json.dumps(body), body)
    except ValidationError as error:
        return error
    return None


def unknown_model(body: Mapping[str, Any], models: Collection[str]) -> str:
    """Return an error message if the request's model is unknown, otherwise an empty string."""
    if "model" not in body or body["model"] in models:
        return ""
    return (
        "model: this model is not configured. If the column names the model that decided, keep it "
        f"as metadata. Configured models: {', '.join(sorted(models)) or 'none'}"
    )


def named_fault(
    error: ValidationError, body: dict[str, Any], contract: MetricContract
) -> tuple[str, str]:
    """Return the path of the invalid field, at most two levels deep, and the error message in words
    for a table."""
    first = validation_problem(error, body)["errors"][0]
    place, detail = first["pointer"].lstrip("#/"), first["detail"]
    value = body.get(place)
    has_choices = any(field.name == place and field.choices for field in contract.form)
    if value is None and place in contract.request.model_fields:
        detail = "the cell is empty"
    elif has_choices and len(str(value)) < LONG_CELL:
        detail = f"choose under “{VALUES_OF}{place}” what {value} means, or choose another column"
    return ".".join(place.split("/")[:2]), f"{place}: {detail}"


def _cell(row: Row, column: str | None) -> str:
    """Return the type of a cell's value in words, never the value itself. Return "" for an empty
    cell."""
    value = None if column is None else row.get(column)
    return "" if value is None or value == "" else f" (the cell holds {_kind(value)})"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int | float):
        return "a number"
    try:
        float(value)
    except ValueError:
        return "a text"
    return "a number"


def read_preview(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[Pair]
) -> TablePreview:
    """Read the first rows of a file, for at most two seconds. This blocks the thread."""
    until = time.monotonic() + CHECK_SECONDS
    mapping = _read_mapping(gateway, file, contract, sent)
    seen = TablePreview(contract, mapping, model_names(gateway))
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
    return seen


def model_names(gateway: State) -> list[str]:
    """Return the names of the configured models."""
    return [entry.name for entry in gateway.catalogue.entries]


def _rows_of_batch(gateway: State, file: File) -> Iterator[tuple[int, Row]]:
    """Yield (line of the file, row), at most as many as a batch may have. Raises TableError for a
    line that is not a valid row, and for the first line above the limit."""
    most = gateway.settings.max_batch_lines
    with gateway.files.open_read(file.id, size=file.bytes) as stream:
        for count, (number, row) in enumerate(pause_between(rows_of(stream)), 1):
            if count > most:
                raise TableError(number, f"a batch may have at most {most:,} lines")
            yield number, row


def upload_key(file: File, sent: Sequence[tuple[str, str]], *, skips: bool) -> str:
    """Return a key that identifies a file with its column mapping. If the table was already scored,
    the key finds that batch."""
    mapping = json.dumps([sorted(pair for pair in sent if pair[0] != "keep"), skips])
    return f"{OWN_KEY} table {file.id} {hashlib.sha256(mapping.encode()).hexdigest()}"


@dataclass
class TableLines:
    """The lines of a batch, read from an uploaded table. `skips` leaves out invalid lines.
    `is_private` means that the texts must not be stored."""

    gateway: State
    file: File
    contract: MetricContract
    sent: Sequence[Pair]
    skips: bool
    is_private: bool = False

    def read(self, metadata: dict[str, str]) -> Iterator[Line]:
        """Yield the valid lines, then record the skipped lines in `metadata`. Raises TableError if
        no line is valid. If invalid lines are not skipped, the first invalid line raises
        TableError."""
        mapping = _read_mapping(self.gateway, self.file, self.contract, self.sent)
        ids, left_out, count = CustomIds(), list[int](), 0
        models = model_names(self.gateway)
        for count, (number, row) in enumerate(_rows_of_batch(self.gateway, self.file), 1):
            body, custom_id = mapping.body(row, self.contract), mapping.custom_id(row, count)
            error = validation_error(self.contract, body)
            fault = unknown_model(body, models) or ids.fault(custom_id)
            fault = named_fault(error, body, self.contract)[1] if error else fault
            if not fault:
                self.is_private |= bool(body.get("do_not_store_text"))
                yield custom_id, body
            elif self.skips:
                left_out.append(number)
            else:
                raise TableError(number, fault)
        if count == len(left_out):
            raise TableError(1, "the table has no rows")
        if left_out:
            first = ", ".join(map(str, left_out[:MOST_TOLD]))
            more = "" if len(left_out) <= MOST_TOLD else " …"
            metadata["left_out"] = f"{len(left_out)} lines of the file: {first}{more}"
        if not self.is_private:
            metadata[TABLE] = self.file.id


def _read_mapping(
    gateway: State, file: File, contract: MetricContract, sent: Sequence[Pair]
) -> TableMapping:
    """Return the column mapping from the address or the form. If they have none, return a guess."""
    is_told = any(name.startswith("c.") for name, _ in sent)
    rows = _first_rows(gateway, file, 1 if is_told else GUESSED_FROM)
    names = list(rows[0]) if rows else []
    columns = {name[2:]: value for name, value in sent if name.startswith("c.") and value in names}
    metadata = [value for name, value in sent if name == "m" and value in names]
    if not is_told:
        if is_exported(names):
            names = [name for name in names if name not in RESULT_COLUMNS]
        labels = {field.name for field in contract.form if field.choices}
        guessed = guess_columns(field_paths(contract.request), names)
        wrong = _invalid_fields(TableMapping(guessed), rows[:TRIED], contract, gateway)
        wrong -= {ID, *SYNONYMS, *(field.name for field in contract.form)}
        columns = {
            name: column
            for name, column in guessed.items()
            if name.partition(".")[0] not in wrong
            and (
                name not in labels
                or plain_name(column) == name
                or has_few_values([row.get(column) for row in rows], MOST_VALUES)
            )
        }
        metadata = metadata or guess_metadata(names, rows, columns.values())
    values: dict[str, dict[str, str]] = {}
    for name, value in sent:
        field_name, _, cell = name[2:].partition(".")
        if name.startswith("v.") and value and field_name in columns:
            values.setdefault(field_name, {})[cell] = value
    of_all = {
        name[2:]: value.strip()
        for name, value in sent
        if name[:2] == "k." and value.strip() and name[2:] in contract.request.model_fields
    }
    return TableMapping(columns, values, list(dict.fromkeys(metadata)), of_all)


def _invalid_fields(
    mapping: TableMapping, rows: Sequence[Row], contract: MetricContract, gateway: State
) -> set[str]:
    models, invalid = model_names(gateway), set[str]()
    for row in rows:
        body = mapping.body(row, contract)
        error = validation_error(contract, body)
        if unknown_model(body, models):
            invalid.add("model")
        for fault in error.errors(include_url=False) if error else ():
            invalid.update(map(str, fault["loc"][:1]))
    return invalid


def _first_rows(gateway: State, file: File, most: int) -> list[Row]:
    """Return the first rows, up to the first line that is not a valid row."""
    rows: list[Row] = []
    size = 0
    with gateway.files.open_read(file.id, size=file.bytes) as stream:
        try:
            for _, row in pause_between(rows_of(stream)):
                size += sum(len(cell) for cell in row.values() if isinstance(cell, str))
                rows.append(row)
                if len(rows) == most or size > GUESSED_FROM_CHARACTERS:
                    break
        except TableError:
            pass  # whoever reads all of them says so
    return rows


@dataclass
class TablePreview:
    """The first rows of an uploaded table as requests. `complete` means that every line was
    read. `undecided` counts lines with an empty cell in the column of the decision."""

    contract: MetricContract
    mapping: TableMapping
    models: Collection[str]
    undecided: int = 0
    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    lines: int = 0
    complete: bool = True
    faults: TableFaults = field(init=False)

    def __post_init__(self) -> None:
        self.faults = TableFaults(self.contract, self.models)
        self._cells: dict[str, dict[str, None]] = {field.name: {} for field in self.contract.form}

    @property
    def cells(self) -> dict[str, list[str]]:
        """Return the column values of each field that has choices or only few different values."""
        return {
            name: list(cells) for name, cells in self._cells.items() if len(cells) <= MOST_VALUES
        }

    @property
    def third_classes(self) -> list[str]:
        """Return the decisions of the requests that are neither hateful nor non-hateful."""
        find = getattr(registry.page(self.contract.name), "third_classes", None)
        meanings = self.mapping.values.get("decision", {})
        words = dict.fromkeys(meanings.get(cell, cell) for cell in self.cells.get("decision", ()))
        found: list[str] = [] if find is None else find(list(words))
        return found

    @property
    def plain(self) -> set[str]:
        """Return the names of columns that the preview shows without blurring: short ids, labels
        and metadata."""
        fields = [ID, *(field.name for field in self.contract.form if field.choices)]
        columns = {self.mapping.columns.get(name) for name in fields} | {*self.mapping.metadata}
        return {
            name
            for place, name in enumerate(self.names)
            if name in columns and all(len(row[place]) <= LONG_CELL for row in self.rows)
        }

    def add_row(self, number: int, row: Row) -> None:
        if not self.lines:
            self.names = list(row)
        self.lines += 1
        if len(self.rows) < SHOWN:
            self.rows.append([_cut(row.get(name)) for name in self.names])
        for entry in self.contract.form:
            cell = row.get(self.mapping.columns.get(entry.name, ""))
            seen = self._cells[entry.name]
            if entry.choices and cell and len(seen) <= MOST_VALUES and len(str(cell)) < LONG_CELL:
                seen[str(cell)] = None
        body = self.mapping.body(row, self.contract)
        self.undecided += "decision" in self.mapping.columns and "decision" not in body
        custom_id = self.mapping.custom_id(row, self.lines)
        if len(self.requests) < REQUESTS:
            text = json.dumps({ID: custom_id, "body": body}, ensure_ascii=False, indent=1)
            self.requests.append(_cut(text, LONGEST_REQUEST))
        self.faults.check_row(number, row, body, self.mapping, custom_id)


def _cut(value: Any, most: int = 120) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}…"
