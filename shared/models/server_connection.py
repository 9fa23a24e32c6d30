"""The connection to one model server: pooling, limits, retries, and its errors.

Rate limit (`ServerRateLimiter`): at most the entry's `requests_per_minute` in any sixty seconds,
over all workers, counted in Redis. Requests above it wait. Without Redis each process counts alone.
Retried: failed connections, 429 and 5xx, after `Retry-After` or a growing pause. Not retried: other
4xx, a used-up quota or credit, and a request that the server accepted but did not answer in time,
because a second one would double its load. An answer of more than `answer_bytes` is rejected
(`bounded_client`). Redirects are not followed, because they would carry texts and keys elsewhere.
No message and no log contains a key.
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import secrets
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import httpx
import redis
from redis.exceptions import RedisError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from shared.contracts.errors import (
    BadInput,
    ModelNotReady,
    ScoringError,
    TextTooLong,
    Unavailable,
)
from shared.models.bounded_client import AnswerRefused, bounded_client, receive
from shared.models.catalogue.entry import ModelEntry
from shared.process.redis_client import client
from shared.process.settings import secret
from shared.queue.job_context import check, is_private, pause, wait_all

ATTEMPTS = 4  # per request, after lost connections, status 429 and 5xx
CONNECT_SECONDS = 5.0
LONGEST_PAUSE = 60.0  # seconds, also with a longer Retry-After
KEPT = 4  # idle connections; each holds one of llama.cpp's few threads for seconds
SHOWN = 300  # characters of a server's own message
SERVER_ERROR = 500  # of one request, or of the whole server
NOT_IMPLEMENTED = 501  # llama.cpp for features that were not enabled at start
USED_UP = "insufficient_quota"  # OpenAI's code of a 429 that waiting does not solve
TOO_LONG = re.compile(  # OpenAI, vLLM, SGLang, llama.cpp, text-embeddings-inference
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|"
    r"maximum (input|model|sequence) length|max_model_len|must have less than \d+ tokens|"
    r"(prompt|input|text|sequence)\b[^.]{0,40}too (long|many tokens)",
    re.IGNORECASE,
)
BYTES_OF_A_VALUE = 16  # average bytes per JSON value; reading 4 MB of `[],` takes 2 GB and 12 s
VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")
READ_FOR_REASON = 2_000  # characters of a server's message

Json = dict[str, Any]


class _RetryError(Exception):
    """A failure that may be temporary. `after` is the pause that the server requests. `is_away` is
    False if this request itself may have caused the failure."""

    def __init__(self, detail: str, after: float | None = None, *, is_away: bool = True) -> None:
        super().__init__(detail)
        self.after = after
        self.is_away = is_away


class FieldRefused(BadInput):
    """The server rejects the content of a request. `words` is the server's whole message."""

    def __init__(self, detail: str, *, pointer: str | None, words: str) -> None:
        super().__init__(detail, pointer=pointer)
        self.words = words


class AnswerUnread(ScoringError):
    """A server's answer cannot be read, for example because a proxy sent a page. In a test of
    abilities this counts as a missing ability. For a job it counts as an unreachable server
    (`readable_answers`). The detail quotes nothing from the answer."""


class Redirected(BadInput, AnswerUnread):
    """A server answers with a redirect. In a test of abilities this counts as a missing ability,
    like an unknown path. For a job it counts as an answer that cannot be read."""


@contextlib.contextmanager
def readable_answers(model: str) -> Iterator[None]:
    """Convert AnswerUnread in this block to Unavailable with the model's name."""
    try:
        yield
    except AnswerUnread as error:
        raise Unavailable(
            f"the answer from the server of {model!r} cannot be read: {error.detail}"
        ) from error


@dataclass(frozen=True)
class Address:
    """A server's address, headers and query. `$NAME` is replaced by an environment variable."""

    entry: ModelEntry

    @property
    def base(self) -> str:
        return self.entry.location.rstrip("/")

    def sent_headers(self) -> dict[str, str]:
        """Return the headers of a request, with the server's API key if the entry names one. Raises
        Unavailable if a required environment variable is not set."""
        headers = self._expand(self.entry.headers)
        if self.entry.api_key_env is None or self.entry.auth == "none":
            return headers
        key = self._variable(self.entry.api_key_env)
        authorization = (
            {"api-key": key} if self.entry.auth == "api-key" else {"Authorization": f"Bearer {key}"}
        )
        return headers | authorization

    def sent_query(self) -> dict[str, str]:
        """Return the query parameters of the address with environment variables inserted. Raises
        Unavailable if a variable is not set."""
        return self._expand(self.entry.query)

    def redacted(self, words: str) -> str:
        """Return a server's message with all secrets of the model's entry replaced by
        `[redacted]`."""
        names = [] if self.entry.api_key_env is None else [self.entry.api_key_env]
        for value in (*self.entry.headers.values(), *self.entry.query.values()):
            names += VARIABLE.findall(value)
        for name in names:
            value_of_secret = secret(name)
            if value_of_secret is not None and value_of_secret.get_secret_value():
                words = words.replace(value_of_secret.get_secret_value(), "[redacted]")
        return words

    def _expand(self, values: Mapping[str, str]) -> dict[str, str]:
        return {
            name: VARIABLE.sub(lambda found: self._variable(found[1]), value)
            for name, value in values.items()
        }

    def _variable(self, name: str) -> str:
        value = secret(name)
        if value is None:
            raise Unavailable(
                f"the key of {self.entry.name!r} is missing; set the environment variable {name}"
            )
        return value.get_secret_value()


