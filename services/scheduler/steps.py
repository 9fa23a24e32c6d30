"""Steps of batches, in threads of their own: whose turn it is, and what happens when one fails.

A few at a time, two of a tenant, one of a batch. A step that hangs (a store that does not answer)
holds its own batch and nobody else's. The threads are daemons: what a process that ends cuts off,
the next one does again.

A batch that cannot go on fails alone. An unexpected error in a step of a batch is logged and
counted, and the batch rests before it is tried again; after a few tries it fails, with its reason.
A step that kills the process is counted in the ledger, before it begins.
A ledger that is away is no batch's fault: that ends the round. Neither is a file store that is
away: then its batch rests, the others go on.

Tenants come first, then the batches of each: one with sixty batches has no more of the window, and
no more turns, than one with a single batch.
"""

from __future__ import annotations

import heapq
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from services.scheduler.attempts import MOST, Attempts, TooManyDeaths
from shared import telemetry
from shared.errors import FileStoreAway, Unavailable
from shared.ledger import batch_attempts, batches
from shared.ledger.batches import DueBatch, Fault, find
from shared.ledger.engine import transaction

OF_A_TENANT = 2  # the second one starts while the first one hangs
TRIES = 3  # a batch's step may fail so often; a store that answers with nonsense may be mended
REST_SECONDS = 1.0  # after the first, then longer
LONGEST_REST_SECONDS = 60.0
SCHEMA = {"42703", "42704", "42883", "42P01"}  # SQLSTATE: no such column, type, function, table
MOST_REMEMBERED = 10_000  # batches in trouble; who comes after them is tried anew

logger = telemetry.logger(__name__)


class Steps:
    """The steps that are under way. For one thread that starts and waits."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[DueBatch, threading.Thread] = {}
        self._raised: list[BaseException] = []
        self._new: list[threading.Thread] = []  # nobody has waited for them

    def can_start(self, turn: DueBatch) -> bool:
        """Whether there is a thread for this batch's next step."""
        self._remove_finished()
        of_tenant = sum(one.tenant == turn.tenant for one in self._running)
        return (
            turn not in self._running
            and of_tenant < OF_A_TENANT
            and len(self._running) < self._most
        )

    def start(self, turn: DueBatch, work: Callable[[], object]) -> None:
        """Begin; `can_start` has said that it can."""
        thread = threading.Thread(target=self._do, args=(work,), name=turn.id, daemon=True)
        self._running[turn] = thread
        self._new.append(thread)
        thread.start()

    def wait(self, seconds: float) -> None:
        """Until those have ended that nobody has waited for, but no longer than this.

        Raises what one of them raised: Unavailable first, since that ends the round.
        """
        until = time.monotonic() + seconds
        new, self._new = self._new, []
        for thread in new or self._running.values():
            thread.join(max(0.0, until - time.monotonic()))
        self._remove_finished()
        raised, self._raised = self._raised, []
        for error in sorted(raised, key=lambda error: not isinstance(error, Unavailable)):
            raise error

    @property
    def count(self) -> int:
        self._remove_finished()
        return len(self._running)

    def _do(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (it is raised where somebody waits)
            self._raised.append(error)

    def _remove_finished(self) -> None:
        for turn in [turn for turn, thread in self._running.items() if not thread.is_alive()]:
            del self._running[turn]


def is_schema_error(error: Exception) -> bool:
    """Whether a table or a column is not as this version knows it: no batch's fault either."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return isinstance(error, DBAPIError) and state in SCHEMA


@dataclass
class StepErrors:
    """The latest failures of a batch's step."""

    away: int = 0  # times that the file store was
    errors: int = 0
    until: float = 0.0  # it rests

    def rest(self, first_seconds: float) -> None:
        """Before the next try: twice as long as before the one before."""
        seconds = first_seconds * 2.0 ** (self.away + self.errors - 1)
        self.until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)


