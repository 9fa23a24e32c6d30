"""A round of the batches: settle what has ended, give up what is late, feed what waits.

Every step is a transaction of its own, and the ledger is the truth: killed at any point, the next
round (or another scheduler's) goes on. What many batches share is done for all at once; where that
fails, for each alone. Source: design.md §3.

In a metric's batch queue wait no more jobs than its workers end in a few seconds. A newcomer's jobs
stand behind those that wait already, so that the wait is bounded by time, not by a count. A queue
that was found empty was too short: then twice as many may wait. So the bound follows the workers,
however many and however fast they are.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import accumulate

from sqlalchemy import Connection, Engine

from services.scheduler.batch_files import InvalidLine, reader_for
from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.fair_allocation import BatchUsage, Rotation, allocate_by_tenant
from services.scheduler.steps import Steps
from shared.contracts.errors import Unavailable, UnknownFile
from shared.ledger import batch_feed, batches, jobs
from shared.ledger.batch_feed import Load, NewJob, OpenBatch, WaitingLine
from shared.ledger.batches import DueBatch
from shared.ledger.engine import transaction
from shared.ledger.file_store import FileStore
from shared.models.catalogue.catalogue import Catalogue
from shared.process import telemetry
from shared.process.settings import Settings
from shared.queue import broker

CANCEL_PATIENCE = timedelta(minutes=10)  # for jobs that run when their batch is cancelled
LINES_AT_ONCE, BYTES_AT_ONCE = 250, 4_000_000  # that become jobs in one transaction
STEPS_AT_ONCE = 8
LEAST_WAITING = 16  # in a metric's batch queue
PATIENCE_SECONDS = 1.0
SECONDS_AHEAD = 3.0  # a few rounds of feeding, so that no worker is idle

logger = telemetry.logger(__name__)


class Feeder:
    """What one scheduler needs to feed batches.

    patience: seconds that a round waits for files to be read; slower ones go on beside the next.
    """

    def __init__(
        self,
        engine: Engine,
        chosen: Settings,
        catalogue: Catalogue,
        *,
        isolation: FailureIsolation | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._engine = engine
        self._chosen = chosen
        self._catalogue = catalogue
        self._store = FileStore(chosen.files_url)
        self._isolation = isolation or FailureIsolation(engine)
        self._patience = patience
        self._steps = Steps(STEPS_AT_ONCE)
        self._rotation = Rotation()
        self._pace = MetricRate(LEAST_WAITING, chosen.batch_window)
        self._fed: list[tuple[str, int]] = []  # (metric, jobs) of steps that have ended

    def round(self) -> int:
        """One round; how many jobs were made. Raises Unavailable where the ledger is away."""
        self._isolation.for_each_batch("settling", batch_feed.finish_lines)
        self._isolation.for_each_batch("finishing", batches.finish_answered)
        self._isolation.for_each_batch("expiring", batches.expire)
        self._isolation.for_each_batch("cancelling", _wind_up)
        with transaction(self._engine) as connection:
            open_ones = batch_feed.open_batches(connection)
            loads = batch_feed.open_jobs(connection) if open_ones else []
        able = [
            batch for batch in open_ones if not self._isolation.should_wait("feeding", batch.id)
        ]
        for metric in {batch.metric: None for batch in able}:
            self._enqueue_metric(
                [batch for batch in able if batch.metric == metric],
                [load for load in loads if load.metric == metric],
            )
        return self._count_new()

    def _enqueue_metric(self, open_ones: list[OpenBatch], loads: list[Load]) -> None:
        able = [replace(batch, left=self._available(batch)) for batch in open_ones]
        given = allocate_by_tenant(
            _batch_usage(able, loads), self._window(open_ones[0].metric, loads)
        )
        turns = {DueBatch(batch.id, batch.tenant): batch for batch in open_ones if given[batch.id]}
        while turns:
            started = [turn for turn in self._rotation.order(turns) if self._steps.can_start(turn)]
            if not started:
                return
            for turn in started:
                self._rotation.take_turn(turn)
                batch = turns.pop(turn)
                self._steps.start(turn, partial(self._guarded, batch, given[batch.id]))
            self._steps.wait(self._patience)

    def _window(self, metric: str, loads: list[Load]) -> int:
        """The most jobs in the queue: as configured, and no more that wait than end in seconds."""
        open_now, waiting = sum(load.jobs for load in loads), sum(load.queued for load in loads)
        with suppress(Unavailable):  # fetched by a worker or lost: it is nobody's turn to wait
            waiting = min(waiting, broker.queue_length(metric, batch=True))
        bound = self._pace.bound(metric, open_now, waiting)
        return min(self._chosen.batch_window, open_now + bound - waiting)

    def _count_new(self) -> int:
        """How many jobs the steps that have ended made."""
        fed, self._fed = self._fed, []
        for metric, count in fed:
            self._pace.add(metric, count)
        return sum(count for _, count in fed)

    def _guarded(self, batch: OpenBatch, count: int) -> None:
        with self._isolation.attempt("feeding", batch.id) as begins:
            left = count if begins else 0
            while left and (fed := self._enqueue(batch, min(left, LINES_AT_ONCE))):
                self._fed.append((batch.metric, fed))
                left -= fed

    def _available(self, batch: OpenBatch) -> int:
        """Places that the batch can use: at most a window of its jobs waits for models."""
        return min(batch.left, max(0, self._chosen.batch_window - batch.waiting_for_models))

    def _enqueue(self, batch: OpenBatch, count: int) -> int:
        """Make jobs of the batch's next lines, at most so many, and send them."""
        with transaction(self._engine) as connection:
            waiting = _take_chunk(batch_feed.take(connection, batch.id, count))
            if not waiting:
                return 0
            try:
                made = self._jobs(batch, waiting)
            except (UnknownFile, InvalidLine):  # gone, or written for another version
                logger.error("batch.input_lost", batch=batch.id, file=batch.input_file_id)
                batch_feed.fail_input(connection, batch.id)
                return 0
            again = timedelta(seconds=self._chosen.resend_seconds)
            if not batch_feed.feed(connection, batch, made, again):
                return 0
        telemetry.JOBS_ACCEPTED.labels(batch.metric).inc(len(made))
        self._send(batch, made)
        return len(made)

    def _jobs(self, batch: OpenBatch, waiting: list[WaitingLine]) -> list[NewJob]:
        reader = reader_for(batch, self._chosen, self._catalogue)
        made = []
        with self._store.open_read(batch.input_file_id) as stream:
            for line in waiting:
                stream.seek(line.start)
                _, asked = reader.read(stream.read(line.length))
                request = asked.model_dump(mode="json")
                made.append(NewJob(jobs.new_id(), line.fingerprint, request))
        return made

    def _send(self, batch: OpenBatch, made: list[NewJob]) -> None:
        """A message for each; while the broker is away the commit stands: recovery sends later."""
        try:
            for new in made:
                broker.send(batch.metric, new.id, batch=True)
        except Unavailable as error:
            logger.warning("batch.not_sent", batch=batch.id, detail=error.detail)


