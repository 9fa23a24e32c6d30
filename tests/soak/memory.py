"""The resident memory of gateway and scheduler, sampled from a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import psutil

from tests.chaos.faults import processes
from tests.end_to_end.service import Service

LOOK_SECONDS = 0.5
MEBIBYTE = 2**20


@dataclass
class Memory:
    """name → highest resident bytes in each spell: the warm-up, and each half of the batches.

    How much the first half needs depends on the batches that are open at a time; the second half
    has as many, so that it needs no more where nothing leaks.
    """

    watched: dict[str, psutil.Process]
    spells: list[dict[str, int]] = field(default_factory=lambda: [{}])

    @classmethod
    def of(cls, service: Service) -> Self:
        """Of these two: workers are killed and begin anew."""
        names = ("gateway", "scheduler")
        return cls({name: processes(service, f"services.{name}")[0] for name in names})

    @contextmanager
    def watching(self) -> Iterator[Self]:
        """Look until the block is left."""
        stop = threading.Event()
        thread = threading.Thread(target=self._look, args=(stop,), name="memory")
        thread.start()
        try:
            yield self
        finally:
            stop.set()
            thread.join()

    def begin_spell(self) -> None:
        """The highest is looked for anew."""
        self.spells.append({})

    @property
    def growth(self) -> dict[str, float]:
        """Highest of the last spell over the highest of the one before, less one."""
        before, last = self.spells[-2:]
        return {name: last[name] / before[name] - 1 for name in self.watched}

    @property
    def mebibytes(self) -> dict[str, str]:
        """For people."""
        return {
            name: " → ".join(f"{spell[name] / MEBIBYTE:.0f}" for spell in self.spells)
            for name in self.watched
        }

    def _look(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_SECONDS):
            seen = self.spells[-1]
            for name, process in self.watched.items():
                seen[name] = max(seen.get(name, 0), process.memory_info().rss)
