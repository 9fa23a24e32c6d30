"""What models answered last, bounded in entries and in bytes: the least recently used goes first.

Nothing of a text is kept but its SHA-256.

Every distinct input goes through the model once, whoever asks for it and how often.

While the device is busy, calls queue up; one caller computes what they miss in one batch, in the
order of `shared.priority`, until its own call is answered. Source: design.md §3, the micro-batcher.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Event, Lock

import numpy as np
from numpy.typing import NDArray

from services.similarity.measures import BATCH_INPUTS, CACHE_HITS, CACHE_MISSES, RUN_SECONDS
from shared.contracts import ModelKind, ModelUse
from shared.errors import JobStopped
from shared.job_context import SLICE_SECONDS, party, waiting
from shared.priority import DevicePace, FairQueue, Party

Vector = NDArray[np.float32]
Input = str | tuple[str, str]

ENTRIES = 200_000
BYTES = 256 * 2**20
ENTRY_BYTES = 400  # what an entry takes beside its numbers: key, array object, links (measured)


def key_of(use: ModelUse, texts: Input) -> bytes:
    """SHA-256 of the model (weights, dtype, device, name) and the text or the ordered pair."""
    parts = (use.model_dump_json(), *((texts,) if isinstance(texts, str) else texts))
    digests = (hashlib.sha256(part.encode("utf-8")).digest() for part in parts)
    return hashlib.sha256(b"".join(digests)).digest()


class Cache:
    """Key → (D,) numbers, for any number of threads."""

    def __init__(self, entries: int = ENTRIES, size: int = BYTES) -> None:
        self._most, self._largest = entries, size
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """Entries."""
        return len(self._kept)

    @property
    def size(self) -> int:
        """Bytes, what an entry takes beside its numbers included."""
        return self._bytes

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        """Those of the keys that are here; they are the last to go now."""
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
            for key in found:
                self._kept.move_to_end(key)
        return found

    def keep(self, answers: dict[bytes, Vector]) -> None:
        """Take these in, and drop the oldest until the bounds hold."""
        with self._lock:
            for key, vector in answers.items():
                self._drop(key)
                vector.setflags(write=False)  # many callers read it
                self._kept[key] = vector
                self._bytes += vector.nbytes + ENTRY_BYTES
            while self._kept and (len(self._kept) > self._most or self._bytes > self._largest):
                self._drop(next(iter(self._kept)))

    def _drop(self, key: bytes) -> None:
        old = self._kept.pop(key, None)
        if old is not None:
            self._bytes -= old.nbytes + ENTRY_BYTES


TOGETHER = 4_096  # inputs that calls may add to a batch: a small call waits for no more than these

Asked = dict[bytes, Input]
Answers = dict[bytes, Vector]


@dataclass(eq=False)
class _Call:
    """One caller's inputs that the cache did not know. woken: it is over, or leads."""

    left: Asked
    party: Party
    answers: Answers = field(default_factory=dict)
    error: Exception | None = None
    woken: Event = field(default_factory=Event)
    leads: bool = False

    @property
    def is_over(self) -> bool:
        return not self.left or self.error is not None

    def take(self, found: Answers) -> None:
        """Some answers."""
        self.answers |= found
        self.left = {key: each for key, each in self.left.items() if key not in found}
        if self.is_over:
            self.woken.set()


@dataclass(frozen=True)
class _Part:
    """Inputs of one call that are computed now."""

    call: _Call
    asked: Asked


