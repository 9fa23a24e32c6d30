"""Scores many rows. No row is lost or scored twice. Up to 1,000 rows are sent in one call, more
rows as a batch. If the service rejects invalid rows, the valid rows are sent again without them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import BinaryIO, Literal

from touchstone_client._async.api import AsyncApi
from touchstone_client._async.handles import AsyncBatch
from touchstone_client._async.resources import AsyncBatches, endpoint_of
from touchstone_client._lines import line_of
from touchstone_client._progress import Progress
from touchstone_client._tables import Framed, Listed, Outcome, TableRow, outcome_of
from touchstone_client._wire import METRICS, OTHERS, encoded, job_of
from touchstone_client.errors import (
    ApiError,
    BadRequest,
    BatchFailed,
    JobCancelled,
    NotFound,
    RateLimited,
    TouchstoneError,
)

Via = Literal["auto", "calls", "batch"]
OnError = Literal["keep", "raise"]
MOST_A_CALL = 1_000
MOST_CALL_BYTES = 8_388_608
MOST_A_BATCH = 50_000
MOST_BATCH_BYTES = 180_000_000
ROW_POINTER = re.compile(r"#/requests/(\d+)(/.*)?")
TOO_LARGE = 413


class AsyncMany:
    """Scores the rows of one call of `score_many` and stores the results."""

    def __init__(
        self, api: AsyncApi, metric: str, table: Listed | Framed, on_error: OnError
    ) -> None:
        self._api = api
        self._metric = metric
        self._table = table
        self._on_error = on_error
        self._progress = Progress()
        self._done = 0

    async def run(self, via: Via, progress: Progress) -> None:
        """Score all rows and store the results. `via` says how the rows are sent."""
        self._progress = progress
        rows = self._table.rows()
        first = list(islice(rows, MOST_A_CALL + 1)) if via == "auto" else []
        if via == "batch" or len(first) > MOST_A_CALL or self._metric in OTHERS:
            await self._by_batches(chain(first, rows))
        else:
            for several in chunks(chain(first, rows), MOST_A_CALL, MOST_CALL_BYTES):
                await self._by_call(several)

    def _add(self, index: int, outcome: Outcome, job_id: str | None = None) -> None:
        if self._on_error == "raise" and isinstance(outcome, TouchstoneError):
            raise outcome
        self._table.add(index, outcome, job_id)
        self._done += 1

    async def _by_call(self, rows: list[TableRow]) -> None:
        """Score these rows in one call and skip faulty rows. If the rows are too many or too large,
        split them into two calls."""
        while rows:
            try:
                ids = await self._accepted(rows)
            except (BadRequest, RateLimited) as error:
                if len(rows) > 1 and is_too_much(error):
                    await self._by_call(rows[: len(rows) // 2])
                    await self._by_call(rows[len(rows) // 2 :])
                    return
                rows = self._without_faulty(rows, error)
                continue
            indices = dict(zip(ids, (row.index for row in rows), strict=True))
            async for document in self._api.ended_jobs(ids):
                job = job_of(document)
                self._add(indices[job.id], outcome_of(job) or JobCancelled(job.id), job.id)
                self._progress.reach(self._done)
            return
        self._progress.reach(self._done)

    async def _accepted(self, rows: list[TableRow]) -> list[str]:
        try:
            answer = await self._api.post(
                "/v1/scores:batchCreate",
                {"metric": self._metric, "requests": [row.fields for row in rows]},
                patience=self._api.patience,
            )
        except BadRequest as error:
            if self._metric in METRICS or [fault.pointer for fault in error.errors] != ["#/metric"]:
                raise
            problem = {**error.problem, "title": f"there is no metric {self._metric!r}"}
            raise NotFound(404, problem, error.request_id) from None
        return [job["id"] for job in json.loads(answer.body)["data"]]

    def _without_faulty(self, rows: list[TableRow], error: ApiError) -> list[TableRow]:
        """Return the valid rows and store the errors of the others. Raise an error that does not
        refer to rows."""
        faulty = faults_by_row(error)
        if not faulty:
            raise error
        for number, refusal in faulty.items():
            self._add(rows[number].index, refusal)
        return [row for number, row in enumerate(rows) if number not in faulty]

    async def _by_batches(self, rows: Iterable[TableRow]) -> None:
        for content in files(rows, endpoint_of(self._metric)):
            left: BinaryIO | None = content
            while left is not None:
                with left:
                    left = await self._by_batch(left)

    async def _by_batch(self, content: BinaryIO) -> BinaryIO | None:
        """Score a file as a batch. If the service rejects some lines, return a file of the
        remaining lines, otherwise None."""
        before = self._done
        batch = await AsyncBatches(self._api).create(content, self._metric)
        try:
            await batch.wait(progress=lambda done, _: self._progress.reach(before + done))
        except BatchFailed as error:
            refused = {line: reason for line, reason in error.faults if line}
            if not refused:
                raise
            return self._refuse(content, refused)
        await self._collect(batch)
        return None

    async def _collect(self, batch: AsyncBatch) -> None:
        async for line in batch.results():
            job_id = None if line.job is None else line.job.id
            self._add(int(line.custom_id), line.result, job_id)
        async for line in batch.failures():
            job_id = None if line.job is None else line.job.id
            error = line.error or JobCancelled(job_id or batch.id)
            self._add(int(line.custom_id), error, job_id)
        self._progress.reach(self._done)

    def _refuse(self, content: BinaryIO, refused: dict[int, str]) -> BinaryIO | None:
        """Store the errors of these lines and return a file of the other lines. Return None if no
        line is left."""
        content.seek(0)
        with ExitStack() as stack:
            valid = stack.enter_context(TemporaryFile())
            for number, raw in enumerate(content, 1):
                if number in refused:
                    problem = {"type": "invalid-line", "detail": refused[number]}
                    self._add(int(json.loads(raw)["custom_id"]), BadRequest(422, problem))
                else:
                    valid.write(raw)
            if not valid.tell():
                self._progress.reach(self._done)
                return None
            stack.pop_all()
        return valid


def is_too_much(error: ApiError) -> bool:
    """Return True if the error means that fewer rows at once might be accepted: the request was too
    large, or too many jobs are open."""
    full = isinstance(error, RateLimited) and "open-jobs" in error.policies
    return full or error.status == TOO_LARGE


def faults_by_row(error: ApiError) -> dict[int, BadRequest]:
    """Return the errors of a call by the index of the row."""
    by_row: dict[int, list[dict[str, str]]] = {}
    for fault in error.errors:
        if match := ROW_POINTER.fullmatch(fault.pointer):
            fault_of_row = {"detail": fault.detail, "pointer": f"#{match[2] or ''}"}
            by_row.setdefault(int(match[1]), []).append(fault_of_row)
    return {
        row: BadRequest(error.status, _own_problem(error, faults), error.request_id)
        for row, faults in by_row.items()
    }


def _own_problem(error: ApiError, faults: list[dict[str, str]]) -> dict[str, object]:
    detail = "; ".join(
        f"{fault['detail']} (at {fault['pointer'].removeprefix('#')})" for fault in faults
    )
    rest = {name: value for name, value in error.problem.items() if name != "error"}
    return {**rest, "detail": detail, "errors": faults}


def chunks(rows: Iterable[TableRow], most: int, most_bytes: int) -> Iterator[list[TableRow]]:
    """Yield the rows in groups of at most `most` rows and `most_bytes` bytes, in order."""
    several: list[TableRow] = []
    size = 0
    for row in rows:
        length = len(encoded(row.fields))
        if several and (len(several) >= most or size + length > most_bytes):
            yield several
            several, size = [], 0
        several.append(row)
        size += length
    if several:
        yield several


def files(rows: Iterable[TableRow], endpoint: str) -> Iterator[BinaryIO]:
    """Yield batch files made from the rows. The custom_id of a line is the row's index. Only one
    row is in memory at a time."""
    with ExitStack() as stack:
        file = stack.enter_context(TemporaryFile())
        count = 0
        for row in rows:
            if count >= MOST_A_BATCH or file.tell() >= MOST_BATCH_BYTES:
                yield file
                file, count = stack.enter_context(TemporaryFile()), 0
            file.write(encoded(line_of(str(row.index), endpoint, row.fields)) + b"\n")
            count += 1
        if count:
            yield file
