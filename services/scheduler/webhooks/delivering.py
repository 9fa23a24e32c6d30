"""The loop that delivers: many attempts at a time, a few of one endpoint, a share of one tenant.

A thread with an event loop of its own beside the scheduler's rounds. The ledger is asked off the
loop. What is under way when the process dies is taken again once its lease has run out: delivery is
at least once, under the same `webhook-id`.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Engine
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

from services.scheduler.webhooks.sending import Arrival, Sender
from shared import log, metrics
from shared.encryption import sealer_of
from shared.errors import Unavailable
from shared.ledger.engine import transaction
from shared.ledger.webhooks import deliveries
from shared.ledger.webhooks.deliveries import Delivery, Refusal, Share
from shared.settings import Settings
from shared.webhooks.destination import policy_of

ATTEMPTS_OF_AN_ENDPOINT = 4  # at a time
TENANTS_SHARE = 4  # a tenant may use one in so many of all attempts
WRITING_SECONDS = 10.0  # how long the outcome is tried to be written
LEASE_BEYOND_SECONDS = 20.0  # the attempt's own limit: reading what is left, and writing

logger = log.logger(__name__)

patiently = retry(
    retry=retry_if_exception_type(Unavailable),
    wait=wait_random_exponential(multiplier=0.2, max=5),
    stop=stop_after_delay(WRITING_SECONDS),
    reraise=True,
)


class Deliverer:
    """Takes what is due and attempts it, until told to stop."""

    def __init__(self, engine: Engine, chosen: Settings, sender: Sender) -> None:
        self._engine = engine
        self._chosen = chosen
        self._sender = sender
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self, stop: threading.Event) -> None:
        """Deliver until told to stop; attempts that are under way are ended first."""
        while not stop.is_set():
            for delivery in await asyncio.to_thread(self._taken):
                task = asyncio.create_task(self.deliver(delivery), name=delivery.id)
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
            await self._pause()
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def deliver(self, delivery: Delivery) -> None:
        """One attempt, and what became of it into the ledger."""
        started = time.perf_counter()
        found = await self._attempted(delivery)
        metrics.WEBHOOK_SECONDS.observe(time.perf_counter() - started)
        try:
            after = await asyncio.to_thread(self._written, delivery, found)
        except Unavailable as error:  # the lease will run out, and it is attempted again
            logger.warning("webhook.not_written", delivery=delivery.id, detail=error.detail)
            return
        except Exception:
            logger.exception("webhook.crashed", delivery=delivery.id)
            return
        metrics.WEBHOOK_ATTEMPTS.labels(after).inc()
        logger.info(
            "webhook.attempted",
            delivery=delivery.id,
            endpoint=delivery.endpoint_id,
            attempt=delivery.attempt,
            status=found.status,
            outcome=after,
        )

    async def _attempted(self, delivery: Delivery) -> Arrival | Refusal:
        """How it ended; one that crashes here is refused like any other, so that it has an end."""
        try:
            return await self._sender.attempt(delivery)
        except Exception:
            logger.exception("webhook.crashed", delivery=delivery.id)
            return Refusal("the attempt failed on our side")

    async def _pause(self) -> None:
        """Until an attempt ends and makes room, or for a tick."""
        if not self._under_way:
            await asyncio.sleep(self._chosen.tick_seconds)
            return
        await asyncio.wait(
            self._under_way,
            timeout=self._chosen.tick_seconds,
            return_when=asyncio.FIRST_COMPLETED,
        )

    def _taken(self) -> list[Delivery]:
        slots = self._chosen.webhook_concurrency
        share = Share(
            each=ATTEMPTS_OF_AN_ENDPOINT,
            tenant=max(ATTEMPTS_OF_AN_ENDPOINT, slots // TENANTS_SHARE),
            most=slots - len(self._under_way),
        )
        if share.most <= 0:
            return []
        lease = timedelta(seconds=self._chosen.webhook_seconds + LEASE_BEYOND_SECONDS)
        try:
            with transaction(self._engine) as connection:
                return deliveries.take(connection, share, lease=lease)
        except Unavailable as error:
            logger.warning("webhooks.wait", detail=error.detail)
        except Exception:  # attempts that are under way go on
            logger.exception("webhooks.crashed")
        return []

    @patiently
    def _written(self, delivery: Delivery, found: Arrival | Refusal) -> str:
        """The outcome's name, for the log and the counters."""
        with transaction(self._engine) as connection:
            if isinstance(found, Arrival):
                kept = deliveries.arrived(connection, delivery, found.status)
                return "arrived" if kept else "fenced"
            schedule = self._chosen.webhook_schedule
            return deliveries.refused(connection, delivery, found, schedule) or "fenced"


@contextmanager
def delivering(engine: Engine, chosen: Settings, stop: threading.Event) -> Iterator[None]:
    """Deliver from a thread of its own until the block is left; `stop` is set then.

    Raises ValueError where a webhook key is no Fernet key.
    """
    sealer = sealer_of(chosen)
    if sealer is None:
        logger.warning("webhooks.off", reason="TOUCHSTONE_WEBHOOK_KEYS is not set")
        yield
        return
    sender = Sender(policy_of(chosen), sealer, chosen.webhook_seconds)
    thread = threading.Thread(
        target=_run, args=(Deliverer(engine, chosen, sender), stop), name="webhooks"
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