class Boundary:
    """The batches in trouble, as this scheduler has seen them. For any thread."""

    def __init__(
        self,
        engine: Engine,
        *,
        tries: int = TRIES,
        rest_seconds: float = REST_SECONDS,
        attempts: Attempts | None = None,
    ) -> None:
        self._engine = engine
        self._tries = tries
        self._rest_seconds = rest_seconds
        self._troubles: dict[tuple[str, str], StepErrors] = {}
        self._lock = threading.Lock()
        self._attempts = attempts or Attempts(engine)

    def should_wait(self, step: str, batch_id: str) -> bool:
        """It failed a moment ago, and its pause is not over."""
        trouble = self._troubles.get((step, batch_id))
        return trouble is not None and time.monotonic() < trouble.until

    @contextmanager
    def attempt(self, step: str, batch_id: str) -> Iterator[bool]:
        """An attempt at this step, counted; False where it is not to be made now. What goes wrong
        stays in here. Raises Unavailable where the ledger is away."""
        with self.guard(step, batch_id):
            try:
                with self._attempts.one(batch_id) as begins:
                    yield begins
                return
            except TooManyDeaths:
                message = f"{step} this batch ended the scheduler's process {MOST} times"
            self._end(batch_id, Fault("attempts_exhausted", message))
            telemetry.BATCHES_FAILED.labels(step).inc()
            yield False

    def close(self) -> None:
        """This process ends as it should: what is cut off counts against no batch."""
        self._attempts.close()

    @contextmanager
    def guard(self, step: str, batch_id: str) -> Iterator[None]:
        """Errors in the block are logged. Raises Unavailable where the ledger is away."""
        try:
            yield
        except FileStoreAway as error:
            logger.warning("batch.waits", batch=batch_id, step=step, detail=error.detail)
            self._record_error(step, batch_id, away=1)
        except Unavailable:
            raise
        except Exception as error:
            if is_schema_error(error):
                raise
            self._failed(step, batch_id, error)  # whatever it is, it is this batch's
        else:
            with self._lock:
                self._troubles.pop((step, batch_id), None)

    def each(self, step: str, work: Callable[[Connection, Sequence[str] | None], object]) -> None:
        """Do this for all batches in one transaction; where it fails, for each in one of its own.

        work: with the batches to do it for; None: all. Raises Unavailable.
        """
        try:
            with transaction(self._engine) as connection:
                work(connection, None)
            return
        except Exception as error:
            if isinstance(error, Unavailable) or is_schema_error(error):
                raise
            logger.exception("batches.crashed", step=step)
        with transaction(self._engine) as connection:
            found = batches.open_batches(connection)
        for turn in found:
            if not self.should_wait(step, turn.id):
                with self.guard(step, turn.id), transaction(self._engine) as connection:
                    work(connection, [turn.id])

    def _failed(self, step: str, batch_id: str, error: Exception) -> None:
        """Log it under an id that the caller gets, too; after the last try the batch fails."""
        error_id = f"err_{secrets.token_hex(8)}"
        logger.error("batch.crashed", batch=batch_id, step=step, error_id=error_id, exc_info=error)
        telemetry.BATCH_ERRORS.labels(step).inc()
        if self._record_error(step, batch_id, errors=1).errors < self._tries:
            return
        reason = f"{step} failed {self._tries} times: {type(error).__name__}"
        self._end(batch_id, Fault("internal", f"{reason}; quote {error_id} when you ask"))
        telemetry.BATCHES_FAILED.labels(step).inc()

    def _record_error(
        self, step: str, batch_id: str, *, away: int = 0, errors: int = 0
    ) -> StepErrors:
        with self._lock:
            if len(self._troubles) >= MOST_REMEMBERED:
                self._troubles.clear()
            trouble = self._troubles.setdefault((step, batch_id), StepErrors())
            trouble.away += away
            trouble.errors += errors
            trouble.rest(self._rest_seconds)
            return trouble

    def _end(self, batch_id: str, fault: Fault) -> None:
        """With the results that it has; where even that fails, without."""
        try:
            with transaction(self._engine) as connection:
                status = batches.fail(connection, batch_id, fault)
                batch_attempts.clear(connection, [batch_id])  # the next step is another one
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing")
            status = self._fail_batch(batch_id, fault)
        logger.error("batch.failed", batch=batch_id, status=status, reason=fault.message)

    def _fail_batch(self, batch_id: str, fault: Fault) -> str:
        """Nothing but the batch's row; where even that fails, it rests and is tried again."""
        try:
            with transaction(self._engine) as connection:
                batches.fail_batch(connection, find(connection, batch_id), [vars(fault)])
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing outright")
            return "stuck"
        return "failed"


def allocate(can_use: Mapping[str, int], open_jobs: Mapping[str, int], window: int) -> Counter[str]:
    """How many new jobs each one gets (max-min fairness).

    can_use:   who → the most that it can use; in the order in which ties are served.
    open_jobs: who → jobs that it has in the queue now, of these and of others.
    window:    the most jobs in the queue; what others hold is taken off first.

    Each free place goes to the one with the fewest open jobs that can still use one.
    """
    given: Counter[str] = Counter()
    free = window - sum(open_jobs.values())
    turn = [(open_jobs.get(name, 0), place, name) for place, name in enumerate(can_use)]
    heapq.heapify(turn)
    while free > 0 and turn:
        held, place, name = heapq.heappop(turn)
        if given[name] >= can_use[name]:
            continue
        given[name] += 1
        free -= 1
        heapq.heappush(turn, (held + 1, place, name))
    return +given


@dataclass(frozen=True)
class BatchUsage:
    """A batch that can use jobs. most: how many; held: it has in the queue now."""

    batch_id: str
    tenant: str
    most: int
    held: int = 0


def allocate_by_tenant(batches: Iterable[BatchUsage], window: int) -> Counter[str]:
    """How many new jobs each batch gets: the window is shared by tenants, a tenant's share by its
    batches. Batches that hold places without an appetite are named with `most` 0."""
    of_tenant: dict[str, list[BatchUsage]] = defaultdict(list)
    for batch in batches:
        of_tenant[batch.tenant].append(batch)
    most = {tenant: sum(one.most for one in its) for tenant, its in of_tenant.items()}
    held = {tenant: sum(one.held for one in its) for tenant, its in of_tenant.items()}
    given: Counter[str] = Counter()
    for tenant, count in allocate(most, held, window).items():
        its = of_tenant[tenant]
        given += allocate(
            {one.batch_id: one.most for one in its},
            {one.batch_id: one.held for one in its},
            held[tenant] + count,
        )
    return given


class Rotation:
    """Whose turn is next: the tenant that was served longest ago, with its batch that was."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}  # tenant or batch → when, counted in turns
        self._turns = 0

    def order(self, waiting: Iterable[DueBatch]) -> list[DueBatch]:
        """One batch of each tenant, who waited longest first."""
        first: dict[str, DueBatch] = {}
        for turn in sorted(waiting, key=lambda turn: (self._last(turn.id), turn.id)):
            first.setdefault(turn.tenant, turn)
        return sorted(first.values(), key=lambda turn: (self._last(turn.tenant), turn.id))

    def take_turn(self, turn: DueBatch) -> None:
        self._turns += 1
        self._served[turn.tenant] = self._served[turn.id] = self._turns

    def remove_missing(self, waiting: Iterable[DueBatch]) -> None:
        names = {name for turn in waiting for name in (turn.id, turn.tenant)}
        self._served = {name: last for name, last in self._served.items() if name in names}

    def _last(self, name: str) -> int:
        return self._served.get(name, 0)
