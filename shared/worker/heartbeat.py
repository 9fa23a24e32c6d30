"""Leases kept alive: one thread a process renews what its other threads are computing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from shared import log
from shared.errors import Unavailable
from shared.ledger import leases
from shared.ledger.engine import ledger, transaction
from shared.ledger.leases import Claim
from shared.settings import settings

logger = log.logger(__name__)


class Heartbeat:
    """The claims that this process holds, renewed in one statement every heartbeat."""

    def __init__(self) -> None:
        self._held: dict[Claim, float] = {}  # claim → monotonic second at which it was taken
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, claim: Claim) -> Iterator[None]:
        """Renew this claim's lease until the block is left."""
        with self._lock:
            self._held[claim] = time.monotonic()
            self._ensure_running()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(claim, None)

    def beat(self) -> None:
        """Renew all leases once; those that are lost, or held for too long, are let go."""
        with self._lock:
            oldest = time.monotonic() - settings().max_run_seconds
            mine = [claim for claim, since in self._held.items() if since >= oldest]
        if not mine:
            return
        try:
            with transaction(ledger()) as connection:
                lease = timedelta(seconds=settings().lease_seconds)
                kept = leases.renew(connection, mine, lease=lease)
        except Unavailable:
            logger.warning("heartbeat.missed", claims=len(mine))
            return
        self._forget([claim for claim in mine if claim.job_id not in kept])

    def _forget(self, lost: list[Claim]) -> None:
        with self._lock:
            for claim in lost:
                self._held.pop(claim, None)

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(settings().heartbeat_seconds)
            try:
                self.beat()
            except Exception:
                logger.exception("heartbeat.crashed")


heartbeat = Heartbeat()
