"""The hierarchy of errors, with the HTTP status of each and its meaning.

ScoringError
├── BadInput             422  the caller must change the request; never retried
│   ├── DegenerateInput  422  valid shape, but the metric is undefined on it
│   ├── ModelUnusable    422  the model's entry or files must be corrected first
│   ├── TooCostly        422  the request exceeds the work allowed for one job
│   │   └── TooManyRows  422  more requests than one job may send to a model's server
│   ├── TextTooLong      422  the text is too long for the model's server
│   ├── AnswerCut        422  the token limit ended a model's reasoning before its answer
│   └── ModelCannot      422  the model lacks a required ability
├── NotThere             404
│   ├── UnknownJob
│   ├── UnknownFile
│   └── UnknownBatch
├── QuotaExceeded        429  the caller has reached a limit; the request may succeed later
├── AttemptsExhausted    503  the job has used all its attempts
├── JobStopped           500  the result is no longer wanted: the computation ends
│   ├── JobCancelled
│   └── DeadlineExceeded
└── Unavailable          503  a model or a store is down or slow; retried with backoff
    ├── FileStoreAway    503  the file store cannot be reached
    │   └── StorageFull  507  there is no space left to write to
    └── ModelNotReady    503  the job waits for its model; this does not count as an attempt"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from contextlib import contextmanager
from typing import Literal

ModelState = Literal["absent", "downloading", "waiting", "loading", "ready", "failed", "away"]


class ScoringError(Exception):
    """An internal error that should not have happened; the log of the service has the details.

    Base class of all errors that we raise on purpose. The first paragraph of a class's
    docstring and `cure`, the advice to the caller, appear in docs/guide/errors.md.
    `pointer` is a JSON pointer into the request; `pointers` has all of them if there are
    several.
    """

    status = 500
    slug = "internal"
    title = "The service failed because of an internal error"
    cure = (
        "Send the request again once. If it fails again, report the `error_id` or `x-request-id` "
        "to the operator."
    )
    retry_after: int | None = None  # seconds after which a retry makes sense

    def __init__(
        self, detail: str, *, pointer: str | None = None, pointers: tuple[str, ...] = ()
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointer = pointer or (pointers[0] if pointers else None)
        self.pointers = pointers


class BadInput(ScoringError):
    """The caller must change the request."""

    status = 422
    slug = "invalid-request"
    title = "The request is not valid"
    cure = "Change the fields listed in `errors`; `/docs` lists the fields of each request."


class DegenerateInput(BadInput):
    """The request has the right shape, but the metric is undefined on it."""

    slug = "degenerate-input"
    title = "The metric is undefined on this input"
    cure = (
        "The service works as intended. `detail` says what this input lacks. Leave the input "
        "out, or send another one."
    )


class ModelUnusable(BadInput):
    """The model is configured, but cannot be used until its entry or files are repaired."""

    slug = "model-unusable"
    title = "The model cannot be used"
    cure = (
        "Choose another model (`GET /v1/models`), or ask the operator to repair this model's "
        "entry in `models.toml`; `touchstone models check MODEL` shows the fault."
    )


class TooCostly(BadInput):
    """The request asks for more work than one job may do. `detail` names the field to lower,
    and `pointers` lists every field that could be lowered, the most effective first."""

    slug = "too-costly"
    title = "The request asks for more work than one job may do"
    cure = (
        "Lower the values of the fields listed in `errors`, starting with the first, or ask the "
        "operator to raise `TOUCHSTONE_MAX_WORK_SECONDS`."
    )


class TooManyRows(TooCostly):
    """The request needs more calls to a model server than one job may make. Each row is one
    call."""

    slug = "too-many-rows"
    title = "The request needs more calls to a model's server than one job may make"
    cure = (
        "Lower the values of the fields listed in `errors`, use a model that the service runs "
        "itself, or ask the operator to raise `TOUCHSTONE_SERVER_ROWS`."
    )


class TextTooLong(BadInput):
    """A model server rejected a text because it is too long."""

    slug = "text-too-long"
    title = "The text is longer than the model reads"
    cure = "Send a shorter text, or choose a model that reads longer texts."


class AnswerCut(BadInput):
    """A model used all its tokens for reasoning and gave no answer."""

    slug = "answer-cut-by-reasoning"
    title = "The model used all its tokens for reasoning"
    cure = (
        "Choose another model, or ask the operator to raise `reasoning_tokens` of this model in "
        "`models.toml`."
    )


class ModelCannot(BadInput):
    """The model lacks an ability that the request needs; `abilities` lists the abilities that
    it has."""

    slug = "model-cannot"
    title = "The model lacks an ability that the request needs"
    cure = (
        "Choose a model that has the ability named in `ability`; `GET /v1/models` lists the "
        "`capabilities` of each model."
    )

    def __init__(
        self, detail: str, *, model: str, ability: str, abilities: tuple[str, ...] = ()
    ) -> None:
        super().__init__(detail, pointer="/model")
        self.model = model
        self.ability = ability
        self.abilities = abilities


class AttemptsExhausted(ScoringError):
    """A job used all its attempts: each time its worker stopped or a model was unavailable."""

    status = 503
    slug = "attempts-exhausted"
    title = "The job used all its attempts"
    cure = (
        "Send the request again later. If it fails again, ask the operator to look at the log of "
        "the job's worker."
    )


class JobStopped(ScoringError):
    """The job's result is no longer needed, so its computation stops."""

    slug = "job-stopped"
    title = "The job was stopped"
    cure = "Send the request again if you still need the result."


