"""The released code's way to compare: see `bench.haf`. And how a way's passes are counted."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sentence_transformers

from services.haf.contract import HafRequest
from services.haf.conversation import converse
from services.haf.model_calls import TEMPLATES, compared_with, decision_target
from services.haf.transcript import Exchange, Transcript
from services.weights.loader import silent_loading

Texts = tuple[str, str]


@dataclass
class Way:
    """One way of scoring: its seconds, a round each, and what it asked of the model."""

    seconds: list[float] = field(default_factory=list)
    passes: int = 0
    rows: int = 0

    def figures(self, samples: int) -> dict[str, float]:
        """Medians, a sample."""
        return {
            "seconds": round(statistics.median(self.seconds), 3),
            "forward_passes_per_sample": round(self.passes / samples, 2),
            "rows_per_sample": round(self.rows / samples, 1),
        }


@contextmanager
def counted(network: Any, way: Way) -> Iterator[None]:
    """Count the passes and rows that go through this network."""
    way.passes = way.rows = 0
    forward = network.forward

    def counting(*args: Any, **given: Any) -> Any:
        way.passes += 1
        way.rows += len(given["input_ids"] if "input_ids" in given else args[0])
        return forward(*args, **given)

    network.forward = counting
    try:
        yield
    finally:
        network.forward = forward


class Released:
    """The calls that the released code makes, on sentence-transformers' own cross-encoder."""

    def __init__(self, folder: Path) -> None:
        with silent_loading():
            self._model = sentence_transformers.CrossEncoder(str(folder), device="cpu")
        self.way = Way()
        self.answers: dict[Texts, float] = {}

    def run(self, requests: Sequence[HafRequest]) -> None:
        """Compare what one scoring of all of them needs."""
        told = converse(requests)
        with counted(self._model[0].auto_model, self.way):
            self.way.seconds.append(timed(lambda: self._all(requests, told)))

    def _all(self, requests: Sequence[HafRequest], told: list[list[Transcript]]) -> None:
        for request, transcripts_ in zip(requests, told, strict=True):
            self._sample(request, transcripts_[0])

    def _sample(self, request: HafRequest, told: Transcript) -> None:
        """A call a reason, a decision, a list; then pair after pair."""
        for exchange in told.exchanges:
            self._relevance(request, exchange)
        initial = [reason.statement.text for reason in told.justify.reasons]
        self._predict([(request.text, text) for text in initial])
        self._predict([(a, b) for n, a in enumerate(initial) for b in initial[n + 1 :]])
        for exchange in told.later:
            self._one_by_one(exchange, initial)

    def _relevance(self, request: HafRequest, exchange: Exchange) -> None:
        for reason in exchange.reasons:
            self._predict([(reason.statement.text, masked) for masked in reason.masked])
        if exchange.decision is not None:
            target = decision_target(request, exchange, exchange.decision)
            self._predict([(target, masked) for masked in exchange.decision.masked])

    def _one_by_one(self, exchange: Exchange, initial: list[str]) -> None:
        for reason in exchange.reasons:
            for other in compared_with(exchange, initial):
                self._predict([(reason.statement.text, other)])
        if exchange.reason is not None and exchange.decision is not None:
            for known in TEMPLATES:
                self._predict([(exchange.decision.statement.text, known)])

    def _predict(self, pairs: list[Texts]) -> None:
        if pairs:
            found = self._model.predict(pairs, batch_size=32, show_progress_bar=False)
            self.answers.update(zip(pairs, found.tolist(), strict=True))


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
