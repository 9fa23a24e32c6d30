"""What is wrong with the rows of an uploaded table: equal faults once, with the first line and how
many there are; apart from them, the fields that need a column before anything else can be said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from services.gateway.table_mapping import Row, TableError, TableMapping
from shared.contracts.elicitation import is_needed
from shared.contracts.problems import validation_problem
from shared.contracts.redaction import repeats
from shared.contracts.service import MetricContract

MOST_KINDS = 20  # of faults that are told
LONGEST_ID = 256  # characters, as the lines of a batch have it
SHORTEST = 12  # characters of a cell that a sentence of ours does not hold by chance
INSTEAD = "keep that column as metadata instead, and choose another column or none as custom id"


@dataclass
class CustomIds:
    """Those of the rows so far: each names one line of a batch."""

    seen: set[str] = field(default_factory=set)

    def fault(self, custom_id: str) -> str:
        """What is wrong with one more; empty: nothing."""
        if len(custom_id) > LONGEST_ID:
            return f"custom_id: it is longer than {LONGEST_ID} characters; {INSTEAD}"
        if custom_id in self.seen:
            return f"custom_id: a line before has the same one; {INSTEAD}"
        self.seen.add(custom_id)
        return ""


@dataclass
class TableFaults:
    """Of the rows so far. missing: needed fields that no column is chosen for. lines: that are
    wrong; by_kind: (what is wrong) → the first line and how many have it. quoting: of these, what
    may repeat a cell, and is blurred. is_broken: one cannot be read on behind the last."""

    contract: MetricContract
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
        """One row more. number: its line of the file; body: the row as a request."""
        error, said = validation_error(self.contract, body), self.ids.fault(custom_id)
        if error is None:
            if said:
                self._count(number, said)
            return
        found = error.errors(include_url=False, include_input=False, include_context=False)
        absent = [
            str(one["loc"][0]) for one in found if one["type"] == "missing" and len(one["loc"]) == 1
        ]
        if any(name not in how.columns for name in absent):
            request = self.contract.request
            needed = [one for one in request.model_fields if is_needed(request, one)]
            unmapped = [one for one in (*needed, *absent) if one not in how.columns]
            self.missing |= dict.fromkeys(unmapped)
        else:
            name, said = named_fault(error, body)
            told = f"{said}{_cell(row, how.columns.get(name))}"
            if told not in self.by_kind and repeats(
                told,
                [cell for cell in row.values() if isinstance(cell, str) and len(cell) >= SHORTEST],
            ):
                self.quoting.add(told)
            self._count(number, told)

    def add(self, fault: TableError) -> None:
        """Of a line that is no row."""
        self._count(fault.line, fault.reason)

    def _count(self, number: int, said: str) -> None:
        self.lines += 1
        if said in self.by_kind or len(self.by_kind) < MOST_KINDS:
            first, count = self.by_kind.get(said, (number, 0))
            self.by_kind[said] = first, count + 1


def validation_error(contract: MetricContract, body: dict[str, Any]) -> ValidationError | None:
    """Why it is no request."""
    try:
        contract.request.model_validate_json(json.dumps(body))
    except ValidationError as error:
        return error
    return None


def named_fault(error: ValidationError, body: dict[str, Any]) -> tuple[str, str]:
    """(field, what is wrong with it)."""
    first = validation_problem(error, body)["errors"][0]
    place = first["pointer"].lstrip("#/")
    return place.partition("/")[0], f"{place}: {first['detail']}"


def _cell(row: Row, column: str | None) -> str:
    """What kind of value the cell holds; never the value."""
    if column is None:
        return ""
    value = row.get(column)
    if value is None or value == "":
        return " (the cell is empty)"
    return f" (the cell holds {_kind(value)})"


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
