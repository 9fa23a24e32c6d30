"""The exceptions of this package.

TouchstoneError
├── ConnectionFailed      no answer: nobody listens, or the connection broke or was silent too long
├── ApiError              an error response; status, slug, detail, errors, request_id
│   ├── BadRequest        the caller must change the request
│   ├── Unauthenticated   401
│   ├── Forbidden         403
│   ├── NotFound          404
│   ├── Conflict          409
│   ├── RateLimited       429
│   └── Unavailable       408, 502, 503, 504: try again later
├── JobFailed             the job ended without a result; problem says why
├── JobCancelled
├── BatchFailed           the batch was refused as a whole; faults says where
├── TimedOut              the job or batch goes on; its id is in the error
└── InvalidSignature      a webhook without a valid signature
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class TouchstoneError(Exception):
    """The base class of all errors of this package. The text of an error is one sentence."""


class ConnectionFailed(TouchstoneError):
    """The service did not respond. `silent` is true if the connection was open but nothing arrived
    for too long."""

    def __init__(self, message: str, *, silent: bool = False) -> None:
        super().__init__(message)
        self.silent = silent


@dataclass(frozen=True)
class Fault:
    """An error in a request. `pointer` is a JSON pointer into the request (RFC 6901)."""

    detail: str
    pointer: str


class ApiError(TouchstoneError):
    """The service returned an error. `slug` is a short name of the error that does not change."""

    def __init__(
        self, status: int, problem: Mapping[str, Any], request_id: str | None = None
    ) -> None:
        self.status = status
        self.problem = problem
        self.slug = slug_of(problem)
        self.detail = str(problem.get("detail", ""))
        self.errors = faults_of(problem)
        self.request_id = request_id
        message = sentence_of(problem) or f"HTTP {status}"
        super().__init__(message if request_id is None else f"{message} [{request_id}]")


class BadRequest(ApiError):
    """The request is invalid. The caller must change it."""


class Unauthenticated(ApiError):
    """The key is missing or invalid."""


class Forbidden(ApiError):
    """The key is valid but lacks the required scope."""


class NotFound(ApiError):
    """The object does not exist, or belongs to another tenant."""


class Conflict(ApiError):
    """The state of the object does not allow the operation."""


class RateLimited(ApiError):
    """There were too many requests, or a quota is used up."""

    @property
    def policies(self) -> tuple[str, ...]:
        """Return the names of the exceeded limits."""
        return tuple(self.problem.get("violated-policies") or ())


class Unavailable(ApiError):
    """The service, or a service that it depends on, is unavailable."""


class JobFailed(TouchstoneError):
    """A job ended without a result. `problem` states the reason. `job` is None for a line of a
    file."""

    def __init__(self, job_id: str | None, problem: Mapping[str, Any], job: Any = None) -> None:
        self.job_id = job_id
        self.problem = problem
        self.slug = slug_of(problem)
        self.errors = faults_of(problem)
        self.job = job
        message = sentence_of(problem) or "no reason was given"
        super().__init__(message if job_id is None else f"{job_id} failed: {message}")


class JobCancelled(TouchstoneError):
    """The job was cancelled."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"{job_id} was cancelled")


class BatchFailed(TouchstoneError):
    """The input file of a batch is not valid. `faults` holds (line, message). Line 0 stands for the
    file as a whole."""

    def __init__(self, batch_id: str, faults: Sequence[tuple[int, str]]) -> None:
        self.batch_id = batch_id
        self.faults = tuple(faults)
        line, first = self.faults[0] if self.faults else (0, "no reason was given")
        more = f" and {len(self.faults) - 1} more" if len(self.faults) > 1 else ""
        super().__init__(f"{batch_id} was refused: line {line}: {first}{more}")


class TimedOut(TouchstoneError):
    """The job or batch has not ended within the timeout and continues. `id` is its id."""

    def __init__(self, id: str, seconds: float) -> None:
        self.id = id
        self.seconds = seconds
        super().__init__(f"{id} has not ended within {seconds:g} s; it continues on the service")


class InvalidSignature(TouchstoneError):
    """A webhook is not authentic: the signature is invalid, a header is missing, or the time is too
    far from now."""


KINDS: dict[int, type[ApiError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
    **dict.fromkeys((408, 502, 503, 504), Unavailable),
}


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Return the exception for an error response. Names in `headers` must be in lower case."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):  # a proxy's page, perhaps
        problem = {"status": status, "title": f"HTTP {status}"}
    kind = KINDS.get(status, BadRequest if 400 <= status < 500 else ApiError)
    return kind(status, problem, headers.get("x-request-id"))


def slug_of(problem: Mapping[str, Any]) -> str:
    """Return the short name of an error, which is the last part of the problem's type."""
    return str(problem.get("type", "about:blank")).replace("#", "/").rpartition("/")[2]


def faults_of(problem: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return all errors that a problem document lists."""
    listed = problem.get("errors") or ()
    return tuple(Fault(str(fault.get("detail")), str(fault.get("pointer"))) for fault in listed)


def sentence_of(problem: Mapping[str, Any]) -> str:
    """Return the title and detail of a problem document as a sentence. The string is empty if it
    has neither."""
    error = problem.get("error")
    if isinstance(error, dict) and error.get("message"):
        return str(error["message"])
    title, detail = str(problem.get("title") or ""), str(problem.get("detail") or "")
    return ": ".join(dict.fromkeys(filter(None, (title, detail))))
