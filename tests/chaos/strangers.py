"""Strangers without a key, in a process of their own: `python -m tests.chaos.strangers`.

Forms that never end, on connection after connection; and heads of requests that never come whole.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from tests.chaos.faults import AWAY_SECONDS
from tests.end_to_end.service import ROOT, Service

FORM = "Content-Type: application/x-www-form-urlencoded"
PATHS = ("/login", "/logout", "/settings", "/try")
PIECE = b"8000\r\n" + b"&" * 0x8000 + b"\r\n"
FLOODERS, HALF_SENT = 40, 600
ADDRESSES = 4  # of loopback: each has fewer connections than one address may have
BYTE_SECONDS = 1.0  # between two bytes of a head


def flood_of_forms(service: Service) -> str:
    """`&&&&` for ever."""
    return _attack("forms", service)


def half_sent_heads(service: Service) -> str:
    """A byte a second."""
    return _attack("heads", service)


def _attack(kind: str, service: Service) -> str:
    command = [sys.executable, "-m", "tests.chaos.strangers", kind, service.url]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=20 * AWAY_SECONDS
    )
    return done.stdout.strip()


Stranger = Callable[[str, int, int], Awaitable[None]]


async def _form(host: str, port: int, number: int) -> None:
    """One connection, until it is closed."""
    reader, writer = await asyncio.open_connection(host, port)
    fields = (f"Host: {host}", FORM, "Transfer-Encoding: chunked")
    writer.write(_head("POST", PATHS[number % len(PATHS)], *fields))
    try:
        while True:
            writer.write(PIECE)
            await writer.drain()
    finally:
        writer.transport.abort()
        del reader


async def _half(host: str, port: int, number: int) -> None:
    """A head that gets longer and does not end."""
    local = (f"127.0.0.{2 + number % ADDRESSES}", 0)
    reader, writer = await asyncio.open_connection(host, port, local_addr=local)
    writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
    try:
        while not reader.at_eof():
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(BYTE_SECONDS)
    finally:
        writer.transport.abort()


def _head(method: str, path: str, *fields: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", *fields, "", ""]).encode()


async def _crowd(one: Stranger, strangers: int, url: str) -> int:
    """So many at a time, each again as soon as it was shown out; how often that was."""
    host, port = urlsplit(url).hostname or "", urlsplit(url).port or 80
    connections = itertools.count()
    until = time.monotonic() + AWAY_SECONDS

    async def again_and_again(number: int) -> None:
        while time.monotonic() < until:
            next(connections)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + AWAY_SECONDS):
                    await one(host, port, number)
            await asyncio.sleep(0)

    await asyncio.gather(*map(again_and_again, range(strangers)))
    return next(connections)


KINDS = {"forms": (_form, FLOODERS), "heads": (_half, HALF_SENT)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.strangers", description=__doc__)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("url", help="of the gateway")
    asked = parser.parse_args()
    one, strangers = KINDS[asked.kind]
    number = asyncio.run(_crowd(one, strangers, asked.url))
    sys.stdout.write(f"{strangers} at a time, {number} connections in {AWAY_SECONDS} s\n")


if __name__ == "__main__":
    main()
