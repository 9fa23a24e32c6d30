"""Sends all requests that have no answer yet, then reads the observations."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from bench.papers.answers import KeptAnswers, PaperRequest
from bench.papers.columns import Observation
from bench.papers.elicitation import failed
from bench.papers.protocol import Case, Incomplete, Paper, RunOptions
from bench.papers.service_calls import Asking
from services.registry import contracts
from shared.contracts.validation_messages import dotted, first_fault, plain

EVERY_SECONDS = 2.0


class RunProgress:
    """Reports the progress of the run on stderr."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._total = 0
        self._last = 0.0
        self._shown = 0

    def begin(self, total: int) -> None:
        """Begin a round of `total` requests."""
        self._total, self._last, self._shown = total, time.monotonic(), 0
        self._say(f"{total} requests to be answered")

    def reach(self, done: int) -> None:
        """Report that `done` requests have ended."""
        now = time.monotonic()
        if done != self._shown and (done >= self._total or now - self._last >= EVERY_SECONDS):
            self._last, self._shown = now, done
            self._say(f"{done} of {self._total} answered")

    def _say(self, words: str) -> None:
        sys.stderr.write(f"{self._name}: {words}\n")
        sys.stderr.flush()


def ask_all(
    paper: Paper, every: Sequence[Case], kept: KeptAnswers, asking: Asking, options: RunOptions
) -> None:
    """Send requests in rounds until none is left, because answers may lead to further requests."""
    progress = RunProgress(paper.name)
    for answers in asking.resume():
        kept.add(answers)
    while wanted := unanswered(paper, every, kept, options):
        progress.begin(len(wanted))
        for answers in asking.ask(wanted, progress.reach):
            kept.add(answers)
        if lost := sum(kept.get(one) is None for one in wanted):
            raise ValueError(f"{lost} requests came back without an answer: run it again")


def unanswered(
    paper: Paper, every: Sequence[Case], kept: KeptAnswers, options: RunOptions
) -> list[PaperRequest]:
    """Return the requests that have no answer, each once."""
    found: dict[str, PaperRequest] = {}
    for case in every:
        for request in _requests(paper, case, kept, options):
            if kept.get(request) is None:
                found.setdefault(request.key, request)
    return list(found.values())


def _requests(
    paper: Paper, case: Case, kept: KeptAnswers, options: RunOptions
) -> Iterable[PaperRequest]:
    """Yield the requests. Incomplete rows have none, and their observation has the reason."""
    try:
        return list(paper.requests(case, kept.get, options))
    except Incomplete:
        return ()


def check_rows(paper: Paper, every: Sequence[Case], options: RunOptions) -> None:
    """Raise ValueError for an unknown gold label, for parameters that no service accepts, and if
    all rows of a data set lack an input."""
    lacking: dict[str, str] = {}
    complete, valid = set(), set()
    for case in every:
        try:
            asked = list(paper.requests(case, _not_asked, options))
            complete.add(case.row.dataset)
            for request in asked:
                if (kind := (case.setting, request.service)) not in valid:
                    check_request(request)
                    valid.add(kind)
        except Incomplete as error:
            lacking.setdefault(case.row.dataset, str(error))
    for dataset, said in lacking.items():
        if dataset not in complete:
            raise ValueError(said)


def check_models(wanted: Sequence[PaperRequest], asking: Asking) -> None:
    """Raise ValueError for a model that the service does not have."""
    named = {name for request in wanted for name in _models_in(request.body)}
    if not named:
        return
    known = asking.model_names()
    if unknown := sorted(named - known):
        told = ", ".join(sorted(known)) or "none"
        raise ValueError(f"no model {unknown[0]!r} is configured; choose one of: {told}")


def _models_in(body: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(model := body.get("model"), str):
        yield model
    scores = body.get("score")
    for inner in scores.values() if isinstance(scores, Mapping) else ():
        if isinstance(inner, Mapping):
            yield from _models_in(inner)


def check_request(request: PaperRequest) -> None:
    """Raise ValueError for a request whose parameters its service rejects for every row."""
    try:
        contracts()[request.service].request.model_validate(request.body)
    except ValidationError as error:
        first = first_fault(error)
        raise ValueError(
            f"{request.service} does not take this: {dotted(first) or 'request'}: {plain(first)}"
        ) from None


def _not_asked(_: PaperRequest) -> None:
    return None


def observed(
    paper: Paper, every: Sequence[Case], kept: KeptAnswers, options: RunOptions
) -> Iterator[Observation]:
    """Yield one observation per case."""
    for case in every:
        try:
            yield from paper.observations(case, kept.get, options)
        except Incomplete as error:
            yield failed(case, (), str(error))
