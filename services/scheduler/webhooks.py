"""Delivers webhooks: many attempts at a time, a few per endpoint, and a fair share per tenant.

Each event is delivered at least once, under the same `webhook-id`. An attempt is one signed
request. Only a 2xx status is a success; redirects are not followed. At most 64 kB of the response
are read, and its body is not stored. Source: Standard Webhooks 1.0.0.

No request reaches an internal address. The host name is resolved once and every address is checked,
so DNS rebinding has no effect. No proxy is used.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
from sqlalchemy import Connection, Engine
from standardwebhooks import Webhook
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

from shared.contracts.errors import Unavailable
from shared.ledger import webhook_deliveries, webhook_tests
from shared.ledger.engine import transaction
from shared.ledger.score_formats import FORMATS, JOINED, push_url
from shared.ledger.webhook_deliveries import Delivery, DeliveryRefusal, TenantShare
from shared.ledger.webhook_destinations import (
    Address,
    Destination,
    DestinationPolicy,
    ForbiddenDestination,
    Resolve,
    canonical,
    policy_of,
    read,
    resolve,
)
from shared.ledger.webhook_tests import TestOutcome
from shared.process import telemetry
from shared.process.encryption import Sealer, Unreadable, sealer_of
from shared.process.settings import SERVICE_VERSION, Settings

MOST_ADDRESSES = 8  # tried one after the other
MOST_ANSWER_BYTES = 65_536
DRAIN_SECONDS = 2.0
USER_AGENT = f"Touchstone/{SERVICE_VERSION}"
Headers = list[tuple[bytes, bytes]]
ATTEMPTS_AT_ONCE = 64  # of all endpoints
ATTEMPTS_OF_AN_ENDPOINT = 4  # at a time
TENANTS_SHARE = 4  # a tenant may use one in four of all attempts
WRITING_SECONDS = 10.0  # of retries to write the outcome
LEASE_BEYOND_SECONDS = 20.0  # added to the attempt's limit, for reading the rest and writing
patiently = retry(
    retry=retry_if_exception_type(Unavailable),
    wait=wait_random_exponential(multiplier=0.2, max=5),
    stop=stop_after_delay(WRITING_SECONDS),
    reraise=True,
)

logger = telemetry.logger(__name__)


@contextmanager
def delivering(engine: Engine, settings: Settings, stop: threading.Event) -> Iterator[None]:
    """Deliver webhooks in a separate thread while the block runs. The end of the block sets `stop`.
    Raises ValueError if a webhook key is not a Fernet key."""
    sealer = sealer_of(settings)
    if sealer is None:
        logger.warning("webhooks.off", reason="TOUCHSTONE_WEBHOOK_KEYS is not set")
        yield
        return
    sender = Sender(policy_of(settings), sealer, settings.webhook_seconds)
    thread = threading.Thread(
        target=_run, args=(Deliverer(engine, settings, sender), stop), name="webhooks"
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _run(deliverer: Deliverer, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            asyncio.run(deliverer.run(stop))
        except Exception:  # the loop must not end silently while the scheduler lives
            logger.exception("webhooks.crashed")
            stop.wait(1)


class Deliverer:
    """Takes webhook deliveries that are due and attempts them."""

    def __init__(self, engine: Engine, settings: Settings, sender: Sender) -> None:
        self._engine = engine
        self._settings = settings
        self._sender = sender
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, stop: threading.Event) -> None:
        """Deliver until `stop` is set, then finish the running attempts."""
        while not stop.is_set():
            for test in await asyncio.to_thread(self._tests):
                self._begin(test, self.test(test))
            for together in requests_of(await asyncio.to_thread(self._take_next)):
                self._begin(together[0], self.deliver(together))
            await self._pause()
        if self._under_way:
            await asyncio.wait(self._under_way)

    def _begin(self, delivery: Delivery, attempt: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(attempt, name=delivery.id)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def test(self, test: Delivery) -> None:
        """Send a test event once and report the outcome to whoever requested the test. The
        endpoint's state does not change."""
        started = time.perf_counter()
        result = await self._try_send([test])
        milliseconds = round(1_000 * (time.perf_counter() - started))
        error = result.reason if isinstance(result, DeliveryRefusal) else None
        ended = TestOutcome(error is None, result.status, milliseconds, error)

        def write() -> None:
            with transaction(self._engine) as connection:
                webhook_tests.end(connection, test.id, ended)

        try:
            await asyncio.to_thread(patiently(write))
        except Unavailable as away:  # the caller of the test gets no outcome
            logger.warning("webhook.not_written", delivery=test.id, detail=away.detail)
            return
        logger.info("webhook.tested", endpoint=test.endpoint_id, status=result.status)

    async def deliver(self, together: Sequence[Delivery]) -> None:
        """Send these deliveries to their endpoint in one request, without a retry, and record the
        outcome in the database."""
        started = time.perf_counter()
        result = await self._try_send(together)
        telemetry.WEBHOOK_SECONDS.observe(time.perf_counter() - started)
        first = together[0]
        try:
            after = await asyncio.to_thread(self._save_outcome, together, result)
        except Unavailable as error:  # it is attempted again after its lease
            logger.warning("webhook.not_written", delivery=first.id, detail=error.detail)
            return
        except Exception:
            logger.exception("webhook.crashed", delivery=first.id)
            return
        for outcome, count in after.items():
            telemetry.WEBHOOK_ATTEMPTS.labels(outcome).inc(count)
        logger.info(
            "webhook.attempted",
            delivery=first.id,
            endpoint=first.endpoint_id,
            attempt=first.attempt,
            status=result.status,
            outcome=next(iter(after)),
            count=len(together),
        )

    async def _try_send(self, together: Sequence[Delivery]) -> SendSuccess | DeliveryRefusal:
        """Send the deliveries in one request and return the outcome. An unexpected exception is
        reported as a refusal, so that every attempt has an outcome."""
        try:
            return await self._sender.send(*together)
        except Exception:
            logger.exception("webhook.crashed", delivery=together[0].id)
            return DeliveryRefusal("the attempt failed because of an error of the service")

    async def _pause(self) -> None:
        """Wait until an attempt ends, or until the next regular check."""
        if not self._under_way:
            await asyncio.sleep(self._settings.tick_seconds)
            return
        await asyncio.wait(
            self._under_way,
            timeout=self._settings.tick_seconds,
            return_when=asyncio.FIRST_COMPLETED,
        )

    def _tests(self) -> list[Delivery]:
        """Claim requested test events, as many as may be attempted now."""
        room = max(0, ATTEMPTS_AT_ONCE - len(self._under_way))
        return self._fetch(lambda connection: webhook_tests.take(connection, room))

    def _take_next(self) -> list[Delivery]:
        share = TenantShare(
            each=ATTEMPTS_OF_AN_ENDPOINT,
            tenant=max(ATTEMPTS_OF_AN_ENDPOINT, ATTEMPTS_AT_ONCE // TENANTS_SHARE),
            most=ATTEMPTS_AT_ONCE - len(self._under_way),
        )
        if share.most <= 0:
            return []
        lease = timedelta(seconds=self._settings.webhook_seconds + LEASE_BEYOND_SECONDS)
        return self._fetch(
            lambda connection: webhook_deliveries.take(connection, share, lease=lease)
        )

    def _fetch(self, take: Callable[[Connection], list[Delivery]]) -> list[Delivery]:
        """Take deliveries that are due. Return an empty list if the database cannot be reached."""
        try:
            with transaction(self._engine) as connection:
                return take(connection)
        except Unavailable as error:
            logger.warning("webhooks.wait", detail=error.detail)
        except Exception:  # running attempts continue
            logger.exception("webhooks.crashed")
        return []

    @patiently
    def _save_outcome(
        self, together: Sequence[Delivery], result: SendSuccess | DeliveryRefusal
    ) -> Counter[str]:
        """Write the outcome of deliveries that were sent in one request. Return how often each
        outcome was recorded, for log and counters."""
        schedule = self._settings.webhook_schedule
        with transaction(self._engine) as connection:
            if isinstance(result, SendSuccess):
                recorded = webhook_deliveries.record_success(connection, together, result.status)
                return +Counter(arrived=recorded, fenced=len(together) - recorded)
            return Counter(
                webhook_deliveries.record_error(connection, delivery, result, schedule) or "fenced"
                for delivery in together
            )


def requests_of(deliveries: Sequence[Delivery]) -> list[list[Delivery]]:
    """Group the deliveries by request. If the endpoint's format allows several events per request,
    all its deliveries share a request. Otherwise each delivery gets its own."""
    together: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        key = delivery.endpoint_id if delivery.format in JOINED else delivery.id
        together.setdefault(key, []).append(delivery)
    return list(together.values())


@dataclass(frozen=True)
class SendSuccess:
    status: int


class UnreadableAuthorization(Unreadable):
    """The authorization header was encrypted with a key that is no longer configured."""


@dataclass(frozen=True)
class Sender:
    """Sends webhook requests. `seconds` is the timeout from resolving the host name to receiving
    the response headers."""

    policy: DestinationPolicy
    sealer: Sealer
    seconds: float
    resolver: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    async def send(self, first: Delivery, *more: Delivery) -> SendSuccess | DeliveryRefusal:
        """Send these deliveries of one endpoint in one request. Failures are returned, not
        raised."""
        try:
            destination, body = read(url_of(first)), body_of((first, *more))
            headers = signed(first, body, self.sealer, destination)
            return await self._post(destination, headers, body.encode())
        except TimeoutError:
            return DeliveryRefusal(f"no answer within {self.seconds:g} s")
        except UnreadableAuthorization:
            return DeliveryRefusal(
                "the stored Authorization header of the endpoint cannot be decrypted; set it again"
            )
        except Unreadable:
            return DeliveryRefusal(
                "the stored secret of the endpoint cannot be decrypted; rotate it"
            )
        except ForbiddenDestination as error:
            return DeliveryRefusal(f"forbidden: {error}")
        except UnknownName:
            return DeliveryRefusal("the host's name cannot be resolved")
        except (httpcore.ConnectError, ssl.SSLError):
            return DeliveryRefusal(
                "the endpoint cannot be reached, or its certificate is not valid"
            )
        except AnswerTooLong:
            return DeliveryRefusal("the headers of the endpoint's answer are longer than 64 kB")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            return DeliveryRefusal(
                "the connection was closed before the answer, or the answer is not HTTP"
            )

    async def _post(
        self, destination: Destination, headers: Headers, body: bytes
    ) -> SendSuccess | DeliveryRefusal:
        backend = PolicyBackend(self.policy, destination, self.resolver)
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
            await _read_rest(answer)
            return outcome(answer)


def url_of(delivery: Delivery) -> str:
    is_push = delivery.format in FORMATS
    return push_url(delivery.url, delivery.format) if is_push else delivery.url


def body_of(together: Sequence[Delivery]) -> str:
    push = FORMATS.get(together[0].format)
    bodies = [delivery.body for delivery in together]
    return bodies[0] if push is None else push.body(bodies)


def signed(delivery: Delivery, body: str, sealer: Sealer, destination: Destination) -> Headers:
    """Return the request's headers: the time of the attempt, one signature per valid secret, and
    the authorization. `delivery` is the first delivery of the request. Raises Unreadable."""
    now = datetime.now(UTC)
    secrets = [sealed for sealed in (delivery.secret, delivery.earlier_secret) if sealed]
    signatures = [Webhook(sealer.open(sealed)).sign(delivery.id, now, body) for sealed in secrets]
    headers = {
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
    if delivery.authorization is not None:
        try:
            headers["Authorization"] = sealer.open(delivery.authorization)
        except Unreadable:
            raise UnreadableAuthorization("no key decrypts the Authorization header") from None
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def outcome(answer: httpcore.Response) -> SendSuccess | DeliveryRefusal:
    """Return success or failure, depending on the status of a response."""
    if 200 <= answer.status < 300:
        return SendSuccess(answer.status)
    redirect = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    delay = next((value for name, value in answer.headers if name.lower() == b"retry-after"), b"")
    return DeliveryRefusal(
        f"it answered {answer.status}{redirect}",
        status=answer.status,
        retry_after=retry_after(delay.decode("latin-1"), datetime.now(UTC)),
    )


def retry_after(value: str, now: datetime) -> timedelta | None:
    """Return the waiting time in a `Retry-After` header (RFC 9110, 10.2.3), or None if it cannot be
    parsed."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:10]), 10**9))
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(until - now, timedelta(0))


async def _read_rest(answer: httpcore.Response) -> None:
    """Read the rest of the response, so that the receiver can finish sending. Errors here are
    ignored."""
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _chunk in answer.aiter_stream():
                pass
    except (TimeoutError, httpcore.NetworkError, httpcore.ProtocolError):
        return
    finally:
        await answer.aclose()


class AnswerTooLong(httpcore.ReadError):
    """The receiver's response is longer than MOST_ANSWER_BYTES."""


class BoundedStream(httpcore.AsyncNetworkStream):
    """A socket that reads at most MOST_ANSWER_BYTES."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._bytes_left = MOST_ANSWER_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._bytes_left <= 0:
            raise AnswerTooLong
        content = await self._stream.read(min(max_bytes, self._bytes_left), timeout)
        self._bytes_left -= len(content)
        return content

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class UnknownName(httpcore.ConnectError):
    """The host name has no address."""


class PolicyBackend(httpcore.AsyncNetworkBackend):
    """Opens sockets to one destination, and refuses addresses that are not allowed."""

    def __init__(
        self, policy: DestinationPolicy, destination: Destination, resolver: Resolve
    ) -> None:
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
        """Connect to the first address of the host that responds. Raises ForbiddenDestination,
        before anything is sent, if any address is not allowed."""
        failed: Exception = UnknownName("the name has no address")
        for address in await self.resolve(host, port):
            try:
                return BoundedStream(
                    await self._sockets.connect_tcp(
                        str(address), port, timeout, local_address, socket_options
                    )
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Return all addresses of this host. Raises ForbiddenDestination if one of them is not
        allowed, and UnknownName."""
        try:
            resolved = await self._resolver(host, port)
        except (OSError, UnicodeError):
            raise UnknownName("the name cannot be resolved") from None
        addresses = list(dict.fromkeys(canonical(text) for text in resolved))
        for address in addresses:
            self._policy.check_address(address, self._destination)
        return addresses[:MOST_ADDRESSES]

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raise ForbiddenDestination, since Unix sockets are not supported."""
        raise ForbiddenDestination("no Unix sockets")

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        await self._sockets.sleep(seconds)