class Connection:
    """A connection to the server of one entry. Thread-safe.

    Raises ModelNotReady if the server is unreachable or too busy, Unavailable if it answers with
    status 500 or rejects the key, and TextTooLong if the text is too long. Raises BadInput if the
    server rejects the request; the message quotes it unless the job is private. Raises AnswerUnread
    for an answer that is not JSON, and Redirected for a redirect.
    """

    def __init__(self, entry: ModelEntry) -> None:
        self._address = Address(entry)
        self.name = entry.name
        self._root = self._address.base.removesuffix("/v1")
        self._attempts = ATTEMPTS
        self._pace = ServerRateLimiter(entry)
        self._seconds, at_once = entry.timeout_seconds, entry.requests_at_once
        self._most_bytes = entry.answer_bytes
        self._client = bounded_client(
            httpx.Timeout(self._seconds, connect=CONNECT_SECONDS),
            httpx.Limits(max_connections=at_once, max_keepalive_connections=KEPT),
        )
        weakref.finalize(self, self._client.close)
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="server")

    def get(self, path: str) -> Any:
        return self._send("GET", self._address.base + path, [None])[0]

    def get_at_root(self, path: str) -> Any:
        """Return the answer to a GET request to a path outside `/v1`, which OpenAI does not
        define."""
        return self._send("GET", self._root + path, [None])[0]

    def post(self, path: str, bodies: Sequence[Json]) -> list[Any]:
        """Send requests to paths below `/v1` in parallel. Return the answers in the order of the
        requests."""
        return self._send("POST", self._address.base + path, bodies)

    def post_at_root(self, path: str, bodies: Sequence[Json]) -> list[Any]:
        """Send requests to paths outside `/v1`. Return the answers in the order of the requests."""
        return self._send("POST", self._root + path, bodies)

    def _send(self, method: str, url: str, bodies: Sequence[Json | None]) -> list[Any]:
        """Send requests in parallel with threads of the pool, in the context of this job."""
        return wait_all(
            [
                self._pool.submit(copy_context().run, self._send_with_retry, method, url, body)
                for body in bodies
            ]
        )

    def _send_with_retry(self, method: str, url: str, body: Json | None) -> Any:
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=_pause,
            retry=retry_if_exception_type(_RetryError),
            sleep=pause,
            reraise=True,
        )
        try:
            return retrying(self._once, method, url, body)
        except _RetryError as error:
            detail = f"the request to the server of {self.name!r} failed: {error}"
            if error.is_away:
                raise ModelNotReady(detail, model=self.name, state="away") from error
            raise Unavailable(detail) from error

    def _once(self, method: str, url: str, body: Json | None) -> Any:
        check()
        self._pace.wait()
        headers, query = self._address.sent_headers(), self._address.sent_query()
        request = self._client.build_request(method, url, json=body, headers=headers, params=query)
        try:
            response = receive(
                self._client, request, seconds=self._seconds, most_bytes=self._most_bytes
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.NetworkError) as error:
            raise _RetryError(f"no connection ({type(error).__name__})") from error
        except httpx.RemoteProtocolError as error:
            raise _RetryError("it closed the connection") from error
        except AnswerRefused as error:
            raise Unavailable(f"the server of {self.name!r} did not answer: {error}") from error
        except httpx.HTTPError as error:
            name, kind = self.name, type(error).__name__
            raise Unavailable(f"the server of {name!r} did not answer ({kind})") from error
        status = response.status_code
        is_temporary = status >= 500 and status != NOT_IMPLEMENTED
        if is_temporary or (status == 429 and USED_UP not in _code(response)):
            is_away = status != SERVER_ERROR
            raise _RetryError(f"status {status}", _retry_after(response), is_away=is_away)
        if status >= 300:
            raise self._to_error(response)
        return self._read(response)

    def _to_error(self, response: httpx.Response) -> ScoringError:
        status, server = response.status_code, f"the server of {self.name!r}"
        if status < 400:
            return Redirected(
                f"{server} answered with a redirect (status {status}); set the final "
                "address in the model's entry"
            )
        if status in (401, 403):  # its message may repeat the key
            return Unavailable(f"{server} rejects the key (status {status}); set a valid key")
        if status in (402, 429):
            return BadInput(
                f"{server} reports that its quota or credit is used up (status {status}); raise "
                "it, or choose another model",
                pointer="/model",
            )
        words = self._address.redacted(_message(response)[:READ_FOR_REASON])
        detail = f"{server} rejects the request (status {status})"
        detail += "" if is_private() else f": {words[:SHOWN]}"  # its message may repeat the text
        if status in (400, 413, 422) and TOO_LONG.search(_code(response) + " " + words):
            return TextTooLong(detail)
        pointer = "/model" if status in (404, 405, NOT_IMPLEMENTED) else None
        parameter = str(_error(response).get("param") or "")
        return FieldRefused(detail, pointer=pointer, words=f"{parameter} {words}")

    def _read(self, response: httpx.Response) -> Any:
        """Parse the response's body as JSON, which must be an object or a list. Raises AnswerUnread
        for other bodies, and Unavailable if there are too many values."""
        if response.content.count(b",") > self._most_bytes // BYTES_OF_A_VALUE:
            raise Unavailable(
                f"the answer from the server of {self.name!r} has too many JSON values"
            )
        try:
            answer = response.json()
        except (ValueError, RecursionError) as error:
            raise AnswerUnread(
                f"the server of {self.name!r} did not return JSON; check its address"
            ) from error
        if not isinstance(answer, dict | list):
            raise AnswerUnread(
                f"the server of {self.name!r} did not return an object or list; check its address"
            )
        return answer