def _wind_up(connection: Connection, only: Sequence[str] | None) -> None:
    batches.wind_up(connection, CANCEL_PATIENCE, only)


def _take_chunk(waiting: list[WaitingLine]) -> list[WaitingLine]:
    """As many of these lines as may be in memory at once, at least one."""
    ends = list(accumulate(line.length for line in waiting))
    return waiting[: max(1, bisect_right(ends, BYTES_AT_ONCE))]


def _batch_usage(open_ones: list[OpenBatch], loads: list[Load]) -> list[BatchUsage]:
    """The open batches in the order of their ties."""
    held = {load.batch_id: load.jobs for load in loads}
    can_use = [
        BatchUsage(batch.id, batch.tenant, batch.left, held.pop(batch.id, 0)) for batch in open_ones
    ]
    others = [load for load in loads if load.batch_id in held]
    return [*can_use, *(BatchUsage(load.batch_id, load.tenant, 0, load.jobs) for load in others)]


@dataclass(frozen=True)
class QueueSample:
    """A metric's batch queue at the last look. ended: jobs a second; bound: that could wait."""

    at: float
    open_jobs: int
    ended: float
    bound: int


class MetricRate:
    """Each metric's pace, as one scheduler sees it. For one thread.

    least, most: jobs that may wait, however slow or fast the queue is.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least = min(least, most)
        self._most = most
        self._fed: Counter[str] = Counter()  # since the queue was last looked at
        self._seen: dict[str, QueueSample] = {}

    def add(self, metric: str, count: int) -> None:
        """So many jobs went into the queue."""
        self._fed[metric] += count

    def bound(self, metric: str, open_jobs: int, waiting: int, at: float | None = None) -> int:
        """How many jobs may wait in the queue, where so many are open in it, and wait, now."""
        at = time.monotonic() if at is None else at
        fed, before = self._fed.pop(metric, 0), self._seen.get(metric)
        ended, bound = 0.0, self._least
        if before is not None and at > before.at:
            latest = max(0, before.open_jobs + fed - open_jobs) / (at - before.at)
            ended = max(latest, (before.ended + latest) / 2)  # quickly up, slowly down
            bound = round(ended * SECONDS_AHEAD)
            if waiting == 0 and fed:
                bound = max(bound, 2 * before.bound)
        bound = min(self._most, max(self._least, bound))
        self._seen[metric] = QueueSample(at, open_jobs, ended, bound)
        return bound
