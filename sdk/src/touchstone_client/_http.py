"""HTTP connections, blocking and async. This is the only module that uses httpx."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import BinaryIO

from touchstone_client._messages import httpx
from touchstone_client.errors import ConnectionFailed

try:
    CLIENT_VERSION = version("touchstone-client")
except PackageNotFoundError:  # a folder that was never installed
    CLIENT_VERSION = "0.0.0"
AGENT = f"touchstone-client/{CLIENT_VERSION} python/{platform.python_version()}"
CONNECT_SECONDS = 10.0
WRITE_SECONDS = 60.0


@dataclass(frozen=True)
class Request:
    """An HTTP request. `body` is JSON unless the headers state another type. `file` is the (name,
    content) of an upload. `seconds` is the read timeout: the connection counts as broken if nothing
    arrives for this time."""

    method: str
    path: str
    body: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    file: tuple[str, BinaryIO] | None = None
    seconds: float = 60.0


@dataclass(frozen=True)
class Answer:
    """A complete response. The keys of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_good(self) -> bool:
        """Return True if the status means success."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Access:
    """The address of the service, and the API key."""

    url: str
    api_key: str | None = None

    def client_options(self) -> dict[str, object]:
        """Return options for an httpx client. Raises ValueError for an invalid API key, without
        repeating it."""
        headers = {"User-Agent": AGENT}
        if key := (self.api_key or "").strip():
            if not (key.isascii() and key.isprintable()):
                raise ValueError(
                    "the API key contains a character that is not allowed, such as a line break; "
                    "check TOUCHSTONE_API_KEY"
                )
            headers["Authorization"] = f"Bearer {key}"
        return {"base_url": self.url, "headers": headers}


def _built(client: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
    headers = dict(request.headers)
    if request.body is not None:
        headers.setdefault("Content-Type", "application/json")
    limits = httpx.Timeout(
        request.seconds, connect=CONNECT_SECONDS, write=max(request.seconds, WRITE_SECONDS)
    )
    upload = {}
    if request.file is not None:
        name, content = request.file
        content.seek(0)
        upload = {
            "data": {"purpose": "batch"},
            "files": {"file": (name, content, "application/jsonl")},
        }
    return client.build_request(
        request.method,
        request.path,
        content=request.body,
        params=dict(request.params) or None,
        headers=headers,
        timeout=limits,
        **upload,  # type: ignore[arg-type]
    )


def _head(response: httpx.Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _failed(url: str, error: Exception) -> ConnectionFailed:
    silent = isinstance(error, httpx.ReadTimeout)
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ConnectionFailed(f"{url!r} is not a valid address of a service: {error}")
    return ConnectionFailed(
        f"{url} cannot be reached ({error or type(error).__name__})", silent=silent
    )


def _failures() -> tuple[type[Exception], ...]:
    return httpx.TransportError, httpx.InvalidURL


class Stream:
    """A response that is read in pieces."""

    def __init__(self, response: httpx.Response, url: str) -> None:
        self._response = response
        self._url = url
        self.status = response.status_code
        self.headers = _head(response)

    def read(self) -> bytes:
        """Return the whole body."""
        try:
            return self._response.read()
        except _failures() as error:
            raise _failed(self._url, error) from None

    def lines(self) -> Iterator[str]:
        """Yield the lines of the body. Raises ConnectionFailed if the connection breaks."""
        try:
            yield from self._response.iter_lines()
        except _failures() as error:
            raise _failed(self._url, error) from None

    def pieces(self) -> Iterator[bytes]:
        """Yield the pieces of the body. Raises ConnectionFailed if the connection breaks."""
        try:
            yield from self._response.iter_bytes()
        except _failures() as error:
            raise _failed(self._url, error) from None


class AsyncStream:
    """An HTTP response whose body is read piece by piece, for async code."""

    def __init__(self, response: httpx.Response, url: str) -> None:
        self._response = response
        self._url = url
        self.status = response.status_code
        self.headers = _head(response)

    async def read(self) -> bytes:
        """Return the whole body."""
        try:
            return await self._response.aread()
        except _failures() as error:
            raise _failed(self._url, error) from None

    async def lines(self) -> AsyncIterator[str]:
        """Yield the lines of the body. Raises ConnectionFailed if the connection breaks."""
        try:
            async for line in self._response.aiter_lines():
                yield line
        except _failures() as error:
            raise _failed(self._url, error) from None

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the pieces of the body. Raises ConnectionFailed if the connection breaks."""
        try:
            async for piece in self._response.aiter_bytes():
                yield piece
        except _failures() as error:
            raise _failed(self._url, error) from None


class Http:
    """Connections to one service, kept open between calls."""

    def __init__(self, access: Access) -> None:
        self.url = access.url
        self._client = httpx.Client(**access.client_options())  # type: ignore[arg-type]

    def send(self, request: Request) -> Answer:
        """Send the request and return the response. Raises ConnectionFailed."""
        try:
            response = self._client.send(_built(self._client, request))
        except _failures() as error:
            raise _failed(self.url, error) from None
        return Answer(response.status_code, _head(response), response.content)

    @contextmanager
    def open(self, request: Request) -> Iterator[Stream]:
        """Send the request and yield the response, to be read in pieces. Raises
        ConnectionFailed."""
        try:
            response = self._client.send(_built(self._client, request), stream=True)
        except _failures() as error:
            raise _failed(self.url, error) from None
        try:
            yield Stream(response, self.url)
        finally:
            response.close()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        self._client.close()


class AsyncHttp:
    """Async connections to one service, kept open between calls."""

    def __init__(self, access: Access) -> None:
        self.url = access.url
        self._client = httpx.AsyncClient(**access.client_options())  # type: ignore[arg-type]

    async def send(self, request: Request) -> Answer:
        """Send the request and return the response. Raises ConnectionFailed."""
        try:
            response = await self._client.send(_built(self._client, request))
        except _failures() as error:
            raise _failed(self.url, error) from None
        return Answer(response.status_code, _head(response), response.content)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[AsyncStream]:
        """Send the request and yield the response, to be read in pieces. Raises
        ConnectionFailed."""
        try:
            response = await self._client.send(_built(self._client, request), stream=True)
        except _failures() as error:
            raise _failed(self.url, error) from None
        try:
            yield AsyncStream(response, self.url)
        finally:
            await response.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        await self._client.aclose()
