"""Allowed destinations of webhooks: public unicast addresses by https, and allowed networks.

The functions are pure and check a URL before its name is resolved. The final check is made when
connecting (services/scheduler/webhooks.py): there the name is resolved and
`DestinationPolicy.allows` checks each address.

Sources: the IANA special-purpose address registries (RFC 6890 and its updates); the table of Svix's
`webhook_http_client.rs`, which lists ways to evade such checks (NAT64, 6to4, mapped addresses).
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

import httpx

from shared.process.settings import Settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
PUBLIC_V6 = ip_network("2000::/3")  # global unicast
MOST_CHARACTERS = 2_048
RESOLVE_SECONDS = 2.0  # at registration; at an attempt, its own limit
Resolve = Callable[[str, int], Awaitable[list[str]]]  # host, port → addresses; raises OSError
HOST = re.compile(  # a name of labels (RFC 1035, 2.3.4), or an IPv6 address
    r"(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?|[0-9a-f:.]{2,45}"
)
PUBLIC_PORTS = (443, 8443)  # of public addresses; networks in `webhook_allow` may use any port
PORTS = {"https": 443, "http": 80}
MOST_PORT = 65_535
INSIDE = frozenset({"local", "localdomain", "internal", "svc"})  # last labels of names


@dataclass(frozen=True)
class DestinationPolicy:
    """Allows public addresses by https on these ports, and allowed networks with any scheme and
    port."""

    allowed: Sequence[Network]
    ports: Sequence[int]

    def check(self, url: str) -> Destination:
        """Return the destination after the checks that need only the URL. Raises
        ForbiddenDestination."""
        destination = read(url)
        address = _parse_host(destination.host)
        if address is not None:
            self.check_address(address, destination)
        elif not self.allowed:
            if is_inside(destination.host):
                raise ForbiddenDestination("the host's name is not public; use a public host name")
            self._check_https_and_port(destination)
        return destination

    def check_address(self, address: Address, destination: Destination) -> None:
        """Raise ForbiddenDestination if this canonical address may not be reached with the
        destination's scheme and port."""
        if is_listed(address, self.allowed):
            return
        if not is_public(address):
            raise ForbiddenDestination("the host's IP address is not public; use a public host")
        self._check_https_and_port(destination)

    async def check_name(self, destination: Destination, resolver: Resolve) -> None:
        """Check the addresses that a host name resolves to, unless it is a public name with HTTPS
        and an allowed port. Raises ForbiddenDestination if an address is not allowed. A name that
        cannot be resolved passes, because nothing can be sent to that name."""
        if _parse_host(destination.host) is not None:
            return  # checked as an address
        with suppress(ForbiddenDestination):
            if not is_inside(destination.host):
                self._check_https_and_port(destination)
                return
        with suppress(OSError, UnicodeError):  # TimeoutError is an OSError
            async with asyncio.timeout(RESOLVE_SECONDS):
                resolved = await resolver(destination.host, destination.port)
            for text in resolved:
                self.check_address(canonical(text), destination)

    def _check_https_and_port(self, destination: Destination) -> None:
        if destination.scheme != "https":
            raise ForbiddenDestination("the URL must begin with https://")
        if destination.port not in self.ports:
            ports = ", ".join(str(port) for port in self.ports)
            raise ForbiddenDestination(f"the port must be one of {ports}")


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host from the system resolver. Raises OSError."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in entries]


def policy_of(settings: Settings) -> DestinationPolicy:
    return DestinationPolicy(allowed=settings.webhook_allow, ports=PUBLIC_PORTS)


@dataclass(frozen=True)
class Destination:
    """A parsed URL: its host, port and scheme."""

    scheme: str
    host: str  # ASCII (IDNA); an IPv6 literal without brackets
    port: int
    target: str  # path and query, as sent

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


class ForbiddenDestination(ValueError):
    """This URL or address is forbidden. The message tells the tenant why."""


def read(url: str) -> Destination:
    """Parse the URL. Raises ForbiddenDestination unless it is a plain http(s) URL."""
    if len(url) > MOST_CHARACTERS:
        raise ForbiddenDestination(f"the URL may have at most {MOST_CHARACTERS} characters")
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").strip("[]")
    except (httpx.InvalidURL, ValueError, TypeError):
        raise ForbiddenDestination("the value is not a valid URL") from None
    if parsed.scheme not in PORTS or not HOST.fullmatch(host):
        raise ForbiddenDestination("the URL must begin with https:// and name a host")
    port = PORTS[parsed.scheme] if parsed.port is None else parsed.port
    if not 1 <= port <= MOST_PORT:
        raise ForbiddenDestination(f"a port is a number from 1 to {MOST_PORT}")
    if parsed.userinfo or parsed.fragment:
        raise ForbiddenDestination("the URL must not contain credentials or a fragment")
    return Destination(
        scheme=parsed.scheme,
        host=host,
        port=port,
        target=parsed.raw_path.decode("ascii"),
    )


def _parse_host(host: str) -> Address | None:
    """Return the host's address, or None if the host is a name. Raises ForbiddenDestination for an
    unusual spelling of an IPv4 address, because libraries differ in which spellings they accept."""
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


INTERNAL_V4 = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata services of the clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)


INTERNAL_V6 = tuple(
    ip_network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address inside
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def canonical(text: str) -> Address:
    """Return the address that a socket would connect to. Brackets and zone are removed, and mapped
    addresses become IPv4. Raises ValueError if the text is no address."""
    address = ip_address(text.strip("[]").partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def ends_in_number(host: str) -> bool:
    """Return True if resolvers may read this name as an IPv4 address: 127.1, 0x7f.1, 2130706433.
    Source: the URL Standard's "ends in a number" checker; inet_aton accepts the same forms."""
    last = host.lower().rstrip(".").rpartition(".")[2]
    return re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last) is not None


def is_localhost(host: str) -> bool:
    """Return True if the name always refers to this machine (RFC 6761, section 6.3)."""
    name = host.lower().rstrip(".")
    return name in ("localhost", "localhost.localdomain") or name.endswith(".localhost")


def is_inside(host: str) -> bool:
    """Return True for a name that exists only in internal networks: it is in an internal zone,
    or has no dots. Sources: RFC 6762 (`local`); ICANN, July 2024 (`internal`) and RFC 7085
    (names without a dot). Kubernetes' resolvers complete `svc`, and many hosts files have
    `localdomain`."""
    _, dot, zone = host.lower().rstrip(".").rpartition(".")
    return host.endswith("..") or not dot or zone in INSIDE


def is_public(address: Address) -> bool:
    """Return True if the canonical address is public unicast. IPv6 addresses with an embedded IPv4
    address (6to4, Teredo) are not public."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in INTERNAL_V4)
    inside = any(address in network for network in INTERNAL_V6)
    return address in PUBLIC_V6 and not inside


def is_listed(address: Address, allowed: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in allowed)


LOOPBACK = canonical("127.0.0.1")
