"""Generates HTTP load with little CPU: prepared bytes over persistent connections."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Loaded:
    """The duration in seconds of every request, and of all requests together."""

    seconds: list[float]
    elapsed: float

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.elapsed

    def quantile(self, share: float) -> float:
        """Return the latency in seconds that this share of the requests did not exceed."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def closed(url: str, path: str, bodies: Sequence[Any], clients: int) -> Loaded:
    """Let every client post its next body once its last request was answered with 202."""
    return asyncio.run(_closed(url, _prepared(url, path, bodies), clients))


def paced(url: str, path: str, bodies: Sequence[Any], rate: float, clients: int) -> Loaded:
    """Send bodies at this rate, without waiting for answers. Latency counts from the scheduled
    time."""
    return asyncio.run(_paced(url, _prepared(url, path, bodies), rate, clients))


def _prepared(url: str, path: str, bodies: Sequence[Any]) -> list[bytes]:
    host = urlsplit(url).netloc
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return [
        f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text
        for text in (json.dumps(body).encode() for body in bodies)
    ]


async def _post(streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], raw: bytes) -> None:
    reader, writer = streams
    writer.write(raw)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].split("\r\n", 1)[0])
    body = await reader.readexactly(length)
    if " 202 " not in head.split("\r\n", 1)[0]:
        raise RuntimeError(f"not accepted: {head.splitlines()[0]} {body[:200]!r}")


async def _closed(url: str, raw: list[bytes], clients: int) -> Loaded:
    parts = urlsplit(url)
    waiting = iter(raw)
    seconds: list[float] = []

    async def client() -> None:
        streams = await asyncio.open_connection(parts.hostname, parts.port)
        for one in waiting:
            started = time.perf_counter()
            await _post(streams, one)
            seconds.append(time.perf_counter() - started)
        streams[1].close()

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return Loaded(seconds, time.perf_counter() - started)


async def _paced(url: str, raw: list[bytes], rate: float, clients: int) -> Loaded:
    parts = urlsplit(url)
    seconds: list[float] = []
    free: asyncio.Queue[Any] = asyncio.Queue()
    for _ in range(clients):
        free.put_nowait(await asyncio.open_connection(parts.hostname, parts.port))

    async def one(body: bytes, due: float) -> None:
        streams = await free.get()
        await _post(streams, body)
        free.put_nowait(streams)
        seconds.append(time.perf_counter() - due)

    started = time.perf_counter()
    tasks = []
    for number, body in enumerate(raw):
        due = started + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(body, due)))
    await asyncio.gather(*tasks)
    return Loaded(seconds, time.perf_counter() - started)
