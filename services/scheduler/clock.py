"""Detects when the database's clock jumps or the database was unreachable. Deadlines are then
moved, so that no batch or pause ends too early. Each scheduler compares the database's clock with a
clock of its own. The first one that sees a jump moves the deadlines."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Engine

from shared.ledger import clock
from shared.ledger.clock import TOLERANCE
from shared.ledger.engine import single_statements, transaction
from shared.process import telemetry
from shared.process.settings import Settings

SLOW_SECONDS = 2.0  # a slower query says nothing about the clock

logger = telemetry.logger(__name__)


class ClockWatch:
    """Compares the database's clock with the clock of this process."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._lease = timedelta(seconds=settings.lease_seconds)
        self._resend = timedelta(seconds=settings.resend_seconds)
        self._monotonic = monotonic
        self._began = monotonic()
        self._last: tuple[datetime, float] | None = None  # the database's time and ours

    def round(self) -> None:
        """Compare the database's clock with this process's clock once. Raises Unavailable."""
        began = self._monotonic()
        with single_statements(self._engine) as connection:
            now, is_noted = clock.note_steady(connection)
        ours = self._monotonic()
        if ours - began > SLOW_SECONDS:
            return
        if not is_noted:
            if self._last is None and ours - self._began < TOLERANCE.total_seconds():
                return  # schedulers that ran before the step handle it
            then, before = self._last or (now, ours)
            gap = timedelta(seconds=ours - before)
            self._resume(gap, now - then - gap)
        self._last = (now, ours)

    def _resume(self, gap: timedelta, step: timedelta) -> None:
        """Move the deadlines after the clock was set forwards or back. After a long gap, also give
        running jobs a new lease, because their workers could not renew the old one."""
        has_stepped = abs(step) > TOLERANCE
        with transaction(self._engine) as connection:
            if clock.note(connection) and (has_stepped or gap > self._lease / 2):
                moved = step if has_stepped else timedelta()
                clock.move_deadlines(connection, moved, self._lease, self._resend)
                logger.warning("clock.stepped", seconds=round(moved.total_seconds()))
