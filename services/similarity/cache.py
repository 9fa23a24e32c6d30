"""A cache of models' answers in front of their batcher. Every distinct input is computed once.

The cache is limited in entries and bytes, and drops the least recently used entries. It stores only
SHA-256 hashes of texts. Calls that wait for the device share its passes
(`services.inference.weights.batcher`).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from prometheus_client import Counter, Histogram

from services.inference.weights.batcher import Device, MicroBatcher, Stage
from shared.contracts.messages import ModelKind, ModelUse
from shared.process.telemetry import SECONDS
from shared.queue.job_context import wait_all

CACHE_HITS = Counter(
    "touchstone_similarity_cache_hits_total", "Texts or pairs answered from the cache", ["kind"]
)
CACHE_MISSES = Counter(
    "touchstone_similarity_cache_misses_total", "Texts or pairs that a model computed", ["kind"]
)
BATCH_INPUTS = Histogram(
    "touchstone_similarity_batch_inputs",
    "Texts or pairs in calls that were computed in one batch",
    ["model"],
    buckets=[4**power for power in range(8)],
)
RUN_SECONDS = Histogram(
    "touchstone_similarity_seconds", "Seconds per batch", ["model"], buckets=(0.001, *SECONDS)
)

ENTRIES = 200_000
BYTES = 256 * 2**20
ENTRY_BYTES = 400  # of an entry without its numbers: key, array object, links (measured)
MOST_WAITING = 4_096  # inputs tokenized ahead; tokens take more memory than texts

Vector = NDArray[np.float32]
Input = str | tuple[str, str]
Tokenized = TypeVar("Tokenized")


class InputEncoder(Protocol[Tokenized]):
    """An interface to a model that computes a vector of D numbers for each input."""

    @property
    def use(self) -> ModelUse:
        """The identity and settings of the model, which are part of the cache's keys."""

    @property
    def budget(self) -> int:
        """The maximum number of tokens in one forward pass, including padding."""

    def tokenize(self, inputs: Sequence[Input]) -> list[Tokenized]:
        """Tokenize each input. Thread-safe."""

    def width(self, row: Tokenized) -> int:
        """Return the number of tokens of an input, including padding. Inputs of equal width may
        share a pass."""

    def run(self, rows: list[Tokenized]) -> list[Vector]:
        """Return a vector of D numbers for each input. All inputs have the same width. Call this
        from one thread only."""


@dataclass(frozen=True)
class CacheRow(Generic[Tokenized]):
    key: bytes
    row: Tokenized


class EncoderMetrics:
    """Prometheus metrics of an encoder's batches."""

    def __init__(self, model: str) -> None:
        self._model = model

    def set_queue_size(self, rows: int) -> None:
        """Do nothing. The size of the queue is not measured."""

    def batch(self, rows: int) -> None:
        BATCH_INPUTS.labels(self._model).observe(rows)

    def measure(self, stage: Stage) -> AbstractContextManager[object]:
        return nullcontext() if stage == "finish" else RUN_SECONDS.labels(self._model).time()


class CachedVectors(Generic[Tokenized]):
    """Returns a model's answers from the cache, or from a pass that several calls share."""

    def __init__(self, encoder: InputEncoder[Tokenized], kind: ModelKind, cache: Cache) -> None:
        self._encoder, self._kind, self._cache = encoder, kind, cache
        self._metrics = EncoderMetrics(encoder.use.name)
        self._batcher: MicroBatcher[CacheRow[Tokenized], Vector] = MicroBatcher(
            Device(
                kind=self._width,
                cost=self._width,
                run=self._run,
                budget=encoder.budget,
                full=torch.OutOfMemoryError,
                name=encoder.use.name,
                metrics=EncoderMetrics,
            )
        )

    def vectors(self, inputs: Sequence[Input]) -> dict[Input, Vector]:
        """Return the answer, a vector of D numbers, for each distinct input. Thread-safe."""
        by_key = {key_of(self._encoder.use, text): text for text in dict.fromkeys(inputs)}
        vectors = self._cached(by_key)
        missing = [key for key in by_key if key not in vectors]
        for start in range(0, len(missing), MOST_WAITING):
            keys = missing[start : start + MOST_WAITING]
            with self._metrics.measure("tokenize"):
                rows = self._encoder.tokenize([by_key[key] for key in keys])
            [answers] = wait_all([self._batcher.submit(list(map(CacheRow, keys, rows)))])
            vectors |= zip(keys, answers, strict=True)
        return {text: vectors[key] for key, text in by_key.items()}

    def _width(self, row: CacheRow[Tokenized]) -> int:
        return self._encoder.width(row.row)

    def _run(self, rows: list[CacheRow[Tokenized]]) -> list[Vector]:
        # other calls may have filled the cache while the rows waited
        vectors = self._cached(row.key for row in rows)
        missing = {row.key: row.row for row in rows if row.key not in vectors}
        if missing:
            computed = self._encoder.run(list(missing.values()))
            CACHE_MISSES.labels(self._kind).inc(len(missing))
            answers = dict(zip(missing, computed, strict=True))
            self._cache.put(answers)
            vectors |= answers
        return [vectors[row.key] for row in rows]

    def _cached(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        vectors = self._cache.get_cached(keys)
        CACHE_HITS.labels(self._kind).inc(len(vectors))
        return vectors


def key_of(use: ModelUse, texts: Input) -> bytes:
    """Return the SHA-256 of the model's identity and settings with the text or ordered pair."""
    parts = (use.model_dump_json(), *((texts,) if isinstance(texts, str) else texts))
    digests = (hashlib.sha256(part.encode("utf-8")).digest() for part in parts)
    return hashlib.sha256(b"".join(digests)).digest()


class Cache:
    """Maps keys to vectors. Thread-safe."""

    def __init__(self, entries: int = ENTRIES, size: int = BYTES) -> None:
        self._most, self._largest = entries, size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def size(self) -> int:
        """The size in bytes, including the overhead of entries."""
        return self._bytes

    def get_cached(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        """Return the cached vectors of these keys, and mark them as recently used."""
        with self._lock:
            vectors = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in vectors:
                self._vectors.move_to_end(key)
        return vectors

    def put(self, answers: dict[bytes, Vector]) -> None:
        """Add answers, then drop the least recently used entries until the limits hold."""
        with self._lock:
            for key, vector in answers.items():
                self._drop(key)
                vector.setflags(write=False)  # shared by many callers
                self._vectors[key] = vector
                self._bytes += vector.nbytes + ENTRY_BYTES
            while self._vectors and (
                len(self._vectors) > self._most or self._bytes > self._largest
            ):
                self._drop(next(iter(self._vectors)))

    def _drop(self, key: bytes) -> None:
        old = self._vectors.pop(key, None)
        if old is not None:
            self._bytes -= old.nbytes + ENTRY_BYTES
