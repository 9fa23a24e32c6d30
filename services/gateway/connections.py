"""Limits on connections: their number, their number per client address, and the time to send the
request headers.

uvicorn alone only closes idle connections. A slow client could keep its connection forever. This
module adds the equivalents of nginx's client_header_timeout, limit_conn and lingering_close.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from services.gateway.refusals import HeaderFieldsTooLarge, NotHttp, RequestTimeout
from shared.contracts.errors import ScoringError
from shared.contracts.problems import problem, to_public
from shared.process.telemetry import HTTP_REFUSED, new_request_id

CONNECTIONS_PER_ADDRESS = 250  # open ones; addresses of `proxies` have no limit
HEAD_SECONDS = 10.0  # from the first byte of a request to the end of its head
SPARE = 64  # connections beyond the limits: they may ask for probes, and are closed after that
SPARE_SECONDS = 2.0
LINGER_SECONDS = 2.0  # for a client that still sends to read its answer
LINGER_BYTES = 1_048_576
READ_SECONDS = 60.0  # a client that does not take what we write for so long is gone
READ_BYTES = 16_384  # at a time: between two reads others have their turn
HEAD_LINES = 128
HEAD_BYTES = 16_384  # h11 counts only what is there before the last read
CHUNKS = 256  # of a body, of any size; all others have
CHUNK_BYTES = 32  # on the average
CLOSED = "the connection is closed"

LOGGER = logging.getLogger("uvicorn.error.connections")
LOGGER.setLevel(logging.ERROR)  # a line for each request that is no HTTP would fill the disk


@dataclass(frozen=True)
class Limits:
    """The limits on connections. `proxies` are networks whose addresses have no limit, since many
    clients share each."""

    connections: int
    proxies: Sequence[IPv4Network | IPv6Network]

    def counts(self, address: str) -> bool:
        """Return True if the number of connections from this address is limited."""
        try:
            ip = ip_address(address)
        except ValueError:  # a Unix socket: a proxy
            return False
        return not any(ip.version == net.version and ip in net for net in self.proxies)


class ConnectionCounter:
    """A counter of the open connections of a process. Use it only in the event loop's thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._of_address: Counter[str] = Counter()

    def is_full(self, address: str) -> bool:
        """Return True if a further connection from this address must be refused, by the limit per
        address or for all addresses."""
        limits, of_address = self.limits, self._of_address[address]
        too_many = of_address >= CONNECTIONS_PER_ADDRESS and limits.counts(address)
        return too_many or self.total >= limits.connections

    @property
    def total(self) -> int:
        """Return the number of open connections, including those reserved for health probes."""
        return self._of_address.total()

    @property
    def is_over_limit(self) -> bool:
        """Return True if even the connections reserved for health probes are in use."""
        return self.total >= self.limits.connections + SPARE

    def add(self, address: str) -> None:
        self._of_address[address] += 1

    def remove(self, address: str) -> None:
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]


