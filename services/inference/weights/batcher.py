"""The micro-batcher: inputs (rows) of many callers share forward passes of one model.

Calls queue up while the device is busy. When it is free, the next party (queue kind and tenant, see
`shared.queue.priority`) is served, with its longest waiting kind of rows. Rows of that kind from
all similar callers fill the batch in turn. A pass is kept short if another party's interactive row
may arrive during it. An exception reaches only the callers whose rows cause it. A batch that is too
large for the device's memory is halved. Source: text-embeddings-inference."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter
from typing import Generic, Literal, Protocol, TypeVar

import torch
from prometheus_client import Gauge, Histogram

from shared.contracts.errors import Unavailable
from shared.process.telemetry import SECONDS
from shared.queue.job_context import acting_for, party
from shared.queue.priority import NOBODY, DeviceRate, Party, Turns

IDLE_SECONDS = 10.0  # without a row; then its thread ends, and the next row starts another
Row = TypeVar("Row")
Answer = TypeVar("Answer")
Stage = Literal["tokenize", "run", "finish"]

# `model` is a configured name: there are few
QUEUED_ROWS = Gauge("touchstone_inference_queued_rows", "Rows that wait for the device", ["model"])
BATCH_ROWS = Histogram(
    "touchstone_inference_batch_rows",
    "Rows of a forward pass",
    ["model"],
    buckets=[2**power for power in range(13)],
)
PADDED_SHARE = Histogram(
    "touchstone_inference_padded_share",
    "Share of a forward pass that is padding",
    ["model"],
    buckets=[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0],
)
STAGE_SECONDS = Histogram(
    "touchstone_inference_seconds", "Of a stage", ["model", "stage"], buckets=(0.001, *SECONDS)
)


class BatchMetrics(Protocol):
    """Measures the batches of one model."""

    def set_queue_size(self, rows: int) -> None: ...

    def batch(self, rows: int) -> None: ...

    def measure(self, stage: Stage) -> AbstractContextManager[object]: ...


class InferenceMetrics:
    """Prometheus metrics for the batches of a classifier or causal model."""

    def __init__(self, model: str) -> None:
        self._model = model

    def set_queue_size(self, rows: int) -> None:
        QUEUED_ROWS.labels(self._model).set(rows)

    def batch(self, rows: int) -> None:
        BATCH_ROWS.labels(self._model).observe(rows)

    def measure(self, stage: Stage) -> AbstractContextManager[object]:
        return measure_stage(self._model, stage)


@contextmanager
def measure_stage(model: str, stage: Stage) -> Iterator[None]:
    started = perf_counter()
    try:
        yield
    finally:
        STAGE_SECONDS.labels(model, stage).observe(perf_counter() - started)


@dataclass(frozen=True)
class Device(Generic[Row, Answer]):
    """A model as the batcher uses it.

    Rows of equal `kind` may share a batch. `cost` returns the padded tokens of one row. `run`
    computes a batch of one kind in order, and is called from one thread only. It raises `full` if
    memory is exhausted. `name` is that of the model, for errors and metrics. `clock` returns
    seconds, to time passes. `metrics` returns the metrics for a model's name.
    """

    kind: Callable[[Row], Hashable]
    cost: Callable[[Row], int]
    run: Callable[[list[Row]], Iterable[Answer]]
    budget: int
    full: type[Exception]
    name: str = ""
    clock: Callable[[], float] = time.monotonic
    metrics: Callable[[str], BatchMetrics] = InferenceMetrics


class MicroBatcher(Generic[Row, Answer]):
    """The queue of one device, and the thread that processes it."""

    def __init__(self, device: Device[Row, Answer]) -> None:
        self._device = device
        self._metrics = device.metrics(device.name)
        self._queues: dict[Hashable, RowQueue[Row, Answer]] = {}
        self._turns = 0
        self._parties = Turns()
        self._pace = DeviceRate(device.clock)
        self._something = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, rows: Sequence[Row]) -> Future[list[Answer]]:
        """Queue these inputs. The future gets their answers, in order. Cancel it to drop them."""
        whom = party()
        call: PendingCall[Row, Answer] = PendingCall([None] * len(rows), len(rows), whom)
        if not rows:
            call.future.set_result([])
            return call.future
        with self._something:
            self._pace.record_request(whom)
            for index, row in enumerate(rows):
                self._queue(row).add(PendingRow(call, index, row))
            self._count()
            self._ensure_running()
            self._something.notify()
        return call.future

    def _queue(self, row: Row) -> RowQueue[Row, Answer]:
        kind = self._device.kind(row)
        if kind not in self._queues:
            self._turns += 1
            self._queues[kind] = RowQueue(self._turns)
        return self._queues[kind]

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="microbatcher", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._something:
                idle = False
                while not (batch := self._next_batch()):
                    if idle:  # it must not keep a model that was let go of
                        self._thread = None
                        return
                    idle = not self._something.wait(IDLE_SECONDS)
                self._count()
            self._run(batch)

    def waiting(self) -> int:
        """Return the number of inputs that wait for the device."""
        with self._something:
            return sum(map(len, self._queues.values()))

    def _count(self) -> None:
        self._metrics.set_queue_size(self.waiting())

    def _next_batch(self) -> list[PendingRow[Row, Answer]]:
        waiting = {kind: queue.parties() for kind, queue in self._queues.items()}
        self._queues = {kind: queue for kind, queue in self._queues.items() if waiting[kind]}
        party = self._parties.next(
            waiting_party for parties in waiting.values() for waiting_party in parties
        )
        if party is None:
            return []
        kind = min(
            (kind for kind in self._queues if party in waiting[kind]),
            key=lambda kind: self._queues[kind].turn,
        )
        self._turns += 1
        self._queues[kind].turn = self._turns
        return self._fill_batch(self._queues[kind], party, waiting[kind])

    def _fill_batch(
        self, queue: RowQueue[Row, Answer], first: Party, waiting: list[Party]
    ) -> list[PendingRow[Row, Answer]]:
        """Return rows to compute together, up to the budget. First come rows of `first`, then of
        parties (tenants' job groups) of the same kind, batch or interactive. In a short
        computation, rows of the other kind fill the remaining space."""
        cost = self._device.cost(queue.first().row)
        ranked = [first, *(other for other in self._parties.sort(waiting) if other != first)]
        alike = [other for other in ranked if other.batch == first.batch]
        rows = queue.take(max(1, self._most(alike) // cost), alike)
        rest = [other for other in ranked if other.batch != first.batch]
        rows += queue.take(self._most(()) // cost - len(rows), rest)  # a short pass stays short
        for other in {row.call.party for row in rows} - {first}:
            self._parties.ride(other)
        return rows

    def _most(self, parties: Sequence[Party]) -> int:
        return self._pace.most(self._device.budget, parties)

    def _run(self, batch: list[PendingRow[Row, Answer]]) -> None:
        self._metrics.batch(len(batch))
        whom = min((waiting.call.party for waiting in batch), key=lambda party: party.batch)
        begun = self._pace.clock()
        try:
            with self._metrics.measure("run"), acting_for(whom):
                rows = [waiting.row for waiting in batch]
                answers = list(zip(batch, self._device.run(rows), strict=True))
        except self._device.full as error:
            self._split_batch(batch, error)
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._one_by_one(batch, error)
        else:
            cost = len(rows) * self._device.cost(rows[0])
            self._pace.record(cost, self._pace.clock() - begun)
            with self._metrics.measure("finish"):
                for waiting, answer in answers:
                    waiting.call.take(waiting.index, answer)

    def _split_batch(self, batch: list[PendingRow[Row, Answer]], error: Exception) -> None:
        if len(batch) == 1:
            full = Unavailable(
                f"the device of {self._device.name!r} has too little memory for a single input"
            )
            full.__cause__ = error
            batch[0].call.fail(full)
            return
        middle = len(batch) // 2
        self._run(batch[:middle])
        self._run(batch[middle:])

    def _one_by_one(self, batch: list[PendingRow[Row, Answer]], error: Exception) -> None:
        """Run each caller's rows in a separate pass, so that only the callers whose rows fail get
        the exception."""
        ordered = sorted(batch, key=lambda waiting: id(waiting.call))
        callers = [list(rows) for _, rows in groupby(ordered, lambda waiting: id(waiting.call))]
        if len(callers) == 1:
            batch[0].call.fail(error)
            return
        for rows in callers:
            self._run(rows)


@dataclass
class PendingCall(Generic[Row, Answer]):
    """A call that waits for the answers to its inputs."""

    answers: list[Answer | None]
    missing: int
    party: Party = NOBODY
    future: Future[list[Answer]] = field(default_factory=Future)

    @property
    def is_over(self) -> bool:
        return self.future.done()

    def take(self, index: int, answer: Answer) -> None:
        self.answers[index] = answer
        self.missing -= 1
        if self.missing == 0:
            with suppress(InvalidStateError):  # cancelled, at any moment
                self.future.set_result(self.answers)  # type: ignore[arg-type]  # all are filled

    def fail(self, error: Exception) -> None:
        """Set the error of the call, unless it has ended."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


@dataclass(frozen=True)
class PendingRow(Generic[Row, Answer]):
    call: PendingCall[Row, Answer]
    index: int
    row: Row


class PartyRows(Generic[Row, Answer]):
    """Inputs of one kind that wait for the model, from one party (a tenant's interactive or batch
    jobs). Its calls take turns, one input each."""

    def __init__(self) -> None:
        self._calls: dict[int, deque[PendingRow[Row, Answer]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._calls.values()))

    def add(self, waiting: PendingRow[Row, Answer]) -> None:
        """Append an input to the waiting inputs of its call."""
        self._calls.setdefault(id(waiting.call), deque()).append(waiting)

    def first(self) -> PendingRow[Row, Answer] | None:
        """Return the next input. Inputs of calls that have ended are removed."""
        while self._calls:
            key = next(iter(self._calls))
            row = self._calls[key][0]
            if not row.call.is_over:
                return row
            del self._calls[key]
        return None

    def pop(self) -> PendingRow[Row, Answer] | None:
        """Remove and return the next input, or None. Calls take turns, with one input each time."""
        row = self.first()
        if row is not None:
            rows = self._calls.pop(id(row.call))
            rows.popleft()
            if rows:
                self._calls[id(row.call)] = rows
        return row


class RowQueue(Generic[Row, Answer]):
    """Waiting inputs of one kind. `turn` is a counter value that is set at creation and whenever
    inputs are taken. The queue with the lowest `turn` is served next."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self._of: dict[Party, PartyRows[Row, Answer]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def add(self, waiting: PendingRow[Row, Answer]) -> None:
        """Add an input to the queue of its party, after earlier inputs of the same call."""
        self._of.setdefault(waiting.call.party, PartyRows()).add(waiting)

    def parties(self) -> list[Party]:
        self._of = {party: calls for party, calls in self._of.items() if calls.first()}
        return list(self._of)

    def first(self) -> PendingRow[Row, Answer]:
        """Return the next input. Raises StopIteration if there is none."""
        return next(row for calls in self._of.values() if (row := calls.first()))

    def take(self, most: int, parties: Iterable[Party]) -> list[PendingRow[Row, Answer]]:
        """Remove and return up to `most` inputs of these parties, one from each in turn."""
        rows: list[PendingRow[Row, Answer]] = []
        left = deque(party for party in parties if party in self._of)
        while left and len(rows) < most:
            party = left.popleft()
            row = self._of[party].pop()
            if row is not None:
                rows.append(row)
                left.append(party)
        return rows


# Which rows go through a model together: none may change what another comes out as.
#
# A forward pass gives a row the same bits alone and in any company as long as its padded width is
# its own (measured on CPU, float32, scaled-dot-product attention;
# tests/inference/test_classifier.py). So a row's width depends on its own length only, and rows of
# one width travel together. Wide steps waste tokens, narrow ones make many small passes.

LEAST_WIDTH = 16  # tokens; products of fewer rows take other kernels, and so other roundings
# Of a classifier. On a CPU, where time is tokens: a large batch loses 5 % to no padding at all, a
# dozen rows of mixed lengths gain 25 % (measured).
WIDTH_STEP = {"cpu": 4, "cuda": 16}  # tokens


def padded_width(length: int, step: int, least: int = 1, longest: int | None = None) -> int:
    """Return the padded length of a row: a multiple of `step`, within the limits."""
    width = max(least, max(1, -(-length // step)) * step)
    return width if longest is None else min(width, longest)


def classifier_row_kind(length: int, longest: int, device: str = "cpu") -> tuple[int, bool]:
    """Return (padded width, True if nothing is padded). Rows with the same result may share a
    batch. `device` is the type, `cpu` or `cuda`. Rows without padding are separate, since attention
    takes another code path if no token is masked."""
    width = padded_width(length, WIDTH_STEP[device], LEAST_WIDTH, longest)
    return width, length == width


# How many padded tokens one forward pass may have. On a CPU more than about a thousand only leave
# the cache (measured with rows of 8 and 16 tokens). On a GPU it is what fits: half of the free
# memory over what one token costs, found by one probe pass.

CPU_TOKENS = 2_048
LEAST_TOKENS, MOST_TOKENS = 1_024, 1_048_576
PROBED = 2_048  # tokens of the probe pass
SHARE = 0.5  # of the free memory; attention over long rows costs more than the probe's share


def padded_tokens(device: torch.device, probe: Callable[[int], object]) -> int:
    """Return the maximum number of tokens in one forward pass on this device. On a GPU, it is
    computed from the free memory and the memory that `probe(n)` uses. `probe(n)` must run a pass of
    about n tokens."""
    if device.type != "cuda":
        return CPU_TOKENS
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    probe(PROBED)
    torch.cuda.synchronize(device)
    used = torch.cuda.max_memory_allocated(device) - before
    free, _ = torch.cuda.mem_get_info(device)
    return tokens_for_memory(free, used / PROBED)


def tokens_for_memory(free: float, bytes_per_token: float) -> int:
    """Return the number of tokens that fit in a share of the free bytes, within limits."""
    return int(min(MOST_TOKENS, max(LEAST_TOKENS, SHARE * free / max(1.0, bytes_per_token))))


@contextmanager
def device_run(model: str) -> Iterator[None]:
    """Measure the time of attribution or generation in the block. Raises Unavailable if the device
    has no memory left, since memory may be free later."""
    try:
        with measure_stage(model, "run"):
            yield
    except torch.OutOfMemoryError as error:
        raise Unavailable(f"the device of {model!r} has no memory left") from error