class JobCancelled(JobStopped):
    """The job was cancelled while it was computed."""


class DeadlineExceeded(JobStopped):
    """The job ran past its deadline."""


class NotThere(ScoringError):
    """There is no object with this id."""

    status = 404
    slug = "not-found"
    title = "Not found"
    cure = "Check the address and the id. Ids of other tenants are not found either."


class UnknownFile(NotThere):
    """There is no file with this id, or it has expired."""

    slug = "unknown-file"
    title = "No such file"
    cure = "Upload the file again: files are deleted when they expire."


class UnknownBatch(NotThere):
    """There is no batch with this id."""

    slug = "unknown-batch"
    title = "No such batch"
    cure = "Check the id; ended batches are deleted after `TOUCHSTONE_RETENTION_HOURS`."


class UnknownJob(NotThere):
    """There is no job with this id."""

    slug = "unknown-job"
    title = "No such job"
    cure = "Check the id; ended jobs are deleted after `TOUCHSTONE_RETENTION_HOURS`."


class QuotaExceeded(ScoringError):
    """The caller has reached a limit; `policy` is its name."""

    status = 429
    slug = "quota-exceeded"
    title = "The quota is used up"
    cure = (
        "`violated-policies` names the limit. For `requests`, `open-streams`, `uploads` and "
        "`bulk-calls`, wait for `Retry-After`. For the other limits, wait until jobs or "
        "batches end, delete files or saved views, close review queues, or ask the operator "
        "to raise the limit."
    )

    def __init__(self, detail: str, *, policy: str, retry_after: int | None) -> None:
        super().__init__(detail)
        self.policy = policy
        self.retry_after = retry_after


class Unavailable(ScoringError):
    """A model, the database or the queue is unavailable or slow; the same request may succeed
    later."""

    status = 503
    slug = "unavailable"
    title = "A part of the service is unavailable"
    cure = (
        "Wait for `Retry-After` and send the request again; `GET /readyz` names the "
        "unavailable part."
    )
    retry_after = 5


class FileStoreAway(Unavailable):
    """The file store cannot be reached; the database may be fine."""


class StorageFull(FileStoreAway):
    """The file store is full."""

    status = 507
    slug = "storage-full"
    title = "There is no space left"
    cure = (
        "Ask the operator to free or add space at `TOUCHSTONE_FILES_URL`, then send the request "
        "again."
    )
    retry_after = 60


class ModelNotReady(Unavailable):
    """A model is being loaded, or failed to load; `detail` has the reason."""

    slug = "model-not-ready"
    title = "The model is not ready"
    cure = (
        "Wait for `Retry-After` and send the request again; `GET /v1/models` shows the "
        "model's `state` and `error`."
    )

    def __init__(
        self, detail: str, *, model: str, state: ModelState = "loading", pointer: str | None = None
    ) -> None:
        super().__init__(detail, pointer=pointer)
        self.model = model
        self.state = state


@contextmanager
def pointing_into(parent: str, fields: Container[str]) -> Iterator[None]:
    """Put `parent` before error pointers that begin with one of `fields`."""
    try:
        yield
    except BadInput as error:
        if error.pointer and error.pointer.split("/")[1] in fields:
            error.pointer = f"{parent}{error.pointer}"
        raise


@contextmanager
def pointing_to(pointer: str, *, only: Collection[str | None] = ()) -> Iterator[None]:
    """Make errors raised in this block point to a request field. Replaces only the pointers in
    `only`, if given."""
    try:
        yield
    except BadInput as error:
        if only and error.pointer not in only:
            raise
        if isinstance(error, TextTooLong):
            raise TextTooLong(error.detail, pointer=pointer) from error
        raise BadInput(error.detail, pointer=pointer) from error
