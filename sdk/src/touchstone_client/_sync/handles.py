# Made by sdk/generate.py from _async/handles.py; do not edit.
"""Jobs and batches as objects that can be waited for, watched and cancelled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from touchstone_client._sync.api import Api, StreamLost, unseen
from touchstone_client._base import Answered, JobMessage
from touchstone_client._http import Answer, Request
from touchstone_client._lines import BatchLine, answer_of
from touchstone_client._messages import models
from touchstone_client._progress import Progressing, progress_of
from touchstone_client._wire import (
    BATCH_ENDED,
    DETAILS,
    ENDED,
    MOST_WAIT_SECONDS,
    NOTHING,
    Fields,
    job_of,
)
from touchstone_client.data.addresses import Form, Place, created, target_form
from touchstone_client.data.scores import as_table, copied
from touchstone_client.errors import BatchFailed, JobCancelled, JobFailed

if TYPE_CHECKING:
    BatchFields = models.Batch
else:
    BatchFields = object

R = TypeVar("R")
SPLIT = b"\n"


class Job(Generic[R]):
    """A job, with its fields as of the last call. R is the type of its result."""

    def __init__(self, api: Api, data: JobMessage, sent: Fields = NOTHING) -> None:
        self._api = api
        self._sent = sent
        self.data = data

    @property
    def id(self) -> str:
        """The job's id: `job_` and 32 hexadecimal digits."""
        return self.data.id

    @property
    def metric(self) -> str:
        """The name of the job's metric. For other jobs it is `inference`, `similarity`, or a
        metric's name followed by `-report`."""
        return self.data.metric

    @property
    def status(self) -> str:
        """The job's status: queued, running, succeeded, failed or cancelled."""
        return self.data.status

    @property
    def is_final(self) -> bool:
        """Return True if the job has ended."""
        return self.data.status in ENDED

    @property
    def batch_id(self) -> str | None:
        """The id of the job's batch."""
        return self.data.batch_id

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the request."""
        return self.data.metadata

    @property
    def created_at(self) -> int:
        """The Unix time at which the job was created."""
        return self.data.created_at

    @property
    def started_at(self) -> int | None:
        """The Unix time at which the job was started."""
        return self.data.started_at

    @property
    def finished_at(self) -> int | None:
        """The Unix time at which the job ended."""
        return self.data.finished_at

    @property
    def verdict(self) -> str | None:
        """The verdict of the result: holds_up, problem_found or not_tested."""
        return cast("str | None", self._summarised("verdict"))

    @property
    def score(self) -> float | None:
        """The score of the result, or the mean of a report. None if it is undefined."""
        score = self._summarised("score")
        return cast("float | None", getattr(score, "value", score))

    @property
    def decision(self) -> str | None:
        """The decision that is explained, as sent. In items of `jobs.list`, it may also be the
        decision that the explanation states."""
        sent = (self.request or {}).get("decision")
        return cast("str | None", getattr(self.data, "decision", sent))

    @property
    def request(self) -> dict[str, Any] | None:
        """The request with its default values, or None. It is available after `jobs.get` or
        `refresh`, unless the service does not store its texts. Lists do not contain it."""
        return getattr(self.data, "request", None)

    def _summarised(self, name: str) -> Any:
        """Return the named field of the job's summary or, for a complete job, of its result."""
        is_summary = isinstance(self.data, models.JobSummary)
        return getattr(self.data if is_summary else self.data.result, name, None)

    @property
    def result(self) -> R | None:
        """Return the result, or None until the job has succeeded and in summaries of
        `jobs.list`."""
        result: R | None = self.data.result
        if isinstance(result, Answered):
            result._job, result._sent = self, self._sent  # noqa: SLF001 - a result knows its job
        return result

    def refresh(self) -> Job[R]:
        """Ask the service for the job's current state and return the job."""
        answer = self._api.get(f"/v1/jobs/{self.id}", **DETAILS)
        self.data = job_of(json.loads(answer.body))
        return self

    def wait(self, timeout: float | None = None) -> R:
        """Wait for the job to end and return its result. `timeout` is in seconds, or None for no
        limit. Raises JobFailed, JobCancelled, or TimedOut while the job continues."""
        if not self.is_final:
            self.data = job_of(self._api.ended_job(self.id, timeout))
        elif isinstance(self.data, models.JobSummary):
            self.refresh()
        if self.status == "cancelled":
            raise JobCancelled(self.id)
        if self.result is None:
            problem = self.data.error
            fields = problem.model_dump(by_alias=True, exclude_none=True) if problem else {}
            raise JobFailed(self.id, fields, self.data)
        return self.result

    def cancel(self) -> Job[R]:
        """Cancel the job and return it. Raises Conflict if it has ended."""
        answer = self._api.post(f"/v1/jobs/{self.id}/cancel", {})
        self.data = job_of(json.loads(answer.body))
        return self

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the job's events, `{"status", "attempts", "at", …}`, until it has ended."""
        try:
            for event in self._api.events(f"/v1/jobs/{self.id}/events"):
                yield json.loads(event.data)
        except StreamLost:
            yield self._api.ended_job(self.id, None)

    def __repr__(self) -> str:
        return f"<{self.metric} job {self.id}: {self.status}>"

    def _repr_html_(self) -> str:
        from touchstone_client import _notebook

        return _notebook.job_html(self.data)


