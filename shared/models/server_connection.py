"""The wire to one model server: pooled connections, bounded requests, retries, its refusals.

Paced (`ServerRateLimiter`): in any sixty seconds there are at most as many requests as the entry's
`requests_per_minute`, of all workers together, counted in Redis; a request that comes too early
waits. Without Redis each process counts for itself.
Sent again: a connection that fails, 429 and 5xx, after what `Retry-After` says or a growing pause.
Not sent again: every other 4xx, a quota or credit that is used up, and a request that the server
took but did not answer in time: it works on it, and a second one would double its load. An answer
of more than `answer_bytes` is refused (`bounded_client`). Redirects are not followed: they would
carry texts and keys to somebody else. Keys are in no message and no log.
Source: specs "models" §1, §5.1.
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

from shared.contracts.errors import BadInput, ScoringError, TextTooLong, Unavailable
from shared.models.bounded_client import AnswerRefused, bounded_client, receive
from shared.models.catalogue.entry import ModelEntry
from shared.process.redis_client import client
from shared.process.settings import secret
from shared.queue.job_context import check, is_private, pause, wait_all

ATTEMPTS = 4  # of a request: after lost connections, status 429 and 5xx
CONNECT_SECONDS = 5.0
LONGEST_PAUSE = 60.0  # seconds, whatever Retry-After says
KEPT = 4  # idle connections: llama.cpp gives each one of its few threads, for seconds
SHOWN = 300  # characters of a server's own message
NOT_IMPLEMENTED = 501  # llama.cpp, of what it was not started for
USED_UP = "insufficient_quota"  # OpenAI's code of a 429 that no waiting mends
TOO_LONG = re.compile(  # OpenAI, vLLM, SGLang, llama.cpp, text-embeddings-inference
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|"
    r"maximum (input|model|sequence) length|max_model_len|must have less than \d+ tokens|"
    r"(prompt|input|text|sequence)\b[^.]{0,40}too (long|many tokens)",
    re.IGNORECASE,
)
BYTES_OF_A_VALUE = 16  # of JSON, on average at least: reading 4 MB of `[],` takes 2 GB and 12 s
VARIABLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")
READ_FOR_REASON = 2_000  # characters of a server's message

Json = dict[str, Any]


class _RetryError(Exception):
    """A failure that may heal. `after`: seconds that the server asks for."""

    def __init__(self, detail: str, after: float | None = None) -> None:
        super().__init__(detail)
        self.after = after


class FieldRefused(BadInput):
    """The server refuses a request for what it is made of; `words`: all that it says about it."""

    def __init__(self, detail: str, *, pointer: str | None, words: str) -> None:
        super().__init__(detail, pointer=pointer)
        self.words = words


class AnswerUnread(ScoringError):
    """What a server answered is no answer that we can read, as a page of what stands before it is.

    Who tries out what a server can takes it for a no; for a job it is as if the server were away
    (`readable_answers`). The detail is in our own words.
    """


@contextlib.contextmanager
def readable_answers(model: str) -> Iterator[None]:
    """In this block an answer that cannot be read is one to be asked for again later: Unavailable,
    by the name of the model."""
    try:
        yield
    except AnswerUnread as error:
        raise Unavailable(
            f"the answer of the server of {model!r} could not be read: {error.detail}"
        ) from error


@dataclass(frozen=True)
class Address:
    """Where a server is and how it is asked. `$NAME` in headers and query: from the environment."""

    entry: ModelEntry

    @property
    def base(self) -> str:
        return self.entry.location.rstrip("/")

    def sent_headers(self) -> dict[str, str]:
        """With the key. Raises Unavailable where a variable of the environment is not set."""
        headers = self._expand(self.entry.headers)
        if self.entry.api_key_env is None or self.entry.auth == "none":
            return headers
        key = self._variable(self.entry.api_key_env)
        own = (
            {"api-key": key} if self.entry.auth == "api-key" else {"Authorization": f"Bearer {key}"}
        )
        return headers | own

    def sent_query(self) -> dict[str, str]:
        """Raises Unavailable where a variable of the environment is not set."""
        return self._expand(self.entry.query)

    def redacted(self, words: str) -> str:
        """A server's words without the secrets that we sent it."""
        names = [] if self.entry.api_key_env is None else [self.entry.api_key_env]
        for value in (*self.entry.headers.values(), *self.entry.query.values()):
            names += VARIABLE.findall(value)
        for name in names:
            found = secret(name)
            if found is not None and found.get_secret_value():
                words = words.replace(found.get_secret_value(), "[redacted]")
        return words

    def _expand(self, values: Mapping[str, str]) -> dict[str, str]:
        return {
            name: VARIABLE.sub(lambda found: self._variable(found[1]), value)
            for name, value in values.items()
        }

    def _variable(self, name: str) -> str:
        found = secret(name)
        if found is None:
            raise Unavailable(
                f"{self.entry.name!r} needs its key in the environment variable {name}"
            )
        return found.get_secret_value()


