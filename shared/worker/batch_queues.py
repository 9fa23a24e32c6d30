"""Runs jobs and model calls of batches on separate threads, so that interactive threads stay free.

Celery consumes the interactive queues only. The consumer thread of this module takes a message from
a batch queue only when a batch thread is free. Waiting messages stay in Redis for other workers.
Model calls go before jobs, because jobs wait for them. Queues of one kind take turns.

A tenant gets a limited share of a worker's threads. A thread that finds only jobs of tenants with a
full share waits, and tries again when a job ends or a moment later. It can take jobs of one queue
only, so at most half of the remaining threads wait in this way. The other threads return their
messages, and the worker turns to other queues.

`BatchRateLimiter` decides how soon a worker starts the next batch job. For some seconds
after an interactive request, batch jobs start only as often as their share of one processor
allows. Otherwise an interactive job would wait for a processor at each of its steps."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, Self

from shared.contracts.errors import Unavailable
from shared.contracts.redaction import untold
from shared.ledger.leases import Claim
from shared.process import telemetry
from shared.process.redis_client import LEAST_WAIT_SECONDS
from shared.queue.broker import app, is_call, pop, sort_queues
from shared.queue.priority import RECENT_SECONDS, stand_back

BLOCK_SECONDS = 1.0
AWAY_SECONDS = 1.0  # before a broker that is away is asked again
ASK_AGAIN_SECONDS = 0.25
REMEMBERED = 1_000  # tenants
stopping = threading.Event()  # this process takes no more jobs

logger = telemetry.logger(__name__)


@dataclass(frozen=True)
class TaskMessage:
    """A message of Celery's protocol, version 2."""

    name: str
    arguments: Sequence[Any]
    headers: dict[str, Any]
    queue: str

    @classmethod
    def of(cls, queue: str, raw: bytes) -> Self:
        """Parse a message. Raises ValueError or KeyError if it is invalid."""
        message = json.loads(raw)
        body = json.loads(base64.b64decode(message["body"]))
        headers = message["headers"]
        return cls(headers["task"], body[0], headers, queue)

    def run(self) -> None:
        """Run the task in this thread, with the same headers and queue as if Celery had delivered
        it."""
        task = app.tasks[self.name]
        task.apply(args=self.arguments, headers=self.headers, routing_key=self.queue, throw=True)


class BatchQueues:
    """The consumer of batch queues, with its threads and rate limit."""

    def __init__(
        self, queues: Sequence[str], threads: int, pace: BatchRateLimiter | None = None
    ) -> None:
        self._queues = list(queues)
        self._pace = pace or BatchRateLimiter(share=1.0)
        self._free = threading.Semaphore(threads)
        self._pool = ThreadPoolExecutor(threads, "batch", stand_back)
        self._consumer = threading.Thread(target=self._consume, name="batch-queues", daemon=True)

    def start(self) -> None:
        self._consumer.start()

    def stop(self) -> None:
        """Take no more messages, and wait for the running tasks."""
        stopping.set()
        if self._consumer.is_alive():
            self._consumer.join()
        self._pool.shutdown()

    def _consume(self) -> None:
        while not stopping.is_set():
            rest = self._pace.rest()
            queues, seconds = sort_queues(self._queues), BLOCK_SECONDS
            if rest > 0:  # calls rest for nobody: the job that waits for one was let start
                queues, seconds = list(filter(is_call, self._queues)), min(rest, BLOCK_SECONDS)
            seconds = max(LEAST_WAIT_SECONDS, seconds)
            if not queues:
                stopping.wait(seconds)
                continue
            if not self._free.acquire(timeout=BLOCK_SECONDS):
                continue
            task = self._next(queues, seconds)
            if task is None:
                self._free.release()
            else:
                if not is_call(task.queue):
                    self._pace.start()
                self._pool.submit(self._run, task)

    def _next(self, queues: Sequence[str], seconds: float) -> TaskMessage | None:
        try:
            found = pop(queues, seconds)
        except Unavailable:
            logger.warning("batch_queues.away")
            time.sleep(AWAY_SECONDS)
            return None
        if found is None:
            return None
        queue, raw = found
        self._queues.remove(queue)
        self._queues.append(queue)  # the others first, next time
        try:
            return TaskMessage.of(queue, raw)
        except (ValueError, KeyError, IndexError, TypeError) as error:
            logger.error("batch_queues.unreadable", queue=queue, exc_info=untold(error))
            return None

    def _run(self, task: TaskMessage) -> None:
        begun = time.thread_time()
        try:
            task.run()
        except Exception as error:  # its words may quote a call's text
            logger.error("batch_queues.crashed", task=task.name, exc_info=untold(error))
        finally:
            if not is_call(task.queue):
                self._pace.end(time.thread_time() - begun)
            self._free.release()


