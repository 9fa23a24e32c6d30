"""Limits HTTP answers in time and in bytes, from the first byte of their head.

httpx limits the seconds of each read, but neither the time of the whole answer nor its size. A
server could send its head byte by byte, `100 Continue` without end, or a small body that unpacks to
a large one. The limits are therefore enforced in the sockets below httpx. Compressed bodies are
rejected, because the request accepts none.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

HEAD_BYTES = 131_072  # two reads of httpcore; h11 rejects a head of more than 100 kB


class AnswerRefused(httpx.HTTPError):
    """The answer is too large or compressed; the message says which."""


@dataclass
class _Limit:
    """The time and bytes left for the answer to this thread's request."""

    until: float  # monotonic seconds
    bytes_left: int
    most_bytes: int

    def seconds_left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the answer took too long")
        return left

    def count(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise AnswerRefused(f"more than {self.most_bytes:,} bytes")


_limit: ContextVar[_Limit] = ContextVar("limit")


def bounded_client(timeout: httpx.Timeout, limits: httpx.Limits) -> httpx.Client:
    """Return an HTTP client whose responses must be read with `receive`, which limits their size
    and time. It uses the proxies set in environment variables."""
    client = httpx.Client(
        timeout=timeout,
        limits=limits,
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
    )
    # httpx has no argument for the sockets of its pools
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001
        if isinstance(transport, httpx.HTTPTransport):
            transport._pool._network_backend = _Backend()  # noqa: SLF001
    return client


def receive(
    client: httpx.Client, request: httpx.Request, *, seconds: float, most_bytes: int
) -> httpx.Response:
    """Return the whole answer within `seconds`, counted from the connection to the last byte.
    Raises AnswerRefused and httpx's errors."""
    limit = _Limit(time.monotonic() + seconds, HEAD_BYTES, HEAD_BYTES)
    token = _limit.set(limit)
    try:
        with contextlib.closing(client.send(request, stream=True)) as response:
            if response.headers.get("content-encoding", "").lower() not in ("", "identity"):
                raise AnswerRefused(
                    "the answer is compressed, although the request does not allow compression"
                )
            limit.bytes_left = limit.most_bytes = most_bytes
            response.read()
            return response
    finally:
        _limit.reset(token)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        limit = _limit.get()
        left = limit.seconds_left()
        content = self._stream.read(max_bytes, left if timeout is None else min(timeout, left))
        limit.count(len(content))
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(super().connect_tcp(host, port, timeout, local_address, socket_options))
