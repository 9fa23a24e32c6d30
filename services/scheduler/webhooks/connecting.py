"""Connections to vetted addresses only: the name is resolved here, and every address judged.

The name is resolved once and the socket opened to the very address that was judged, so a name that
changes its mind (DNS rebinding) changes nothing. Host header, SNI and certificate check keep the
name: httpcore takes them from the URL. There is no proxy and no redirect at this layer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable

import httpcore

from shared.webhooks.addresses import Address, canonical
from shared.webhooks.destination import Destination, ForbiddenDestination, Policy

Resolve = Callable[[str, int], Awaitable[list[str]]]  # host, port → addresses; raises OSError

MOST_ADDRESSES = 8  # that are tried one after the other


class UnknownName(httpcore.ConnectError):
    """The name has no address."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system resolver gives them. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


class VettedBackend(httpcore.AsyncNetworkBackend):
    """Opens sockets for one destination under a policy."""

    def __init__(self, policy: Policy, destination: Destination, resolver: Resolve) -> None:
        self._policy = policy
        self._destination = destination
        self._resolver = resolver
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A stream to the first vetted address that answers.

        Raises ForbiddenDestination before any packet is sent where a single address is not allowed.
        """
        failed: Exception = UnknownName("the name has no address")
        for address in await self.vetted(host, port):
            try:
                return await self._sockets.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def vetted(self, host: str, port: int) -> list[Address]:
        """The addresses of this host, all allowed. Raises ForbiddenDestination, UnknownName."""
        try:
            found = await self._resolver(host, port)
        except (OSError, UnicodeError):
            raise UnknownName("the name cannot be resolved") from None
        addresses = list(dict.fromkeys(canonical(text) for text in found))
        for address in addresses:
            self._policy.allows(address, self._destination)
        return addresses[:MOST_ADDRESSES]

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Never."""
        raise ForbiddenDestination("no Unix sockets")

    async def sleep(self, seconds: float) -> None:
        """As any backend."""
        await self._sockets.sleep(seconds)
