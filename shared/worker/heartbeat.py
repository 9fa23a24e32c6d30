"""Leases kept alive: one thread a process renews what its other threads are computing.

Between two beats it looks every second whether the claims are still held, so that a computation
whose job was cancelled, or taken over, hears of it soon.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Connection

from shared import log
from shared.errors import Unavailable
from shared.job_context import JobContext
from shared.ledger import leases
from shared.ledger.engine import ledger, transaction
from shared.ledger.leases import Claim
from shared.settings import settings

LOOK_SECONDS = 1.0

logger = log.logger(__name__)


class Heartbeat:
    """The claims that this process holds, renewed in one statement every heartbeat."""

    def __init__(self) -> None:
        self._held: dict[Claim, JobContext] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, claim: Claim, context: JobContext) -> Iterator[None]:
        """Renew this claim's lease until the block is left; tell the context when it is lost."""
        with self._lock:
            self._held[claim] = context
            self._ensure_running()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(claim, None)

    def beat(self) -> None:
        """Renew all leases once; those that are lost, or held for too long, are let go.

        A job that is late keeps its lease while the watchdog ends it.
        """
        latest = time.monotonic() - 2 * settings().grace_seconds
        lease = timedelta(seconds=settings().lease_seconds)
        mine = {claim: one for claim, one in self._copy().items() if one.deadline >= latest}
        try:
            self._let_go(mine, lambda connection: leases.renew(connection, mine, lease=lease))
        except Unavailable:
            logger.warning("heartbeat.missed", claims=len(mine))

    def look(self) -> None:
        """Let go the claims that are lost."""
        mine = self._copy()
        try:
            self._let_go(mine, lambda connection: leases.still_ours(connection, mine))
        except Unavailable:
            logger.debug("heartbeat.looked_in_vain", claims=len(mine))

    def _copy(self) -> dict[Claim, JobContext]:
        with self._lock:
            return dict(self._held)

    def _let_go(
        self, mine: Mapping[Claim, JobContext], kept_of: Callable[[Connection], set[str]]
    ) -> None:
        """Ask which are kept; the computations of the others end."""
        if not mine:
            return
        with transaction(ledger()) as connection:
            kept = kept_of(connection)
        for claim, context in mine.items():
            if claim.job_id not in kept:
                context.cancelled.set()
                with self._lock:
                    self._held.pop(claim, None)

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        beat_at = time.monotonic() + settings().heartbeat_seconds
        while True:
            time.sleep(min(LOOK_SECONDS, settings().heartbeat_seconds))
            try:
                if time.monotonic() < beat_at:
                    self.look()
                else:
                    beat_at = time.monotonic() + settings().heartbeat_seconds
                    self.beat()
            except Exception:
                logger.exception("heartbeat.crashed")


heartbeat = Heartbeat()
