"""Every distinct input goes through the model once, whoever asks for it and how often.

While the device is busy, calls queue up; the caller that gets the device next computes what all of
them miss, in one batch. Source: design.md §3, the micro-batcher.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from services.similarity.cache import Cache, Input, Vector, key_of
from services.similarity.measures import BATCH_INPUTS, CACHE_HITS, CACHE_MISSES, RUN_SECONDS
from shared.contracts import ModelKind, ModelUse
from shared.errors import JobStopped
from shared.job_context import holding

TOGETHER = 4_096  # inputs that calls may add to a batch: a small call waits for no more than these

Asked = dict[bytes, Input]
Answers = dict[bytes, Vector]


@dataclass
class _Call:
    """One caller's inputs that the cache did not know."""

    asked: Asked
    answers: Answers = field(default_factory=dict)
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return bool(self.answers) or self.error is not None


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
        self._waiting: deque[_Call] = deque()
        self._device = Lock()

    def vectors(self, inputs: Sequence[Input]) -> dict[Input, Vector]:
        """The (D,) answer of each distinct input; for any number of threads."""
        asked = {key_of(self._use, each): each for each in dict.fromkeys(inputs)}
        found = self._cache.known(asked)
        CACHE_HITS.labels(self._kind).inc(len(found))
        missing = {key: each for key, each in asked.items() if key not in found}
        if missing:
            found |= self._answered(_Call(missing))
        return {each: found[key] for key, each in asked.items()}

    def _answered(self, call: _Call) -> Answers:
        self._waiting.append(call)
        try:
            with holding(self._device):
                while not call.is_over:  # another caller may have served it meanwhile
                    self._serve_next(call)
        except JobStopped as stopped:  # nobody waits for it: whoever is next passes it over
            call.error = stopped
            raise
        if call.error is not None:
            raise call.error
        return call.answers

    def _serve_next(self, own: _Call) -> None:
        """Answer some calls; where the one whose thread this is is stopped, the others wait on."""
        calls = self._next()
        try:
            self._serve(calls)
        except BaseException:
            others = (call for call in reversed(calls) if call is not own and not call.is_over)
            self._waiting.extendleft(others)
            raise

    def _next(self) -> list[_Call]:
        """The calls that waited longest, as many as belong into one batch."""
        calls: list[_Call] = []
        inputs = 0
        while self._waiting and (not calls or inputs + len(self._waiting[0].asked) <= TOGETHER):
            call = self._waiting.popleft()
            if not call.is_over:
                calls.append(call)
                inputs += len(call.asked)
        return calls

    def _serve(self, calls: list[_Call]) -> None:
        """Answer these calls; where the batch fails, each alone, so that one fails only itself."""
        try:
            found = self._looked_up(
                {key: each for call in calls for key, each in call.asked.items()}
            )
        except JobStopped:
            raise
        except Exception as error:  # noqa: BLE001 - its caller gets it
            if len(calls) == 1:
                calls[0].error = error
                return
            for call in calls:
                self._serve([call])
        else:
            for call in calls:
                call.answers = {key: found[key] for key in call.asked}

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
