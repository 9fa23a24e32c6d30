"""Conversion of table rows to requests, and of results to table columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from os import PathLike
from typing import Any

from pydantic import BaseModel

from touchstone_client._base import Answered, JobMessage
from touchstone_client._wire import Fields, fields_of
from touchstone_client.data.frames import Frame
from touchstone_client.data.mapping import ColumnMapping, Columns
from touchstone_client.data.scores import OWN, columns_of
from touchstone_client.errors import JobFailed, TouchstoneError

Outcome = Answered | TouchstoneError
SHOWN = {
    "score",
    "verdict",
    "reason",
    "checks",
    "warnings",
    "components",
    "elicitation",
    "scores",
    "unscored",
}
PREFIX = "touchstone."  # of a column of ours whose name the table has already


@dataclass(frozen=True)
class TableRow:
    """A request, with the index of its row."""

    index: int
    fields: dict[str, Any]


class Scores(list[Outcome]):
    """The results in the order of the requests. A request without a result has its error
    instead."""

    def _repr_html_(self) -> str:
        from touchstone_client import _notebook

        return _notebook.scores_html(self)


class Listed:
    """The requests of an iterable passed to `score_many`, and the list that collects their
    results."""

    def __init__(self, data: Iterable[Fields | BaseModel], columns: Columns | None) -> None:
        is_one = isinstance(data, str | bytes | PathLike | Mapping | BaseModel)
        if is_one or type(data).__name__ == "Series" or not isinstance(data, Iterable):
            raise TypeError(
                "score_many accepts a DataFrame or an iterable of requests, not "
                f"{type(data).__name__}; use batches.create for a file"
            )
        self._data = data
        self._columns = columns
        self._outcomes: dict[int, Outcome] = {}
        self.total = len(data) if isinstance(data, Sized) else None

    def rows(self) -> Iterator[TableRow]:
        for index, request in enumerate(self._data):
            if not isinstance(request, Mapping | BaseModel):
                raise TypeError(f"row {index} is not a request but {type(request).__name__}")
            if self._columns is None:
                yield TableRow(index, fields_of(request, {}))
            else:
                yield TableRow(index, ColumnMapping(self._columns).request(fields_of(request, {})))

    def add(self, index: int, outcome: Outcome, job_id: str | None) -> None:
        self._outcomes[index] = outcome

    def finished(self) -> Scores:
        """Return all results in order. Raises KeyError if one is missing."""
        return Scores(self._outcomes[index] for index in range(len(self._outcomes)))


class Framed:
    """Requests from the rows of a table. Their results become columns of a new table of the same
    kind."""

    def __init__(self, frame: Frame, metric: str, columns: Columns | None) -> None:
        self._frame = frame
        self._mapping = ColumnMapping.of(columns, metric, frame.names)
        if self._mapping.guessed:
            guesses = ", ".join(
                f"{field} is {name}" for field, name in self._mapping.guessed.items()
            )
            warnings.warn(
                f"the columns were guessed: {guesses}; set `columns` to the right ones",
                stacklevel=4,
            )
        self._columns_of_results: dict[str, list[Any]] = {
            name: [None] * frame.length for name in OWN
        }
        self.total: int | None = frame.length

    def rows(self) -> Iterator[TableRow]:
        for index, row in enumerate(self._frame.rows(self._mapping.needed)):
            yield TableRow(index, self._mapping.request(row))

    def add(self, index: int, outcome: Outcome, job_id: str | None) -> None:
        for name, value in flat(outcome, job_id).items():
            column = self._columns_of_results.setdefault(name, [None] * self._frame.length)
            column[index] = value

    def finished(self) -> Any:
        """Return a new table with the original columns and the results."""
        parts = [name for name in self._columns_of_results if name not in OWN]
        names = ["score", *parts, *OWN[1:]]
        existing = set(self._frame.names)
        ours = {
            PREFIX + name if name in existing else name: self._columns_of_results[name]
            for name in names
        }
        return self._frame.extended(ours)


def flat(outcome: Outcome, job_id: str | None) -> dict[str, Any]:
    """Return the new columns of one row: the result's single values and score components, or the
    error."""
    if isinstance(outcome, TouchstoneError):
        id_of_job = job_id or (outcome.job_id if isinstance(outcome, JobFailed) else None)
        return {"job_id": id_of_job, "error": str(outcome)}
    shown = outcome.model_dump(mode="json", include=SHOWN)
    return {**columns_of(shown), "job_id": job_id}


def outcome_of(job: JobMessage) -> Outcome | None:
    """Return the result of an ended job, or its error. Return None if the job has neither."""
    if isinstance(job.result, Answered):
        job.result._job = job  # noqa: SLF001 - a result knows its job
        return job.result
    if job.error is not None:
        return JobFailed(job.id, job.error.model_dump(by_alias=True, exclude_none=True), job)
    return None
