"""Finds batches that crash the scheduler, for example by using too much memory. When a process
dies, all batches that it was processing are suspects. Each suspect is then processed alone, so that
the batch that causes the crashes fails without affecting others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Engine

from shared.contracts.errors import Unavailable
from shared.ledger import batch_attempts
from shared.ledger.engine import transaction
from shared.process import telemetry

MOST = 3  # processes that one step may kill
PAUSE = timedelta(seconds=2)  # between an attempt that did not return and the next
TRIAL_SECONDS = 10.0  # limit of waiting for a trial to end or begin, since stores may hang

logger = telemetry.logger(__name__)


class TooManyDeaths(Exception):
    """Raised if the scheduler's process died too often while it worked on this batch."""


class TrialGate:
    """Ensures that a suspect batch, which may crash the scheduler, is processed while nothing else
    runs. Thread-safe."""

    def __init__(self, patience: float = TRIAL_SECONDS) -> None:
        self._patience = patience
        self._moved = threading.Condition()
        self._running = 0
        self._suspects = 0  # running, or waiting for the others to end

    @contextmanager
    def enter(self, *, suspect: bool) -> Iterator[None]:
        """Wait until this work may start. A suspect is a batch that may crash the scheduler. Its
        work waits until nothing else runs, and other work waits meanwhile."""
        with self._moved:
            self._suspects += suspect
            self._moved.wait_for(
                lambda: not (self._running if suspect else self._suspects), self._patience
            )
            self._running += 1
        try:
            yield
        finally:
            with self._moved:
                self._running -= 1
                self._suspects -= suspect
                self._moved.notify_all()


class Attempts:
    """Counts the scheduler's attempts to process each batch, because a batch may kill the process.
    Thread-safe."""

    def __init__(self, engine: Engine, pause: timedelta = PAUSE) -> None:
        self._engine = engine
        self._pause = pause
        self._gate = TrialGate()
        self._under_way: set[str] = set()
        self._owed: set[str] = set()  # returned while the ledger was away

    @contextmanager
    def count(self, batch_id: str) -> Iterator[bool]:
        """Count an attempt to process this batch while the block runs. Yield False if it may not
        start now. Raises TooManyDeaths and Unavailable."""
        if batch_id in self._owed:
            self._clear([batch_id])
        with transaction(self._engine) as connection:
            seen = batch_attempts.count_open(connection, batch_id)
        if seen >= MOST:
            raise TooManyDeaths
        with self._gate.enter(suspect=seen > 0):
            with transaction(self._engine) as connection:
                begins = batch_attempts.begin(connection, batch_id, seen, self._pause)
            if not begins:
                yield False
                return
            if seen:
                logger.warning("batch.tried_alone", batch=batch_id, deaths=seen)
            self._under_way.add(batch_id)
            try:
                yield True
            except Exception:
                self._finish(batch_id)
                raise
            self._finish(batch_id)

    def close(self) -> None:
        """Delete the records of running attempts, so that a normal end of this process does not
        count as a failed attempt. Logs a warning if this is impossible."""
        try:
            self._clear(list(self._under_way | self._owed))
        except Unavailable:
            logger.warning("scheduler.left_attempts", batches=len(self._under_way))

    def _finish(self, batch_id: str) -> None:
        self._under_way.discard(batch_id)
        try:
            self._clear([batch_id])
        except Unavailable:
            self._owed.add(batch_id)

    def _clear(self, batch_ids: list[str]) -> None:
        with transaction(self._engine) as connection:
            batch_attempts.clear(connection, batch_ids)
        self._owed.difference_update(batch_ids)
