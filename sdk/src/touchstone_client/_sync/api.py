# Made by sdk/generate.py from _async/api.py; do not edit.
"""Sends API calls with retries, reads event streams, and waits for jobs to end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from touchstone_client._events import EventParser, ServerSentEvent
from touchstone_client._http import Answer, Http, Stream, Request
from touchstone_client._retries import Tries
from touchstone_client._wire import (
    BATCH_ENDED,
    DETAILS,
    ENDED,
    MOST_WAIT_SECONDS,
    NOTHING,
    Fields,
    VersionNotice,
    encoded,
    new_key,
)
from touchstone_client.errors import (
    ConnectionFailed,
    NotFound,
    RateLimited,
    TimedOut,
    Unavailable,
    refusal,
)

SILENT_SECONDS = 45.0  # of a stream: a proxy holds it back
MOST_BROKEN = 2
NO_CONTENT = 204  # nothing follows the last event that was seen
KEEP_ALIVE_SECONDS = 16.0  # a stream says something as often as this
POLL_SECONDS = (0.25, 5.0)
LOOK_SECONDS = 5.0  # for several jobs, so that those that have ended are shown
MOST_AT_ONCE = 100  # jobs of one look
SLACK_SECONDS = 30.0  # beyond what the service was asked to wait


See = Callable[[Fields], object]


class StreamLost(Exception):
    """The event stream is broken. Ask for the state of the job or batch instead."""


class Api:
    """A connection to one service. `patience` is how many seconds to wait for a service that is
    unavailable."""

    def __init__(self, http: Http, *, patience: float, timeout: float) -> None:
        self._http = http
        self.url = http.url
        self._timeout = timeout
        self._notice = VersionNotice()
        self.patience = patience

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request, *, patience: float = 0.0, again: bool = True) -> Answer:
        """Send a request and return its successful response. `again` means that the call may be
        repeated if a response is lost. Raises ApiError, ConnectionFailed."""
        request = replace(request, seconds=max(request.seconds, self._timeout))
        tries = Tries(patience)
        while True:
            try:
                answer = self._http.send(request)
            except ConnectionFailed:
                pause = tries.pause(None) if again else None
                if pause is None:
                    raise
            else:
                self._notice.look(answer)
                if answer.is_good:
                    return answer
                pause = tries.pause(answer)
                if pause is None:
                    raise refusal(answer.status, answer.headers, answer.body)
            self._http.sleep(pause)

    def get(self, path: str, *, patience: float = 0.0, **params: Any) -> Answer:
        """Send a GET request. `params` that are None are left out."""
        sent = {name: str(value) for name, value in params.items() if value is not None}
        return self.ask(Request("GET", path, params=sent), patience=patience)

    def post(
        self, path: str, body: Any, *, wait: float = 0.0, patience: float = 0.0, key: str = ""
    ) -> Answer:
        """Send a POST request. It is safe to repeat, since all retries use the same idempotency
        key. `wait` is how many seconds the service may wait before it responds."""
        headers = {"Idempotency-Key": key or new_key()}
        seconds = min(int(wait), MOST_WAIT_SECONDS)
        if seconds > 0:
            headers["Prefer"] = f"wait={seconds}"
        request = Request(
            "POST", path, encoded(body), headers=headers, seconds=seconds + SLACK_SECONDS
        )
        return self.ask(request, patience=patience)

    @contextmanager
    def open(self, request: Request) -> Iterator[Stream]:
        """Send a request and yield its response as a stream. Raises ApiError, ConnectionFailed."""
        with self._http.open(request) as stream:
            if not 200 <= stream.status < 300:
                raise refusal(stream.status, stream.headers, stream.read())
            yield stream

    def events(
        self, path: str, deadline: float | None = None
    ) -> Iterator[ServerSentEvent]:
        """Yield the events of a stream. `deadline` is a time of `time.monotonic`. Raises StreamLost
        if no events arrive, or if the deadline is near."""
        parser = EventParser()
        broken = 0
        while broken < MOST_BROKEN:
            before = parser.last_id
            try:
                for event in self._events_once(path, parser, deadline):
                    yield event
            except (ConnectionFailed, RateLimited, Unavailable) as error:
                if isinstance(error, RateLimited) or getattr(error, "silent", False):
                    raise StreamLost from None
            if parser.has_ended:
                return
            broken = broken + 1 if parser.last_id == before else 1
            self._http.sleep(POLL_SECONDS[0])
        raise StreamLost

    def _events_once(
        self, path: str, parser: EventParser, deadline: float | None
    ) -> Iterator[ServerSentEvent]:
        """Yield the events of one stream, after the last event that the parser has seen."""
        headers = {"Accept": "text/event-stream"}
        if parser.last_id is not None:
            headers["Last-Event-ID"] = parser.last_id
        request = Request("GET", path, headers=headers, seconds=_silence(deadline))
        parser.begin()
        with self.open(request) as stream:
            parser.has_ended = stream.status == NO_CONTENT
            for line in stream.lines():
                event = parser.take(line)
                if parser.has_ended:
                    return
                if event is not None:
                    yield event
                elif _is_near(deadline):
                    raise StreamLost

    def ended_job(self, job_id: str, seconds: float | None) -> dict[str, Any]:
        """Wait until the job has ended and return it. Raises TimedOut, ApiError,
        ConnectionFailed."""
        return self._ended(f"/v1/jobs/{job_id}", seconds, ENDED, unseen, DETAILS)

    def ended_batch(self, batch_id: str, seconds: float | None, see: See) -> dict[str, Any]:
        """Wait until the batch has ended and return it. Meanwhile `see` is called with each state.
        Raises TimedOut, ApiError, ConnectionFailed."""
        return self._ended(f"/v1/batches/{batch_id}", seconds, BATCH_ENDED, see, NOTHING)

    def _ended(
        self, path: str, seconds: float | None, ends: frozenset[str], see: See, params: Fields
    ) -> dict[str, Any]:
        deadline = None if seconds is None else time.monotonic() + seconds
        if not _is_near(deadline):
            try:
                for event in self.events(f"{path}/events", deadline):
                    see(json.loads(event.data))
            except StreamLost:
                pass
        pause = POLL_SECONDS[0]
        while True:
            answer = self.get(path, patience=self.patience, **params)
            document: dict[str, Any] = json.loads(answer.body)
            see(document)
            if document["status"] in ends:
                return document
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimedOut(document["id"], seconds or 0.0)
            self._http.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, POLL_SECONDS[1])

    def jobs(self, ids: Sequence[str], *, wait: float = 0.0) -> list[Fields]:
        """Return at most 100 jobs, in any order. `wait` is how many seconds to wait for all of them
        to end. Raises NotFound if a job no longer exists."""
        query = urlencode([*DETAILS.items(), *(("id", id) for id in ids)])
        seconds = min(int(wait), MOST_WAIT_SECONDS)
        headers = {"Prefer": f"wait={seconds}"} if seconds > 0 else {}
        request = Request(
            "GET", f"/v1/jobs?{query}", headers=headers, seconds=seconds + SLACK_SECONDS
        )
        answer = self.ask(request, patience=self.patience)
        listed: list[Fields] = json.loads(answer.body)["data"]
        missing = sorted(set(ids) - {str(job["id"]) for job in listed})
        if missing:
            problem = {"title": "No such job", "detail": f"there is no job {missing[0]!r}"}
            raise NotFound(404, problem)
        return listed

    def ended_jobs(self, ids: list[str]) -> Iterator[Fields]:
        """Yield each of these jobs once, soon after it has ended."""
        open_ids = ids
        while open_ids:
            some, rest = open_ids[:MOST_AT_ONCE], open_ids[MOST_AT_ONCE:]
            listed = self.jobs(some, wait=LOOK_SECONDS)
            for job in listed:
                if job["status"] in ENDED:
                    yield job
            open_ids = rest + [str(job["id"]) for job in listed if job["status"] not in ENDED]


def unseen(_found: Fields) -> None:
    """Ignore the state of a batch. Used as the callback where no progress is reported."""


def _silence(deadline: float | None) -> float:
    if deadline is None:
        return SILENT_SECONDS
    return min(SILENT_SECONDS, max(1.0, deadline - time.monotonic()))


def _is_near(deadline: float | None) -> bool:
    return deadline is not None and deadline - time.monotonic() < KEEP_ALIVE_SECONDS