class Remembering:
    """A model's answers, computed by one thread at a time and kept in a cache."""

    def __init__(
        self,
        compute: Callable[[Sequence[Input]], list[Vector]],
        use: ModelUse,
        kind: ModelKind,
        cache: Cache,
    ) -> None:
        self._compute, self._use, self._kind, self._cache = compute, use, kind, cache
        self._waiting: FairQueue[_Call] = FairQueue()
        self._pace = DevicePace()
        self._lock = Lock()  # of what follows, for moments
        self._is_led = False

    def vectors(self, inputs: Sequence[Input]) -> dict[Input, Vector]:
        """The (D,) answer of each distinct input; for any number of threads."""
        asked = {key_of(self._use, each): each for each in dict.fromkeys(inputs)}
        found = self._cache.known(asked)
        CACHE_HITS.labels(self._kind).inc(len(found))
        missing = {key: each for key, each in asked.items() if key not in found}
        if missing:
            found |= self._answered(_Call(missing, party()))
        return {each: found[key] for key, each in asked.items()}

    def _answered(self, call: _Call) -> Answers:
        """One caller leads: it serves whose turn it is until its own call is over."""
        self._enter(call)
        try:
            if not call.leads:
                with waiting() as still_wanted:
                    while not call.woken.wait(SLICE_SECONDS):
                        still_wanted()
            with waiting():
                while call.leads and not call.is_over:
                    self._serve_next(call)
        except JobStopped as stopped:  # nobody waits for it: whoever leads passes it over
            call.error = stopped
            raise
        finally:
            self._leave(call)
        if call.error is not None:
            raise call.error
        return call.answers

    def _enter(self, call: _Call) -> None:
        with self._lock:
            self._pace.saw(call.party)
            self._waiting.add(call.party, call)
            call.leads, self._is_led = not self._is_led, True

    def _leave(self, call: _Call) -> None:
        """Somebody else leads, if anybody waits."""
        with self._lock:
            if not call.leads:
                return
            others = (one for one in self._waiting if one is not call and not one.is_over)
            leader = next(others, None)
            if leader is None:
                self._is_led = False
            else:
                leader.leads = True
                leader.woken.set()

    def _serve_next(self, own: _Call) -> None:
        """Answer some inputs; where the job of this thread is stopped, the others wait on."""
        parts = self._next()
        try:
            self._serve(parts)
        except BaseException:
            with self._lock:
                for part in parts:
                    call = part.call
                    if call is not own and not call.is_over and call not in self._waiting:
                        self._waiting.put_back(call.party, call)
            raise

    def _next(self) -> list[_Part]:
        """Inputs of the calls whose turn it is, as many as belong into one batch: interactive ones
        first, and few where somebody else's may come. Only the first call is ever cut."""
        parts: list[_Part] = []
        room = TOGETHER
        with self._lock:
            while self._waiting and (call := self._waiting.pop()):
                if call.is_over:
                    continue
                if not parts:
                    room = self._pace.most(TOGETHER, self._like(call))
                elif call.party.batch != parts[0].call.party.batch:
                    room = min(room, self._pace.most(TOGETHER, ()))
                some = dict(islice(call.left.items(), room))
                if len(some) < len(call.left):
                    self._waiting.put_back(call.party, call)
                    return parts or [_Part(call, some)]
                parts.append(_Part(call, some))
                room -= len(some)
        return parts

    def _like(self, call: _Call) -> set[Party]:
        """Parties that share a batch with this call as equals."""
        parties = {one.party for one in self._waiting} | {call.party}
        return {one for one in parties if one.batch == call.party.batch}

    def _serve(self, parts: list[_Part]) -> None:
        """Answer these inputs; where the batch fails, each call alone, so that one fails only
        itself."""
        begun = self._pace.clock()
        try:
            asked = {key: each for part in parts for key, each in part.asked.items()}
            found = self._looked_up(asked)
        except JobStopped:
            raise
        except Exception as error:  # noqa: BLE001 - its caller gets it
            if len(parts) == 1:
                parts[0].call.error = error
                parts[0].call.woken.set()
                return
            for part in parts:
                self._serve([part])
        else:
            self._pace.measured(len(asked), self._pace.clock() - begun)
            for part in parts:
                part.call.take({key: found[key] for key in part.asked})

    def _looked_up(self, asked: Asked) -> Answers:
        """From the cache what came there while the calls waited, from the model the rest."""
        found = self._cache.known(asked)
        missing = {key: each for key, each in asked.items() if key not in found}
        CACHE_HITS.labels(self._kind).inc(len(found))
        if missing:
            CACHE_MISSES.labels(self._kind).inc(len(missing))
            BATCH_INPUTS.labels(self._use.name).observe(len(missing))
            with RUN_SECONDS.labels(self._use.name).time():
                computed = self._compute(list(missing.values()))
            answers = dict(zip(missing, computed, strict=True))
            self._cache.keep(answers)
            found |= answers
        return found
