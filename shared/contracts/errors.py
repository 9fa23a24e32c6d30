"""The tree of errors.

ScoringError
├── BadInput             422  the caller must change the request; never retried
│   ├── DegenerateInput  422  valid shape, but the metric is undefined on it
│   ├── ModelUnusable    422  the model's entry or files must be mended first
│   ├── TooCostly        422  more work than one job may ask for
│   │   └── TooManyRows  422  more requests than one job may send to a model's server
│   ├── TextTooLong      422  a model server reads no text of this length
│   ├── AnswerCut        422  a model was cut while it reasoned, before it came to its answer
│   └── ModelCannot      422  the model lacks the ability that is needed
├── NotThere             404
│   ├── UnknownJob
│   ├── UnknownFile
│   └── UnknownBatch
├── QuotaExceeded        429  a limit of the caller is used up; later the same request may pass
├── AttemptsExhausted    503  the job was tried as often as allowed
├── JobStopped           500  the result is no longer wanted: the computation ends
│   ├── JobCancelled
│   └── DeadlineExceeded
└── Unavailable          503  a model or a store is down or slow; retried with backoff
    ├── FileStoreAway    503  the file store cannot be reached
    │   └── StorageFull  507  there is no space left to write to
    └── ModelNotReady    503  the job waits for its model, which costs it no attempt
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from contextlib import contextmanager
from typing import Literal

ModelState = Literal["absent", "downloading", "waiting", "loading", "ready", "failed", "away"]


class ScoringError(Exception):
    """Something failed that should not have: the log of the service has all of it.

    Base of everything that we raise on purpose. A docstring's first paragraph and `cure`, which
    tells the caller what to do, stand in docs/guide/errors.md. `pointer` is a JSON pointer into the
    request; `pointers` are all of them, where there are several.
    """

    status = 500
    slug = "internal"
    title = "Something went wrong on our side"
    cure = (
        "Send it again once; if it comes again, ask the operator and quote the `error_id` or "
        "`x-request-id`."
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
    cure = "Change what `errors` points at; `/docs` lists the fields of each request."


class DegenerateInput(BadInput):
    """The request has the right shape, but the metric is undefined on it."""

    slug = "degenerate-input"
    title = "The metric is undefined on this input"
    cure = (
        "Nothing is wrong with the service: the detail says what the metric needs that this "
        "input has not. Leave the input out, or send another."
    )


class ModelUnusable(BadInput):
    """The model is configured, and cannot be used until somebody mends it."""

    slug = "model-unusable"
    title = "The model cannot be used"
    cure = (
        "Name another model (`GET /v1/models`), or have the operator mend its entry in "
        "`models.toml`: `touchstone models check MODEL` says what is wrong."
    )


class TooCostly(BadInput):
    """The request asks for more work than one job may do; the detail names what to lower, and
    `pointers` every field that could be lowered, the best one first."""

    slug = "too-costly"
    title = "The request asks for more work than one job may do"
    cure = (
        "Lower what `errors` points at, the first one first; or have the operator raise "
        "`TOUCHSTONE_MAX_WORK_SECONDS`."
    )


class TooManyRows(TooCostly):
    """Each row of a served model is a request to its server, and the request asks for too many."""

    slug = "too-many-rows"
    title = "The request asks for more rows than one job may send to a model's server"
    cure = (
        "Lower what `errors` points at, use a model that the service holds itself, or have the"
        " operator raise `TOUCHSTONE_SERVER_ROWS`."
    )


class TextTooLong(BadInput):
    """A model server refuses a text for its length."""

    slug = "text-too-long"
    title = "The text is longer than the model reads"
    cure = "Send a shorter text, or name a model that reads longer ones."


class AnswerCut(BadInput):
    """A model used up its tokens for reasoning and gave no answer."""

    slug = "answer-cut-by-reasoning"
    title = "The model reasoned until its tokens were used up"
    cure = (
        "Name another model, or have the operator raise `reasoning_tokens` of this one in "
        "`models.toml`."
    )


class ModelCannot(BadInput):
    """The model has not the ability that the request needs; `abilities`: those that it has."""

    slug = "model-cannot"
    title = "The model cannot do this"
    cure = (
        "Name a model with the ability in `ability`; `GET /v1/models` lists each one's "
        "`capabilities`."
    )

    def __init__(
        self, detail: str, *, model: str, ability: str, abilities: tuple[str, ...] = ()
    ) -> None:
        super().__init__(detail, pointer="/model")
        self.model = model
        self.ability = ability
        self.abilities = abilities


class AttemptsExhausted(ScoringError):
    """A job was tried as often as allowed, and each time its worker ended or a model was away."""

    status = 503
    slug = "attempts-exhausted"
    title = "The job was tried as often as allowed"
    cure = (
        "Send the request again later; if it comes again, ask the operator for the log of the "
        "job's worker."
    )


class JobStopped(ScoringError):
    """Nobody wants the result of this job any more; its computation ends where it is."""

    slug = "job-stopped"
    title = "The job was stopped"
    cure = "Send the request again if its result is still wanted."


class JobCancelled(JobStopped):
    """The job was cancelled while it was computed."""


class DeadlineExceeded(JobStopped):
    """The job ran past its deadline."""


class NotThere(ScoringError):
    """Nothing has this id."""

    status = 404
    slug = "not-found"
    title = "Not found"
    cure = "Check the address and the id; ids of other tenants are not found either."


class UnknownFile(NotThere):
    """No file has this id, or its term is over."""

    slug = "unknown-file"
    title = "No such file"
    cure = "Upload the file again: files are deleted when their term is over."


class UnknownBatch(NotThere):
    """No batch has this id."""

    slug = "unknown-batch"
    title = "No such batch"
    cure = "Check the id; ended batches are deleted after `TOUCHSTONE_RETENTION_HOURS`."


class UnknownJob(NotThere):
    """No job has this id."""

    slug = "unknown-job"
    title = "No such job"
    cure = "Check the id; ended jobs are deleted after `TOUCHSTONE_RETENTION_HOURS`."


class QuotaExceeded(ScoringError):
    """The caller has used up what it may; `policy` is the name of the limit."""

    status = 429
    slug = "quota-exceeded"
    title = "The quota is used up"
    cure = (
        "`violated-policies` names the limit. Of `requests`, `open-streams`, `uploads` and "
        "`bulk-calls`: wait for `Retry-After`. Of the others: let jobs or batches end, delete "
        "files or saved views, close review queues, or have the limit raised."
    )

    def __init__(self, detail: str, *, policy: str, retry_after: int | None) -> None:
        super().__init__(detail)
        self.policy = policy
        self.retry_after = retry_after


class Unavailable(ScoringError):
    """A model, the database or the queue is away or slow; the same request may succeed later."""

    status = 503
    slug = "unavailable"
    title = "A part of the service is unavailable"
    cure = "Wait for `Retry-After` and send it again; `GET /readyz` names what is away."
    retry_after = 5


class FileStoreAway(Unavailable):
    """The place where files lie cannot be reached; the database may be well."""


class StorageFull(FileStoreAway):
    """There is no space left to write to."""

    status = 507
    slug = "storage-full"
    title = "There is no space left"
    cure = (
        "Have the operator free or add space where `TOUCHSTONE_FILES_URL` lies; then send it again."
    )
    retry_after = 60


class ModelNotReady(Unavailable):
    """A model is being loaded, or cannot be; the reason stands in the detail."""

    slug = "model-not-ready"
    title = "The model is not ready"
    cure = (
        "Wait for `Retry-After` and send it again; `GET /v1/models` shows the model's `state` "
        "and `error`."
    )

    def __init__(
        self, detail: str, *, model: str, state: ModelState = "loading", pointer: str | None = None
    ) -> None:
        super().__init__(detail, pointer=pointer)
        self.model = model
        self.state = state


@contextmanager
def pointing_into(parent: str, fields: Container[str]) -> Iterator[None]:
    """Prefix the pointers of refusals in this block that point to one of these fields."""
    try:
        yield
    except BadInput as error:
        if error.pointer and error.pointer.split("/")[1] in fields:
            error.pointer = f"{parent}{error.pointer}"
        raise


@contextmanager
def pointing_to(pointer: str, *, only: Collection[str | None] = ()) -> Iterator[None]:
    """Let refusals in this block point to this field of the request.

    only: the pointers that are replaced; None: any.
    """
    try:
        yield
    except BadInput as error:
        if only and error.pointer not in only:
            raise
        if isinstance(error, TextTooLong):
            raise TextTooLong(error.detail, pointer=pointer) from error
        raise BadInput(error.detail, pointer=pointer) from error
