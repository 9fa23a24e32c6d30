"""The wire to one server: pooled connections, a bounded number of requests, retries, its answers.

Retried: a connection that fails, 429 (after its Retry-After) and 5xx. Not retried: every other 4xx,
and a server that took the request but did not answer in time. The key never enters a message.

Of the answers we read `/v1/completions` (`logprobs.tokens`, `token_logprobs`) and
`/v1/chat/completions` (`logprobs.content[]` with `bytes`), as in OpenAI's API reference, and vLLM's
`prompt_logprobs`. llama.cpp answers in the second shape from both.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, NamedTuple

import httpx
from pydantic import BaseModel, Field, ValidationError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from shared.errors import BadInput, ScoringError, Unavailable
from shared.job_context import awaited, check, pause
from shared.models.entry import ModelEntry
from shared.settings import secret, settings

LONGEST_PAUSE = 30.0  # seconds, whatever Retry-After says


KEPT = 4  # idle connections: llama.cpp gives each one of its few threads, for seconds


SHOWN = 300  # characters of a server's own message


Json = dict[str, Any]


class _Again(Exception):
    """A failure that may heal. `after`: seconds that the server asks for."""

    def __init__(self, detail: str, after: float | None = None) -> None:
        super().__init__(detail)
        self.after = after


class Connection:
    """To the server of one `openai:` entry, for any number of threads.

    Raises Unavailable where the server is away, too busy or refuses our key, BadInput where it
    refuses the request (its own words are repeated), ScoringError where it answers no JSON.
    """

    def __init__(self, entry: ModelEntry) -> None:
        chosen = settings()
        self._name = entry.name
        self._key_name = entry.api_key_env
        self._base = entry.location.rstrip("/")
        self._root = self._base.removesuffix("/v1")
        self._attempts = chosen.openai_attempts
        self._client = httpx.Client(
            timeout=httpx.Timeout(chosen.openai_seconds, connect=chosen.openai_connect_seconds),
            limits=httpx.Limits(
                max_connections=chosen.openai_connections, max_keepalive_connections=KEPT
            ),
        )
        weakref.finalize(self, self._client.close)
        self._pool = ThreadPoolExecutor(chosen.openai_connections, thread_name_prefix="openai")

    def get(self, path: str) -> Json:
        """The answer to a GET below `/v1`."""
        [answer] = awaited([self._submit("GET", self._base + path, None)])
        return answer

    def post(self, path: str, bodies: Sequence[Json]) -> list[Json]:
        """The answers to requests below `/v1`, in order; they are sent side by side."""
        return self._side_by_side(self._base + path, bodies)

    def post_beside(self, path: str, bodies: Sequence[Json]) -> list[Json]:
        """The same beside `/v1`, where servers keep what OpenAI has not."""
        return self._side_by_side(self._root + path, bodies)

    def _side_by_side(self, url: str, bodies: Sequence[Json]) -> list[Json]:
        return awaited([self._submit("POST", url, body) for body in bodies])

    def _submit(self, method: str, url: str, body: Json | None) -> Future[Json]:
        """To be sent by a thread of the pool, for the job of this one."""
        return self._pool.submit(copy_context().run, self._retried, method, url, body)

    def _retried(self, method: str, url: str, body: Json | None) -> Json:
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=_pause,
            retry=retry_if_exception_type(_Again),
            sleep=pause,
            reraise=True,
        )
        try:
            return retrying(self._once, method, url, body)
        except _Again as error:
            raise Unavailable(f"the server of {self._name!r}: {error}") from error

    def _once(self, method: str, url: str, body: Json | None) -> Json:
        check()
        try:
            response = self._client.request(method, url, json=body, headers=self._headers())
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.NetworkError) as error:
            raise _Again(f"no connection ({type(error).__name__})") from error
        except httpx.RemoteProtocolError as error:
            raise _Again("it broke the connection off") from error
        except httpx.HTTPError as error:  # it works on it: asking again would double its load
            detail = f"the server of {self._name!r} did not answer ({type(error).__name__})"
            raise Unavailable(detail) from error
        if response.status_code == 429 or response.status_code >= 500:
            raise _Again(f"status {response.status_code}", _retry_after(response))
        if response.status_code >= 400:
            raise self._refusal(response)
        return self._read(response)

    def _headers(self) -> dict[str, str]:
        if self._key_name is None:
            return {}
        key = secret(self._key_name)
        if key is None:
            raise Unavailable(
                f"{self._name!r} needs its key in the environment variable {self._key_name}"
            )
        return {"Authorization": f"Bearer {key.get_secret_value()}"}

    def _refusal(self, response: httpx.Response) -> ScoringError:
        status = response.status_code
        if status in (401, 403):  # its words may repeat the key
            return Unavailable(f"the server of {self._name!r} refuses our key (status {status})")
        words = _message(response)
        key = secret(self._key_name) if self._key_name else None
        if key is not None and key.get_secret_value():
            words = words.replace(key.get_secret_value(), "[redacted]")
        detail = f"the server of {self._name!r} refuses it (status {status}): {words[:SHOWN]}"
        return BadInput(detail, pointer="/model" if status in (404, 405) else None)

    def _read(self, response: httpx.Response) -> Json:
        try:
            answer = response.json()
        except ValueError as error:
            raise ScoringError(f"the server of {self._name!r} answers no JSON") from error
        if not isinstance(answer, dict):
            raise ScoringError(f"the server of {self._name!r} answers something else")
        return answer


def _message(response: httpx.Response) -> str:
    """The server's reason: OpenAI's `error.message`, older vLLM's `message`, FastAPI's `detail`."""
    try:
        body = response.json()
    except ValueError:
        return response.text
    if not isinstance(body, dict):
        return response.text
    error = body.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    return str(words or body.get("message") or body.get("detail") or response.text)


def _retry_after(response: httpx.Response) -> float | None:
    try:
        return max(0.0, float(response.headers.get("Retry-After", "")))
    except ValueError:  # absent, or a date
        return None


_growing = wait_random_exponential(multiplier=0.5, max=8)


def _pause(state: RetryCallState) -> float:
    """Seconds until the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _Again) and error.after is not None:
        return min(error.after, LONGEST_PAUSE)
    return _growing(state)