class Connection:
    """To the server of one entry, for any number of threads.

    Raises Unavailable where the server is away, too busy or refuses our key, TextTooLong where it
    reads no text of this length, BadInput where it refuses the request (its own words are
    repeated, unless the job is a private one), AnswerUnread where it answers no JSON.
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
        """The answer to a GET below `/v1`."""
        return self._send("GET", self._address.base + path, [None])[0]

    def get_at_root(self, path: str) -> Any:
        """The same beside `/v1`, where servers keep what OpenAI has not."""
        return self._send("GET", self._root + path, [None])[0]

    def post(self, path: str, bodies: Sequence[Json]) -> list[Any]:
        """The answers to requests below `/v1`, in order; they are sent side by side."""
        return self._send("POST", self._address.base + path, bodies)

    def post_at_root(self, path: str, bodies: Sequence[Json]) -> list[Any]:
        """The same beside `/v1`."""
        return self._send("POST", self._root + path, bodies)

    def _send(self, method: str, url: str, bodies: Sequence[Json | None]) -> list[Any]:
        """By threads of the pool, side by side, for the job of this one."""
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
            raise Unavailable(f"the server of {self.name!r}: {error}") from error

    def _once(self, method: str, url: str, body: Json | None) -> Any:
        check()
        self._pace.wait()
        headers, query = self._address.sent_headers(), self._address.sent_query()
        asked = self._client.build_request(method, url, json=body, headers=headers, params=query)
        try:
            response = receive(
                self._client, asked, seconds=self._seconds, most_bytes=self._most_bytes
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.NetworkError) as error:
            raise _RetryError(f"no connection ({type(error).__name__})") from error
        except httpx.RemoteProtocolError as error:
            raise _RetryError("it broke the connection off") from error
        except AnswerRefused as error:
            raise Unavailable(f"the server of {self.name!r} did not answer: {error}") from error
        except httpx.HTTPError as error:
            name, kind = self.name, type(error).__name__
            raise Unavailable(f"the server of {name!r} did not answer ({kind})") from error
        status = response.status_code
        heals = status >= 500 and status != NOT_IMPLEMENTED
        if heals or (status == 429 and USED_UP not in _code(response)):
            raise _RetryError(f"status {status}", _retry_after(response))
        if status >= 300:
            raise self._to_error(response)
        return self._read(response)

    def _to_error(self, response: httpx.Response) -> ScoringError:
        status, server = response.status_code, f"the server of {self.name!r}"
        if status < 400:
            return BadInput(
                f"{server} answers with a redirect (status {status}), which is not followed: name "
                "the address where it truly is",
                pointer="/model",
            )
        if status in (401, 403):  # its words may repeat the key
            return Unavailable(f"{server} refuses our key (status {status})")
        if status in (402, 429):
            return BadInput(
                f"{server} says that its quota or credit is used up (status {status})",
                pointer="/model",
            )
        words = self._address.redacted(_message(response)[:READ_FOR_REASON])
        detail = f"{server} refuses it (status {status})"
        detail += "" if is_private() else f": {words[:SHOWN]}"  # they may repeat the text
        if status in (400, 413, 422) and TOO_LONG.search(_code(response) + " " + words):
            return TextTooLong(detail)
        pointer = "/model" if status in (404, 405, NOT_IMPLEMENTED) else None
        parameter = str(_error(response).get("param") or "")
        return FieldRefused(detail, pointer=pointer, words=f"{parameter} {words}")

    def _read(self, response: httpx.Response) -> Any:
        """A JSON object, or the list of text-embeddings-inference."""
        if response.content.count(b",") > self._most_bytes // BYTES_OF_A_VALUE:
            raise Unavailable(f"the server of {self.name!r} did not answer: too many JSON values")
        try:
            answer = response.json()
        except (ValueError, RecursionError) as error:
            raise AnswerUnread(
                f"the server of {self.name!r} answers no JSON: is its address right?"
            ) from error
        if not isinstance(answer, dict | list):
            raise AnswerUnread(
                f"the server of {self.name!r} answers something else: is its address right?"
            )
        return answer


def listed_models(answer: Any) -> list[Json]:
    """The entries of OpenAI's list of models; none where the answer is no such list."""
    listed = answer.get("data") if isinstance(answer, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _error(response: httpx.Response) -> Json:
    """The `error` object of an answer, as far as there is one."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return {}
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _code(response: httpx.Response) -> str:
    """OpenAI's `error.code` and `error.type`."""
    error = _error(response)
    return f"{error.get('code') or ''} {error.get('type') or ''}"


def _message(response: httpx.Response) -> str:
    """The server's reason: OpenAI's `error.message`, older vLLM's `message`, FastAPI's `detail`."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return response.text
    if not isinstance(body, dict):
        return response.text
    error = body.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    told = str(words or body.get("message") or body.get("detail") or response.text)
    return told.encode("utf-8", "replace").decode()  # JSON may spell half of a surrogate pair


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds, from a number of them or from a date (RFC 9110, 10.2.3); None: nothing usable."""
    said = response.headers.get("Retry-After", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


_growing = wait_random_exponential(multiplier=0.5, max=8)


def _pause(state: RetryCallState) -> float:
    """Seconds until the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _RetryError) and error.after is not None:
        return min(error.after, LONGEST_PAUSE)
    return _growing(state)


class _NoQuery(logging.Filter):
    """httpx logs the address of every request; a query may hold a key."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                one.copy_with(query=None) if isinstance(one, httpx.URL) else one
                for one in record.args
            )
        return True


logging.getLogger("httpx").addFilter(_NoQuery())


PACE_KEY = "touchstone:server-requests:"  # + the model's name → times of its requests
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
    made = client(SOCKET_SECONDS, patient=False)
    return made, made.register_script(TAKE_REQUEST)


class ServerRateLimiter:
    """Of one model, for any number of threads."""

    def __init__(self, entry: ModelEntry) -> None:
        self._key = PACE_KEY + entry.name
        self._most = entry.requests_per_minute
        self._own: deque[float] = deque()
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Until a request may go; it is counted then. Raises JobStopped."""
        if self._most is None:
            return
        while (seconds := self._too_early(self._most)) > 0:
            pause(seconds)

    def _too_early(self, most: int) -> float:
        """Seconds until there is room again; 0: a request was counted."""
        try:
            _, take = _redis()
            return float(take(keys=[self._key], args=[most, secrets.token_hex(8)])) / 1e6
        except RedisError:  # then this process alone counts
            with self._lock:
                now = time.monotonic()
                while self._own and self._own[0] <= now - PACE_SECONDS:
                    self._own.popleft()
                if len(self._own) < most:
                    self._own.append(now)
                    return 0.0
                return self._own[0] + PACE_SECONDS - now