class Batch(BatchFields):
    """A batch: many requests in one file. It has the fields of `models.Batch` as of the last
    call."""

    data: models.Batch

    def __init__(self, api: Api, value: Fields) -> None:
        self._api = api
        self.data = models.Batch.model_validate(value)

    def __getattr__(self, name: str) -> Any:
        if name == "data":  # a copy that is not complete yet
            raise AttributeError(name)
        return getattr(self.data, name)

    def __repr__(self) -> str:
        counts = self.request_counts
        done = f"{counts.completed + counts.failed} of {counts.total} answered"
        return f"<{self.metric} batch {self.id}: {self.status}, {done}>"

    @property
    def is_final(self) -> bool:
        """Return True if the batch has ended."""
        return self.status in BATCH_ENDED

    @property
    def faults(self) -> list[tuple[int, str]]:
        """Return the errors in the batch's input file as (line, message). Line 0 stands for the
        file as a whole."""
        return [
            (error.line or 0, _sentence_of(error))
            for error in (self.errors.data if self.errors else [])
        ]

    def refresh(self) -> Batch:
        """Ask the service for the batch's current state and return the batch."""
        return self._updated(json.loads((self._api.get(f"/v1/batches/{self.id}")).body))

    def wait(
        self, timeout: float | None = None, *, progress: Progressing = True
    ) -> Batch:
        """Wait for the batch to end and return it. `timeout` is in seconds, or None for no limit.
        Raises BatchFailed for an invalid file, or TimedOut while the batch continues."""
        with progress_of(progress, self.request_counts.total or None) as shown:

            def see(batch: Fields) -> None:
                counts = batch.get("request_counts") or {}
                shown.reach(
                    counts.get("completed", 0) + counts.get("failed", 0), counts.get("total")
                )

            document = self._api.ended_batch(self.id, timeout, see)
        self._updated(document)
        if self.status == "failed":
            raise BatchFailed(self.id, self.faults)
        return self

    def cancel(self) -> Batch:
        """Cancel the batch and return it. Running jobs may still end. Raises Conflict if the batch
        has ended."""
        answer = self._api.post(f"/v1/batches/{self.id}/cancel", {})
        return self._updated(json.loads(answer.body))

    def events(self) -> Iterator[models.Batch]:
        """Yield the batch at each change until it has ended."""
        try:
            for event in self._api.events(f"/v1/batches/{self.id}/events"):
                yield models.Batch.model_validate_json(event.data)
        except StreamLost:
            last = self._api.ended_batch(self.id, None, unseen)
            yield models.Batch.model_validate(last)

    def results(self) -> Iterator[BatchLine]:
        """Yield the lines that have a result."""
        if self.output_file_id is not None:
            for raw in _lines(self._api, self.output_file_id):
                yield answer_of(raw)

    def failures(self) -> Iterator[BatchLine]:
        """Yield the lines without a result, each with its error."""
        if self.error_file_id is not None:
            for raw in _lines(self._api, self.error_file_id):
                yield answer_of(raw)

    def save(self, target: Place, *, form: Form | None = None) -> int:
        """Save all results to a file or fsspec URL and return their number.

        The format follows from the file's name unless `form` is set. CSV, TSV, Parquet and Arrow
        have one row per line, including lines without a result. JSON Lines have only lines with a
        result. Raises ValueError for an unknown ending.
        """
        form = form or target_form(target)
        file_ids = [self.output_file_id, *([] if form == "jsonl" else [self.error_file_id])]
        with TemporaryFile() as lines:
            for file_id in filter(None, file_ids):
                for raw in _lines(self._api, file_id):
                    lines.write(raw.rstrip(SPLIT) + SPLIT)
            with created(target) as written:
                return copied(lines, written) if form == "jsonl" else as_table(lines, written, form)

    def report(self, timeout: float | None = None) -> Any:
        """Return the metric's report, a `BatchReport`. Raises Conflict if the batch has no results,
        JobFailed, TimedOut."""
        return report_at(self._api, f"/v1/batches/{self.id}/report", timeout)

    def report_html(self, timeout: float | None = None) -> str:
        """Return the report as one HTML file, with plots and the input lines with the worst
        results."""
        return (self._shown("text/html", timeout)).decode()

    def plot(self, name: str, *, format: str = "svg", timeout: float | None = None) -> bytes:
        """Return one of the report's plots. `format` is svg or png. Raises NotFound, TimedOut."""
        kind = {"svg": "image/svg+xml", "png": "image/png"}[format]
        return self._shown(kind, timeout, plot=name)

    def _shown(self, kind: str, timeout: float | None, **params: str) -> bytes:
        """Create the report if necessary, and return it in this media type."""
        self.report(timeout)
        path, headers = f"/v1/batches/{self.id}/report", {"Accept": kind}
        request = Request("GET", path, params=params, headers=headers)
        answer: Answer = self._api.ask(request)
        return answer.body

    def items_csv(self) -> str:
        """Return all lines as CSV, with the numbers of their results."""
        path, headers = f"/v1/batches/{self.id}/report", {"Accept": "text/csv"}
        answer: Answer = self._api.ask(Request("GET", path, headers=headers))
        return answer.body.decode()

    def _updated(self, fields: Fields) -> Batch:
        self.data = models.Batch.model_validate(fields)
        return self


def _sentence_of(fault: models.BatchFault) -> str:
    return f"{fault.message} (at {fault.param})" if fault.param else fault.message


def _lines(api: Api, file_id: str) -> Iterator[bytes]:
    """Yield the lines of a file. Only one line is in memory at a time."""
    rest = b""
    with api.open(Request("GET", f"/v1/files/{file_id}/content")) as stream:
        for piece in stream.pieces():
            *whole, rest = (rest + piece).split(SPLIT)
            for line in filter(bytes.strip, whole):  # blank: deleted at request
                yield line
    if rest.strip():
        yield rest


def report_at(api: Api, path: str, timeout: float | None) -> Any:
    """Create a report with a POST request to this path, and return it."""
    answer = api.post(path, {}, wait=MOST_WAIT_SECONDS, patience=api.patience)
    return Job[Any](api, job_of(json.loads(answer.body))).wait(timeout)
