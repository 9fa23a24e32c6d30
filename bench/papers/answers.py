"""The requests of a run, and their stored answers.

A request is identified by the hash of its service and body. Answered requests are not sent again,
and an interrupted run continues at its last answer.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.papers.data_rows import canonical


@dataclass(frozen=True)
class PaperRequest:
    """A request to a service, with the body that the service's route accepts."""

    service: str
    body: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """The SHA-256 of service and body."""
        return hashlib.sha256(canonical([self.service, self.body]).encode()).hexdigest()


@dataclass(frozen=True)
class KeptAnswer:
    """The stored answer to a request. `job` is the job's id, or None if the request was
    rejected."""

    key: str
    job: str | None
    result: dict[str, Any] | None
    error: str | None = None


class KeptAnswers:
    """A file of JSON Lines to which each answer is appended."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._answers: dict[str, KeptAnswer] = {}
        if file.exists():
            self._read()

    def _read(self) -> None:
        """Read the file. An incomplete last line, left by a stopped process, is ignored. Raises
        ValueError."""
        whole, _, rest = self._file.read_bytes().rpartition(b"\n")
        if rest:
            os.truncate(self._file, len(whole) + bool(whole))
        for raw in whole.splitlines():
            self._hold(KeptAnswer(**json.loads(raw)))

    def _hold(self, answer: KeptAnswer) -> None:
        self._answers[answer.key] = answer

    def get(self, request: PaperRequest) -> KeptAnswer | None:
        return self._answers.get(request.key)

    def add(self, answers: Iterable[KeptAnswer]) -> None:
        """Append new answers, and return once they are in the file."""
        fresh = [one for one in answers if one.key not in self._answers]
        with self._file.open("a", encoding="utf-8") as stream:
            for answer in fresh:
                stream.write(json.dumps(asdict(answer), ensure_ascii=False) + "\n")
                self._hold(answer)
            stream.flush()
            os.fsync(stream.fileno())

    def without_failures(self) -> None:
        """Remove answers without a result, so that they are requested again."""
        kept = [one for one in self._answers.values() if one.result is not None]
        fresh = self._file.with_name(f"{self._file.name}.new")
        fresh.unlink(missing_ok=True)  # of a process that was stopped
        KeptAnswers(fresh).add(kept)
        fresh.replace(self._file)
        self._answers = {one.key: one for one in kept}
