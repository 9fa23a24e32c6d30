"""Continuous batching: one thread generates the texts of many callers.

Before each token, waiting texts join the batch. The parties (a tenant's interactive or batch jobs)
take turns. Finished texts leave the batch, and texts whose callers no longer wait are dropped. If a
pass raises, only a caller whose own pass raises gets the error. If the device has no memory for a
pass, batches become smaller. A caller whose single text does not fit gets the error."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import torch

from services.inference.causal_pass import CausalPass
from services.inference.generated_text import GeneratedText
from services.inference.generation_batch import Draft, GenerationBatch
from services.inference.weights.batcher import IDLE_SECONDS, measure_stage
from shared.contracts.calls import Sampling
from shared.contracts.errors import Unavailable
from shared.queue.job_context import acting_for, party, wait_all
from shared.queue.priority import Party, Turns

TOGETHER = 32  # texts of one party; their keys and values are held all at once
MOST = 4 * TOGETHER  # of all parties
JOINED = 8  # texts that are read at once where so many wait: reading one takes nearly as long


@dataclass(eq=False)
class PendingTexts:
    """The texts of one caller. The future completes with the last text."""

    missing: int
    party: Party
    future: Future[None] = field(default_factory=Future)

    def end(self, texts: int = 0, *, error: Exception | None = None) -> None:
        self.missing -= texts
        with suppress(InvalidStateError):  # cancelled, at any moment
            if error is not None:
                self.future.set_exception(error)
            elif self.missing == 0:
                self.future.set_result(None)


TextDraft = Draft[PendingTexts]
TextBatch = GenerationBatch[PendingTexts]


class GenerationQueue:
    """Generates the texts of one model. Thread-safe."""

    def __init__(self, causal: CausalPass, longest: int) -> None:
        """Create the queue. `longest` is the maximum number of tokens that the model can read."""
        self._causal, self._longest = causal, longest
        self._waiting: dict[Party, deque[TextDraft]] = {}
        self._turns = Turns()
        self._batches: list[TextBatch] = []
        self._most = MOST  # texts at a time; fewer once the device was full
        self._something = threading.Condition()
        self._thread: threading.Thread | None = None

    def finish(self, texts: Sequence[GeneratedText], sampling: Sampling) -> None:
        """Generate these texts until they end. Raises Unavailable if the device has no memory for
        them, and JobCancelled or DeadlineExceeded."""
        if not texts:
            return
        call = PendingTexts(len(texts), party())
        drafts = [
            Draft(text, sampling, call) for text in sorted(texts, key=lambda text: text.length)
        ]
        with self._something:
            self._waiting.setdefault(call.party, deque()).extend(drafts)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="generation", daemon=True)
                self._thread.start()
            self._something.notify()
        wait_all([call.future])

    def _work(self) -> None:
        while True:
            with self._something:
                idle = False
                while not (self._batches or self._waiting):
                    if idle:  # it must not keep a model that was let go of
                        self._thread = None
                        return
                    idle = not self._something.wait(IDLE_SECONDS)
            with measure_stage(self._causal.name, "run"):
                self._step()

    def _step(self) -> None:
        """Generate the next token of every batch, add texts that wait in the queue to a batch, and
        drop empty batches."""
        for batch in list(self._batches):
            self._run(batch, batch.drafts, partial(_advance, batch))
        if joining := self._joining():
            batch = self._open_batch()
            self._run(batch, [*batch.drafts, *joining], partial(batch.add, joining))
        self._batches = [batch for batch in self._batches if batch.drafts]

    def _open_batch(self) -> TextBatch:
        for batch in self._batches:
            if batch.takes_more:
                return batch
        self._batches.append(GenerationBatch(self._causal, self._longest))
        return self._batches[-1]

    def _joining(self) -> list[TextDraft]:
        """Return the texts whose generation starts now, at most `TOGETHER` per party (a tenant's
        interactive or batch jobs)."""
        running = Counter(draft.owner.party for batch in self._batches for draft in batch.drafts)
        joining: list[TextDraft] = []
        with self._something:
            self._forget()
            rooms = {
                whom: room
                for whom, drafts in self._waiting.items()
                if (room := TOGETHER - running[whom]) >= min(JOINED, len(drafts))
            }
            while rooms and running.total() + len(joining) < self._most:
                whom = self._turns.next(rooms)
                if whom is None:
                    break
                joining.append(self._waiting[whom].popleft())
                rooms[whom] -= 1
                if not (rooms[whom] and self._waiting[whom]):
                    del rooms[whom]
            self._forget()
        return joining

    def _forget(self) -> None:
        """Remove waiting drafts whose callers no longer wait."""
        left = {
            whom: deque(draft for draft in drafts if not draft.owner.future.done())
            for whom, drafts in self._waiting.items()
        }
        self._waiting = {whom: drafts for whom, drafts in left.items() if drafts}

    def _run(
        self, batch: TextBatch, drafts: Sequence[TextDraft], work: Callable[[], Iterable[TextDraft]]
    ) -> None:
        drafts = list(drafts)
        whom = min((draft.owner.party for draft in drafts), key=lambda party: party.batch)
        try:
            with acting_for(whom):
                finished = work()
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._split(batch, drafts, error)
        else:
            for draft in finished:
                draft.owner.end(1)
                self._most = min(MOST, self._most + 1)

    def _split(self, batch: TextBatch, drafts: Sequence[TextDraft], error: Exception) -> None:
        """Continue each caller's texts in a separate batch after an error. A single caller gets the
        error. After an out-of-memory error the batch is halved instead."""
        self._batches = [other for other in self._batches if other is not batch]
        if isinstance(error, torch.OutOfMemoryError) and len(drafts) > 1:
            self._halve(drafts)
            return
        owners = dict.fromkeys(draft.owner for draft in drafts)
        if len(owners) == 1:
            drafts[0].owner.end(error=_error(self._causal.name, error))
            return
        for owner in owners:
            if owner.future.done():
                continue
            drafts_of_owner = [draft for draft in drafts if draft.owner is owner]
            owner.end(sum(draft.text.finish is not None for draft in drafts_of_owner))
            if growing := [draft for draft in drafts_of_owner if draft.text.finish is None]:
                alone: TextBatch = GenerationBatch(self._causal, self._longest, alone=True)
                self._batches.append(alone)
                self._run(alone, growing, partial(alone.add, growing))

    def _halve(self, drafts: Sequence[TextDraft]) -> None:
        """Continue with one half of the drafts. The other half returns to the front of the
        queue."""
        for draft in drafts:
            if draft.text.finish is not None:
                draft.owner.end(1)
        growing = [draft for draft in drafts if draft.text.finish is None]
        first_half = growing[: max(1, len(drafts) // 2)]
        self._most = max(1, min(self._most, len(drafts)) // 2)
        with self._something:
            for draft in reversed(growing[len(first_half) :]):
                self._waiting.setdefault(draft.owner.party, deque()).appendleft(draft)
        if first_half:
            alone: TextBatch = GenerationBatch(self._causal, self._longest, alone=True)
            self._batches.append(alone)
            self._run(alone, first_half, partial(alone.add, first_half))


def _advance(batch: TextBatch) -> Iterable[TextDraft]:
    """Remove abandoned drafts and generate the next token of the others. Return the drafts that are
    finished."""
    batch.drop({draft.owner for draft in batch.drafts if draft.owner.future.done()})
    return batch.step() if batch.drafts else ()


def _error(model: str, error: Exception) -> Exception:
    """Return the error, or Unavailable if the device is out of memory, so that the job is
    retried."""
    if not isinstance(error, torch.OutOfMemoryError):
        return error
    full = Unavailable(f"the device of {model!r} has no memory left")
    full.__cause__ = error
    return full
