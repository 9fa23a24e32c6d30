"""What models answered last, bounded in entries and in bytes: the least recently used goes first.

Nothing of a text is kept but its SHA-256.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from shared.contracts import ModelUse

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