LEGACY_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2})+")  # "bytes:\xf0\x9f" is a part of a character


class ServerToken(NamedTuple):
    """A token as the server spells it. `logprob` is None where it has nothing before it."""

    spelled: bytes
    logprob: float | None
    id: int | None = None


class LogprobEntry(BaseModel):
    """A token of `logprobs.content`."""

    token: str
    logprob: float
    bytes: list[int] | None = None
    id: int | None = None
    top_logprobs: list[LogprobEntry] = []

    @property
    def piece(self) -> ServerToken:
        """The same in the one shape of ours."""
        spelled = encoded(self.token) if self.bytes is None else bytes(self.bytes)
        return ServerToken(spelled, self.logprob, self.id)


class Logprobs(BaseModel):
    """Both shapes at once; one of them is there."""

    content: list[LogprobEntry] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None


class PromptToken(BaseModel):
    """A token of vLLM's `prompt_logprobs`."""

    logprob: float
    decoded_token: str | None = None


class _Message(BaseModel):
    content: str | None = None


class ServerChoice(BaseModel):
    """The one completion that we ask for."""

    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    prompt_logprobs: list[dict[str, PromptToken] | None] | None = None

    @property
    def written(self) -> str:
        """The text, of a completion or of a chat."""
        return (self.message.content if self.message else self.text) or ""

    @property
    def pieces(self) -> list[ServerToken] | None:
        """Its tokens; None where the server gives no log-probabilities."""
        found = self.logprobs
        if found is None:
            return None
        if found.content is not None:
            return [entry.piece for entry in found.content]
        if found.tokens is None or found.token_logprobs is None:
            return None
        values = zip(found.tokens, found.token_logprobs, strict=True)
        return [ServerToken(encoded(token), logprob) for token, logprob in values]

    @property
    def finish(self) -> Any:
        """Why it ended. Raises BadInput where a filter took the text, Unavailable for an abort."""
        if self.finish_reason == "content_filter":
            raise BadInput("the server's content filter withholds the completion", pointer="/model")
        if self.finish_reason == "abort":
            raise Unavailable("the server broke the completion off")
        return "length" if self.finish_reason == "length" else "stop"


class _Answer(BaseModel):
    choices: list[ServerChoice] = Field(min_length=1)


def choice(answer: Any) -> ServerChoice:
    """The first choice of an answer. Raises ScoringError for an answer of another shape."""
    try:
        return _Answer.model_validate(answer).choices[0]
    except ValidationError as error:
        place = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise ScoringError(f"the server's answer is not OpenAI's: {place}") from error


def encoded(token: str) -> bytes:
    """A token's bytes: of its string, or those that an older server spells out."""
    rest = token.removeprefix("bytes:")
    if rest != token and LEGACY_BYTES.fullmatch(rest):
        return bytes.fromhex(rest.replace("\\x", ""))
    return token.encode("utf-8", "replace")
