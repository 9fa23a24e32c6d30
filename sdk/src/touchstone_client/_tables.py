"""Rows in, rows out: a DataFrame's own rows become requests, and results become its columns.

pandas is never imported: a frame brings it along.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from touchstone_client import models
from touchstone_client._base import JobMessage, Result
from touchstone_client._wire import Fields, fields_of
from touchstone_client.errors import JobFailed, TouchstoneError

if TYPE_CHECKING:
    import pandas

Columns = Mapping[str, Any]  # field -> column, {"column", "values"} or {"value"}; metadata: columns
Outcome = Result | TouchstoneError
OWN = ("score", "verdict", "reason", "warnings", "job_id", "error")
PARTS = "components."
PREFIX = "touchstone."  # of a column of ours whose name the frame has already


@dataclass(frozen=True)
class Row:
    """One request and its place among all."""

    index: int
    fields: dict[str, Any]


class Scores(list[Outcome]):
    """Results in the order of the requests; where there is none, the error that says why."""

    def _repr_html_(self) -> str:
        from touchstone_client import _notebook

        return _notebook.scores_html(self)


def is_frame(data: object) -> bool:
    """Whether it is a DataFrame of pandas."""
    module = sys.modules.get("pandas")
    return module is not None and isinstance(data, module.DataFrame)


class Listed:
    """Requests out of an iterable; results into a list."""

    def __init__(self, data: Iterable[Fields | BaseModel], columns: Columns | None) -> None:
        self._data = data
        self._columns = columns
        self._outcomes: dict[int, Outcome] = {}
        self.total = len(data) if isinstance(data, Sized) else None

    def rows(self) -> Iterator[Row]:
        for index, one in enumerate(self._data):
            if self._columns is None:
                yield Row(index, fields_of(one, {}))
            else:
                yield Row(index, mapped(fields_of(one, {}), self._columns))

    def add(self, index: int, outcome: Outcome, job_id: str | None) -> None:
        self._outcomes[index] = outcome

    def finished(self) -> Scores:
        """All of them, in order. Raises KeyError where one is missing."""
        return Scores(self._outcomes[index] for index in range(len(self._outcomes)))


class Framed:
    """Requests out of a DataFrame's rows; results into columns of a new one, index kept."""

    def __init__(self, frame: pandas.DataFrame, metric: str, columns: Columns | None) -> None:
        self._frame = frame
        self._columns = own_columns(frame, metric) if columns is None else columns
        self._found: dict[str, list[Any]] = {name: [None] * len(frame) for name in OWN}
        self.total: int | None = len(frame)

    def rows(self) -> Iterator[Row]:
        needed = columns_in(self._columns)
        missing = [name for name in needed if name not in self._frame.columns]
        if missing:
            raise ValueError(f"the frame has no column {', '.join(map(repr, missing))}")
        chosen = (self._frame[name] for name in needed)
        for index, values in enumerate(zip(*chosen, strict=True)):
            row = dict(zip(needed, values, strict=True))
            yield Row(index, mapped(row, self._columns))

    def add(self, index: int, outcome: Outcome, job_id: str | None) -> None:
        for name, value in flat(outcome, job_id).items():
            column = self._found.setdefault(name, [None] * len(self._frame))
            column[index] = value

    def finished(self) -> pandas.DataFrame:
        """The frame's own columns and ours."""
        parts = [name for name in self._found if name not in OWN]
        names = ["score", *parts, *OWN[1:]]
        taken = set(self._frame.columns)
        ours = {PREFIX + name if name in taken else name: self._found[name] for name in names}
        return self._frame.assign(**ours)


def own_columns(frame: pandas.DataFrame, metric: str) -> Columns:
    """Columns that are named as a field of the request."""
    request: type[BaseModel] = getattr(models, f"{metric.capitalize()}Request")
    required = [name for name, one in request.model_fields.items() if one.is_required()]
    found = {name: name for name in request.model_fields if name in frame.columns}
    if missing := [name for name in required if name not in found]:
        raise ValueError(
            f"no column is named {', '.join(missing)}; say which they are: "
            f"columns={{{missing[0]!r}: '…'}}"
        )
    return found


def columns_in(columns: Columns) -> list[str]:
    """Every column that a mapping names, once."""
    named: list[str] = []
    for field, one in columns.items():
        if isinstance(one, Mapping):
            named += [one["column"]] if "column" in one else []
        elif field == "metadata":
            named += one
        else:
            named.append(one)
    return list(dict.fromkeys(named))


def mapped(row: Fields, columns: Columns) -> dict[str, Any]:
    """A request out of a row; an empty cell (None, NaN) is not sent."""
    fields: dict[str, Any] = {}
    for field, one in columns.items():
        if isinstance(one, Mapping):
            value = one["value"] if "value" in one else _translated(row[one["column"]], one)
        elif field == "metadata" and not isinstance(one, str):
            value = {name: str(row[name]) for name in one if not is_empty(row[name])}
        else:
            value = row[one]
        if not is_empty(value):
            fields[field] = value
    return fields


def _translated(cell: Any, one: Mapping[str, Any]) -> Any:
    values = one.get("values")
    if values is None or is_empty(cell):
        return cell
    if cell in values:
        return values[cell]
    return values.get(str(cell), cell)


def is_empty(cell: Any) -> bool:
    """None and NaN; a list never is."""
    return cell is None or (not isinstance(cell, list | dict) and bool(cell != cell))


def flat(outcome: Outcome, job_id: str | None) -> dict[str, Any]:
    """Our columns of one row: scalars, and what parts are scalars."""
    if isinstance(outcome, TouchstoneError):
        known = job_id or (outcome.job_id if isinstance(outcome, JobFailed) else None)
        return {"job_id": known, "error": str(outcome)}
    found = {
        "score": outcome.score,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "warnings": "; ".join(outcome.warnings),
        "job_id": job_id,
    }
    parts = outcome.components
    if isinstance(parts, BaseModel):
        found |= dict(_scalars(parts.model_dump(mode="json"), PARTS))
    return found


def _scalars(parts: Fields, beginning: str) -> Iterator[tuple[str, Any]]:
    for name, value in parts.items():
        if isinstance(value, dict):
            yield from _scalars(value, f"{beginning}{name}.")
        elif not isinstance(value, list):
            yield f"{beginning}{name}", value


def outcome_of(job: JobMessage) -> Outcome | None:
    """The result of an ended job, or its error; None where it has neither."""
    if isinstance(job.result, Result):
        job.result._job = job  # noqa: SLF001 - a result knows its job
        return job.result
    if job.error is not None:
        return JobFailed(job.id, job.error.model_dump(by_alias=True, exclude_none=True), job)
    return None
