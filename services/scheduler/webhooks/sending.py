"""One attempt: sign the exact bytes, post them, and say how it ended.

Source: Standard Webhooks 1.0.0. Success is 2xx and nothing else; a redirect is a failure and is not
followed; of the answer's body at most 64 kB are read, and none of it is kept or shown.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpcore
from standardwebhooks import Webhook

from services.scheduler.webhooks.connecting import Resolve, UnknownName, VettedBackend, resolve
from shared.encryption import Sealer, Unreadable
from shared.ledger.webhooks.deliveries import Delivery, Refusal
from shared.version import SERVICE_VERSION
from shared.webhooks.destination import Destination, ForbiddenDestination, Policy, read

MOST_ANSWER_BYTES = 65_536
DRAIN_SECONDS = 2.0
USER_AGENT = f"Touchstone/{SERVICE_VERSION}"

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Arrival:
    """The receiver took it."""

    status: int


@dataclass(frozen=True)
class Sender:
    """What every attempt needs. seconds: from the name's resolution to the answer's
    status line and headers."""

    policy: Policy
    sealer: Sealer
    seconds: float
    resolver: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def attempt(self, delivery: Delivery) -> Arrival | Refusal:
        """Send it once. Raises nothing but what ends the process."""
        try:
            destination = read(delivery.url)
            headers = signed(delivery, self.sealer, destination)
            return await self._post(destination, headers, delivery.body.encode())
        except TimeoutError:
            return Refusal(f"no answer within {self.seconds:g} s")
        except Unreadable:
            return Refusal("the endpoint's secret cannot be read; rotate it")
        except ForbiddenDestination as error:
            return Refusal(f"forbidden: {error}")
        except UnknownName:
            return Refusal("the host's name cannot be resolved")
        except (httpcore.ConnectError, ssl.SSLError):
            return Refusal("no connection, or its certificate is not valid")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            return Refusal("the connection broke off, or the answer is not HTTP")

    async def _post(
        self, destination: Destination, headers: Headers, body: bytes
    ) -> Arrival | Refusal:
        backend = VettedBackend(self.policy, destination, self.resolver)
        connection = httpcore.AsyncConnectionPool(
            ssl_context=self.tls, max_connections=1, network_backend=backend
        )
        url = httpcore.URL(
            scheme=destination.scheme,
            host=destination.host,
            port=destination.port,
            target=destination.target,
        )
        length = (b"Content-Length", str(len(body)).encode())
        request = httpcore.Request("POST", url, headers=[*headers, length], content=body)
        async with connection:
            async with asyncio.timeout(self.seconds):  # up to the end of the answer's headers
                answer = await connection.handle_async_request(request)
            await _drain(answer)
            return outcome(answer)


def signed(delivery: Delivery, sealer: Sealer, destination: Destination) -> Headers:
    """The attempt's headers: its own time, a signature by each valid secret. Raises Unreadable."""
    now = datetime.now(UTC)
    secrets = [sealed for sealed in (delivery.secret, delivery.earlier_secret) if sealed]
    signatures = [
        Webhook(sealer.open(sealed)).sign(delivery.id, now, delivery.body) for sealed in secrets
    ]
    said = {
        "Host": destination.host_header,
        "User-Agent": USER_AGENT,
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
        "webhook-id": delivery.id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
    return [(name.encode(), value.encode()) for name, value in said.items()]


def outcome(answer: httpcore.Response) -> Arrival | Refusal:
    """What the status line means."""
    if 200 <= answer.status < 300:
        return Arrival(answer.status)
    redirect = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    asked = next((value for name, value in answer.headers if name.lower() == b"retry-after"), b"")
    return Refusal(
        f"it answered {answer.status}{redirect}",
        status=answer.status,
        retry_after=retry_after(asked.decode("latin-1"), datetime.now(UTC)),
    )


def retry_after(value: str, now: datetime) -> timedelta | None:
    """The wait that the header asks for (RFC 9110, 10.2.3), never negative; None: illegible."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:10]), 10**9))
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(until - now, timedelta(0))


async def _drain(answer: httpcore.Response) -> None:
    """Let a civil receiver finish its answer; the status counts, whatever goes wrong here."""
    read_bytes = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for chunk in answer.aiter_stream():
                read_bytes += len(chunk)
                if read_bytes >= MOST_ANSWER_BYTES:
                    return
    except (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError):
        return
    finally:
        await answer.aclose()