class StrictConnection(h11.Connection):
    """HTTP/1.1 parser that refuses two kinds of request body. Tiny chunks are refused because each
    costs as much work as a large one. A body with both Transfer-Encoding and Content-Length could
    hide a second request (RFC 9112, section 6.3)."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD_BYTES)
        self._chunks, self._bytes = 0, 0
        self.head_is_too_large = False

    def next_event(self) -> Any:
        """Return the next event of the h11 parser. Raises RemoteProtocolError if the headers or the
        body are refused."""
        waits = len(self.trailing_data[0]) if self.their_state is h11.IDLE else 0
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            self.head_is_too_large = error.error_status_hint == HeaderFieldsTooLarge.status
            raise
        if isinstance(event, h11.Request):
            if waits - len(self.trailing_data[0]) > HEAD_BYTES:
                self.head_is_too_large = True
                raise h11.RemoteProtocolError("the request line and the headers are too long")
            self._chunks, self._bytes = 0, 0
            if {name for name, _ in event.headers} >= {b"content-length", b"transfer-encoding"}:
                raise h11.RemoteProtocolError(
                    "the request has both Content-Length and Transfer-Encoding; send one of them"
                )
        if isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            if self._chunks > CHUNKS + self._bytes / CHUNK_BYTES:
                raise h11.RemoteProtocolError(
                    "the chunks of the body are too small; send larger chunks"
                )
        return event


class LingeringTransport(asyncio.Transport):
    """Transport that gives the client time to read the response before it closes. Closing at once
    with unread input would reset the connection, and the client would lose the response."""

    def __init__(self, protocol: StrictProtocol) -> None:
        super().__init__()
        self._protocol = protocol

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self._protocol.transport.write(data)

    def is_closing(self) -> bool:
        return self._protocol.transport.is_closing()

    def close(self) -> None:
        self._protocol.close_after_read()


class StrictProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with connection limits."""

    connections_open: ConnectionCounter
    conn: StrictConnection

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = StrictConnection()
        self.logger = LOGGER
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._address: str | None = None  # None: not counted
        self._is_spare = False
        self._head_lines = 0
        self._lingered: int | None = None  # bytes thrown away; None: not yet closing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the new connection. If there are too many, serve only health probes or abort it."""
        super().connection_made(cast(asyncio.Transport, transport))
        if hasattr(self.transport, "max_size"):  # of asyncio's own transports: bytes of one read
            self.transport.max_size = READ_BYTES
        connections = self.connections_open
        if connections.is_over_limit:
            HTTP_REFUSED.labels("connections").inc()
            self.transport.abort()
            return
        address = self.client[0] if self.client else ""
        self._is_spare = connections.is_full(address)
        connections.add(address)
        self._address = address
        if self._is_spare:
            HTTP_REFUSED.labels("connections").inc()
            self.app_state = self.app_state | {"spare_connection": True}
        self._start_head_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._cancel_timeout()
        self._cancel_write_timeout()
        if self._address is not None:
            self.connections_open.remove(self._address)
            self._address = None

    def data_received(self, data: bytes) -> None:
        """Process the data unless the connection is closing or exceeds a limit."""
        if self._lingered is not None:
            self._lingered += len(data)
            if self._lingered > LINGER_BYTES:
                self.transport.abort()
            return
        if self.conn.their_state is h11.IDLE:
            self._head_lines += data.partition(b"\r\n\r\n")[0].count(b"\n")
            if self._head_lines > HEAD_LINES:
                self._close_with_error(HeaderFieldsTooLarge(CLOSED))
                return
        super().data_received(data)
        if self._timer is None and self.conn.their_state is h11.IDLE:
            self._start_head_timeout()  # the next one on this connection has begun

    def handle_events(self) -> None:
        """Process parsed events. A complete request stops the timer for slow clients."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._cancel_timeout()
            self._head_lines = 0
            self.cycle.transport = LingeringTransport(self)
            self.cycle.keep_alive = not self._is_spare

    def on_response_complete(self) -> None:
        """Limit the time to receive the rest of the body, then wait for the next request."""
        super().on_response_complete()
        if self._timer is None and self.cycle.response_complete and not self.transport.is_closing():
            unread = self.conn.their_state is h11.SEND_BODY
            if unread or (self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]):
                self._start_head_timeout()

    def close_after_read(self) -> None:
        """Close the connection. If the client is still sending, stop sending now and close the
        connection after at most `LINGER_SECONDS`."""
        if self.conn.their_state is not h11.SEND_BODY or self.transport.is_closing():
            self._close()
            return
        self._lingered = 0
        self._cancel_timeout()
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _start_head_timeout(self) -> None:
        seconds = SPARE_SECONDS if self._is_spare else HEAD_SECONDS
        self._cancel_timeout()
        self._timer = self.loop.call_later(seconds, self._head_missing)

    def _cancel_timeout(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_missing(self) -> None:
        """Close the connection because the request's headers did not arrive in time. Send a 408
        response first if some of the headers arrived (RFC 9110, section 15.5.9)."""
        self._timer = None
        if self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self._close_with_error(
                RequestTimeout(f"the request's headers did not arrive in time; {CLOSED}")
            )
        else:
            HTTP_REFUSED.labels("head").inc()
            self._close()

    def _close_with_error(self, error: ScoringError) -> None:
        HTTP_REFUSED.labels("head").inc()
        if self.conn.our_state is h11.IDLE:
            self._send_error(error)
        self._close()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._close()

    def _close(self) -> None:
        """Close after all data is written. A client that does not read is disconnected after a
        short time."""
        self.transport.close()
        self._cancel_timeout()
        self._timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cancel_write_timeout()
        self._write_timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_write_timeout()

    def _cancel_write_timeout(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def send_400_response(self, msg: str) -> None:
        """Answer 400 to input that is not HTTP, unless a response has begun."""
        HTTP_REFUSED.labels("syntax").inc()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            too_large = self.conn.head_is_too_large
            self._send_error(HeaderFieldsTooLarge(CLOSED) if too_large else NotHttp(CLOSED))
            self.transport.close()
        else:
            self.transport.abort()

    def _send_error(self, error: ScoringError) -> None:
        request_id = new_request_id()
        body = json.dumps(to_public(problem(error), request_id)).encode()
        headers = [
            ("content-type", "application/problem+json"),
            ("content-length", str(len(body))),
            ("x-should-retry", "false"),
            ("x-request-id", request_id),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("connection", "close"),
        ]
        response = h11.Response(status_code=error.status, headers=headers, reason=error.title)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


def protocol(limits: Limits) -> type[StrictProtocol]:
    class ServerProtocol(StrictProtocol):
        connections_open = ConnectionCounter(limits)

    return ServerProtocol
