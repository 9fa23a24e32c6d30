"""Where a webhook may go: what can be said of a URL before any name is resolved.

The last word is spoken when a connection is made (services/scheduler/webhooks/connecting.py): there
the name is resolved and each of its addresses judged by `Policy.allows`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from shared.settings import Settings
from shared.webhooks.addresses import (
    Address,
    Network,
    canonical,
    ends_in_number,
    is_listed,
    is_localhost,
    is_public,
)

MOST_CHARACTERS = 2_048
HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")  # a name, or an IPv6 address
PORTS = {"https": 443, "http": 80}
LOOPBACK = canonical("127.0.0.1")


class ForbiddenDestination(ValueError):
    """This URL or address may not be reached; the text says why, for the tenant's eyes."""


@dataclass(frozen=True)
class Destination:
    """A URL that was read: where it leads, and in which way."""

    scheme: str
    host: str  # ASCII (IDNA); an IPv6 literal without brackets
    port: int
    target: str  # path and query, as sent

    @property
    def host_header(self) -> str:
        """The Host header's value."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True)
class Policy:
    """Public addresses by https on these ports; allowed networks in any way on any port."""

    allowed: Sequence[Network]
    ports: Sequence[int]

    def check(self, url: str) -> Destination:
        """The destination, as far as can be seen from the URL. Raises ForbiddenDestination."""
        destination = read(url)
        address = _address_of(destination.host)
        if address is not None:
            self.allows(address, destination)
        elif not self.allowed:
            self._demand_public_manners(destination)
        return destination

    def allows(self, address: Address, destination: Destination) -> None:
        """Raises ForbiddenDestination where this (canonical) address must not be reached so."""
        if is_listed(address, self.allowed):
            return
        if not is_public(address):
            raise ForbiddenDestination("the host's address is not public")
        self._demand_public_manners(destination)

    def _demand_public_manners(self, destination: Destination) -> None:
        if destination.scheme != "https":
            raise ForbiddenDestination("the URL must begin with https://")
        if destination.port not in self.ports:
            ports = ", ".join(str(port) for port in self.ports)
            raise ForbiddenDestination(f"the port must be one of {ports}")


def _address_of(host: str) -> Address | None:
    """The address that the host is, None for a name. Raises ForbiddenDestination.

    A socket reads more spellings of an address than we do, and not every library the same ones.
    """
    if is_localhost(host):
        return LOOPBACK
    try:
        return canonical(host)
    except ValueError:
        if ends_in_number(host):
            raise ForbiddenDestination(
                "write an IPv4 address as four decimal numbers, as in 192.0.2.1"
            ) from None
        return None


def policy_of(chosen: Settings) -> Policy:
    """The operator's policy."""
    return Policy(allowed=chosen.webhook_allow, ports=chosen.webhook_ports)


def read(url: str) -> Destination:
    """The URL's parts. Raises ForbiddenDestination where it is no plain http(s) URL."""
    if len(url) > MOST_CHARACTERS:
        raise ForbiddenDestination(f"the URL may have {MOST_CHARACTERS} characters")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").strip("[]")
    except (httpx.InvalidURL, ValueError, TypeError):
        raise ForbiddenDestination("this is not a URL") from None
    if parsed.scheme not in PORTS or not HOST.fullmatch(host):
        raise ForbiddenDestination("the URL must begin with https:// and name a host")
    if parsed.userinfo or parsed.fragment:
        raise ForbiddenDestination("the URL may have neither credentials nor a fragment")
    return Destination(
        scheme=parsed.scheme,
        host=host,
        port=parsed.port or PORTS[parsed.scheme],
        target=parsed.raw_path.decode("ascii"),
    )
