"""The service's own code in this process; models are replaced by what they would say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.papers.answers import KeptAnswers
from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow
from bench.papers.protocol import Paper, RunOptions, cases
from bench.papers.run import ask_all, check_rows, observed
from bench.papers.service_calls import OwnProcess
from cli.local import LocalService

Body = dict[str, Any]
Script = Callable[[str, Body], Body]  # path, body → body


class Replaced:
    """A service that reads other bodies than were sent."""

    def __init__(self, script: Script) -> None:
        self._service = LocalService()
        self._script = script
        self.asked: list[tuple[str, Body]] = []

    def model_names(self) -> frozenset[str]:
        return self._service.model_names()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        sent = json.loads(body)
        self.asked.append((path, sent))
        return self._service.answer(method, path, json.dumps(self._script(path, sent)).encode())


def ran(
    paper: Paper,
    models: Sequence[str],
    rows: Sequence[DataRow],
    folder: Path,
    script: Script,
    options: RunOptions | None = None,
) -> tuple[list[Observation], list[tuple[str, Body]]]:
    """Observations of a run, and what was asked for them."""
    told = options or RunOptions()
    every = list(cases(models, paper.settings(told), rows))
    check_rows(paper, every, told)
    service = Replaced(script)
    kept = KeptAnswers(folder / "answers.jsonl")
    ask_all(paper, every, kept, OwnProcess(service), told)
    return list(observed(paper, every, kept, told)), service.asked