class Tenants(NamedTuple):
    """Two groups of tenants, which decide whose job is claimed next. `served` lists tenants, least
    recently served first. `full` lists tenants that get no more jobs now."""

    served: tuple[str, ...]
    full: tuple[str, ...]


class TenantShares:
    """Counts the threads that each tenant uses, and limits them. `most` is the maximum number of
    threads of one tenant, `most_in_queue` that in one queue. `stand_by` is the number of threads
    that may wait for other tenants' jobs in one queue, by default half of the rest."""

    def __init__(
        self,
        threads: int,
        share: float,
        stand_by: int | None = None,
        share_in_queue: float | None = None,
    ) -> None:
        self.most = max(1, ceil(threads * share))
        self.most_in_queue = max(1, ceil(threads * (share_in_queue or share)))
        half = (threads - self.most) // 2
        self._stand_by = threading.Semaphore(half if stand_by is None else stand_by)
        self._held: Counter[tuple[str, str]] = Counter()  # by queue and tenant
        self._served: dict[str, None] = {}
        self._asking = 0
        self._changed = threading.Condition()
        self._one_at_a_time = threading.Lock()

    def next_claim(self, claim: Callable[[Tenants], Claim | None], queue: str = "") -> Claim | None:
        """Call `claim` with the tenants that may get a job of this queue, and return its claim. The
        claim counts for its tenant until `release`."""
        with self._exactly():
            with self._changed:
                tenants = Tenants(tuple(self._served), tuple(self._full(queue)))
            found = claim(tenants)
            if found is not None:
                with self._changed:
                    self._held[queue, found.tenant] += 1
                    self._served.pop(found.tenant, None)
                    self._served[found.tenant] = None
                    if len(self._served) > REMEMBERED:
                        del self._served[next(iter(self._served))]
        return found

    def _full(self, queue: str) -> Iterator[str]:
        others = self._asking - 1
        of_tenants: Counter[str] = Counter()
        for (_, tenant), held in self._held.items():
            of_tenants[tenant] += held
        for tenant, held in of_tenants.items():
            in_queue = self._held[queue, tenant]
            if held + others >= self.most or in_queue + others >= self.most_in_queue:
                yield tenant

    def release(self, tenant: str, queue: str = "") -> None:
        """Record that a thread of this tenant is free again."""
        with self._changed:
            self._held[queue, tenant] -= 1
            self._held += Counter()  # without those that hold nothing
            self._changed.notify()

    @contextmanager
    def standing_by(self) -> Iterator[bool]:
        """Yield True if this thread may wait for a job of its queue during the block, or False if
        too many threads wait already."""
        may = self._stand_by.acquire(blocking=False)
        try:
            yield may
        finally:
            if may:
                self._stand_by.release()

    def wait(self) -> bool:
        """Wait until a thread releases its job, or a timeout passes. Return False if this process
        is stopping."""
        with self._changed:
            self._changed.wait(ASK_AGAIN_SECONDS)
        return not stopping.is_set()

    @contextmanager
    def _exactly(self) -> Iterator[None]:
        """Run blocks of several threads together while no tenant can exceed its maximum number of
        threads. Otherwise run one block at a time."""
        with self._changed:
            is_free = self._held.total() + self._asking < self.most_in_queue
            self._asking += is_free
        if not is_free:
            self._one_at_a_time.acquire()
            with self._changed:
                self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._asking -= 1
            if not is_free:
                self._one_at_a_time.release()


WEIGHT = 0.1  # of the last job in the mean
ELSEWHERE_SECONDS = (
    0.012  # of a processor, for one job: scheduler, queue, database, gateway; measured
)


class BatchRateLimiter:
    """Limits how often one worker starts batch jobs. `share`, in (0, 1], is the fraction of one
    processor that batch jobs may use. Their estimated cost in other processes counts too."""

    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._share = share
        self._clock = clock
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._due = 0.0
        self._mean: float | None = None  # processor seconds of a job in this worker

    def record_interactive(self) -> None:
        self._asked_at = self._clock()

    def rest(self) -> float:
        """Return the seconds until the next batch job may start, or 0 for now."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at > RECENT_SECONDS:
            return 0.0
        return max(0.0, self._due - now)

    def start(self) -> None:
        with self._lock:
            cost = (self._mean or 0.0) + ELSEWHERE_SECONDS
            self._due = max(self._due, self._clock()) + cost / self._share

    def end(self, seconds: float) -> None:
        """Record the processor seconds that a job used in this worker."""
        with self._lock:
            before = seconds if self._mean is None else self._mean
            self._mean = before + WEIGHT * (seconds - before)