def listed_models(answer: Any) -> list[Json]:
    """Return the entries of OpenAI's list of models, or [] for another answer."""
    listed = answer.get("data") if isinstance(answer, dict) else None
    return (
        [model for model in listed if isinstance(model, dict)] if isinstance(listed, list) else []
    )


def _error(response: httpx.Response) -> Json:
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _code(response: httpx.Response) -> str:
    error = _error(response)
    return f"{error.get('code') or ''} {error.get('type') or ''}"


def _message(response: httpx.Response) -> str:
    """Return the server's reason: OpenAI's `error.message`, older vLLM's `message`, FastAPI's
    `detail`."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return response.text
    if not isinstance(body, dict):
        return response.text
    error = body.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    text = str(words or body.get("message") or body.get("detail") or response.text)
    return text.encode("utf-8", "replace").decode()  # JSON may have half of a surrogate pair


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds given as a number or a date (RFC 9110, 10.2.3), or None if unusable."""
    header = response.headers.get("Retry-After", "")
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


_growing = wait_random_exponential(multiplier=0.5, max=8)


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _RetryError) and error.after is not None:
        return min(error.after, LONGEST_PAUSE)
    return _growing(state)


class _NoQuery(logging.Filter):
    """Log filter that removes the query from URLs in httpx's messages, because it may contain a
    key."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                arg.copy_with(query=None) if isinstance(arg, httpx.URL) else arg
                for arg in record.args
            )
        return True


logging.getLogger("httpx").addFilter(_NoQuery())


PACE_KEY = "touchstone:server-requests:"  # + model → times of its requests
PACE_SECONDS = 60.0  # seconds
SOCKET_SECONDS = 0.5
TAKE_REQUEST = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60000000)
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], now, ARGV[2])
  redis.call('PEXPIRE', KEYS[1], 60000)
  return 0
end
return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] + 60000000 - now
"""


@lru_cache(maxsize=1)
def _redis() -> tuple[redis.Redis, Any]:
    redis_client = client(SOCKET_SECONDS, patient=False)
    return redis_client, redis_client.register_script(TAKE_REQUEST)


class ServerRateLimiter:
    """Limits the requests to one model. Thread-safe."""

    def __init__(self, entry: ModelEntry) -> None:
        self._key = PACE_KEY + entry.name
        self._most = entry.requests_per_minute
        self._times: deque[float] = deque()
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait until a request may be sent, and count it. Raises JobStopped."""
        if self._most is None:
            return
        while (seconds := self._too_early(self._most)) > 0:
            pause(seconds)

    def _too_early(self, most: int) -> float:
        """Return 0 if the request is allowed, and count it. Otherwise return the seconds until a
        request is allowed. `most` is the limit per minute."""
        try:
            _, take = _redis()
            return float(take(keys=[self._key], args=[most, secrets.token_hex(8)])) / 1e6
        except RedisError:  # then each process counts for itself
            with self._lock:
                now = time.monotonic()
                while self._times and self._times[0] <= now - PACE_SECONDS:
                    self._times.popleft()
                if len(self._times) < most:
                    self._times.append(now)
                    return 0.0
                return self._times[0] + PACE_SECONDS - now
