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
    """name → highest resident bytes: while the service warmed up, and after that."""

    watched: dict[str, psutil.Process]
    warm: dict[str, int] = field(default_factory=dict)
    highest: dict[str, int] = field(default_factory=dict)
    is_warm: bool = False

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

    def warmed_up(self) -> None:
        """What was seen until now is what the service needs; from now on it must not grow."""
        self.is_warm = True

    @property
    def growth(self) -> dict[str, float]:
        """Highest after the warm-up over highest before its end, less one."""
        return {name: self.highest[name] / self.warm[name] - 1 for name in self.watched}

    @property
    def mebibytes(self) -> dict[str, str]:
        """For people."""
        return {
            name: f"{self.warm[name] / MEBIBYTE:.0f} → {self.highest[name] / MEBIBYTE:.0f}"
            for name in self.watched
        }

    def _look(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_SECONDS):
            seen = self.highest if self.is_warm else self.warm
            for name, process in self.watched.items():
                seen[name] = max(seen.get(name, 0), process.memory_info().rss)
