"""The service as the command line sees it: httpx, with every refusal made readable."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from shared.settings import CommandSettings

Json = dict[str, Any]

SECONDS = 60.0  # without a byte
PATIENCE_SECONDS = 60.0  # for a service that is away while we wait for a batch
POLL_SECONDS = 1.0
FINAL = ("completed", "succeeded", "failed", "expired", "cancelled")  # of batches and of jobs


class Refused(Exception):
    """The service, or the way to it, says no; the message is for people."""


class HttpSession:
    """A client of one host; closed at the end of a `with` block."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()


class Api(HttpSession):
    """One service. Raises Refused."""

    def __init__(
        self, chosen: CommandSettings, transport: httpx.BaseTransport | None = None
    ) -> None:
        key = chosen.api_key
        headers = {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}
        self._url = chosen.url
        super().__init__(
            httpx.Client(base_url=chosen.url, headers=headers, timeout=SECONDS, transport=transport)
        )

    def get(self, path: str, **parameters: str) -> Json:
        """What stands there, as JSON."""
        found: Json = self._asked("GET", path, params=parameters).json()
        return found

    def answer(self, path: str, *, wait: int = 0, **parameters: str) -> httpx.Response:
        """What stands there, as it comes; `wait`: at most so many seconds for it to be ready."""
        headers = {"Prefer": f"wait={wait}"} if wait else {}
        return self._asked("GET", path, params=parameters, headers=headers)

    def upload(self, file: Path) -> Json:
        """A new file; it is read as it is sent."""
        with file.open("rb") as stream:
            sent = {"file": (file.name, stream, "application/jsonl")}
            answer = self._asked("POST", "/v1/files", data={"purpose": "batch"}, files=sent)
        made: Json = answer.json()
        return made

    def make(self, path: str, asked: Json) -> Json:
        """A new batch or job; the key makes a repeated try safe."""
        key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
        made: Json = self._asked("POST", path, json=asked, headers=key).json()
        return made

    def download(self, file_id: str) -> Iterator[bytes]:
        """A file's bytes, a piece at a time."""
        yield from self.pieces(f"/v1/files/{file_id}/content")

    def pieces(self, path: str) -> Iterator[bytes]:
        """What stands there, a piece at a time."""
        try:
            with self._client.stream("GET", path) as answer:
                if answer.is_error:
                    answer.read()
                yield from _good(answer).iter_bytes()
        except httpx.TransportError as error:
            raise self._away(error) from None

    def watched(self, path: str) -> Iterator[Json]:
        """The batch or job over and over until it is final; a service that is away is waited
        for."""
        last_heard, found = time.monotonic(), Json()
        while True:
            try:
                found = self.get(path)
                last_heard = time.monotonic()
                yield found
            except Away:
                if time.monotonic() - last_heard > PATIENCE_SECONDS:
                    raise
            if found.get("status") in FINAL:
                return
            time.sleep(POLL_SECONDS)

    def _asked(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            return _good(self._client.request(method, path, **more))
        except httpx.TransportError as error:
            raise self._away(error) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise Refused(f"TOUCHSTONE_URL is no address: {self._url}: {error}") from None

    def _away(self, error: httpx.TransportError) -> Away:
        return Away(f"{self._url} cannot be reached ({error or type(error).__name__})")


class Away(Refused):
    """No answer, or one that says: later."""


def _good(answer: httpx.Response) -> httpx.Response:
    """The answer, unless it is a problem."""
    if answer.is_success:
        return answer
    kind = Away if answer.status_code in (429, 502, 503, 504) else Refused
    raise kind(_problem_of(answer))


def _problem_of(answer: httpx.Response) -> str:
    """A problem in one line: title, detail, and where."""
    try:
        problem = answer.json()
        title, detail = problem["title"], problem.get("detail", "")
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code} {answer.reason_phrase}"
    places = ", ".join(entry["pointer"] for entry in problem.get("errors") or ())
    return f"{title}: {detail}" + (f" (at {places})" if places else "")
