"""Two ways to call a service: batches of a running service, or its code in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from bench.papers.answers import KeptAnswer, PaperRequest
from shared.contracts.answers import stored_result
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.handles import Batch
from touchstone_client._sync.resources import endpoint_of
from touchstone_client.errors import BatchFailed, NotFound

LINES_A_BATCH = 500
Told = Callable[[int], None]  # how many of these have ended


class Asking(Protocol):
    """The interface of the ways to call a service."""

    def model_names(self) -> frozenset[str]:
        """Return the models that requests may name."""
        ...

    def resume(self) -> Iterator[list[KeptAnswer]]:
        """Yield the answers to requests of an interrupted run."""
        ...

    def ask(self, requests: Sequence[PaperRequest], told: Told) -> Iterator[list[KeptAnswer]]:
        """Yield groups of answers to all requests, each answer once. A failed request has no
        result."""
        ...


class RunningService:
    """A service over HTTP. Its batches continue after this process ends. The file `note` holds the
    id of the unfinished batch."""

    def __init__(self, client: Touchstone, note: Path) -> None:
        self._client = client
        self._note = note

    def model_names(self) -> frozenset[str]:
        """Return the models of `GET /v1/models`."""
        return frozenset(one.name for one in self._client.models.list())

    def resume(self) -> Iterator[list[KeptAnswer]]:
        """Yield answers of the unfinished batch, if the service still has it."""
        if not self._note.exists():
            return
        try:
            batch = self._client.batches.get(self._note.read_text("utf-8").strip())
            batch.wait(progress=False)
        except (NotFound, BatchFailed):
            pass
        else:
            yield [*_results(batch), *_failures(batch)]
        self._note.unlink()

    def ask(self, requests: Sequence[PaperRequest], told: Told) -> Iterator[list[KeptAnswer]]:
        by_service: dict[str, list[PaperRequest]] = {}
        for request in requests:
            by_service.setdefault(request.service, []).append(request)
        done = 0
        for service, own in by_service.items():
            for start in range(0, len(own), LINES_A_BATCH):
                for answers in self._batches(
                    service, own[start : start + LINES_A_BATCH], done, told
                ):
                    done += len(answers)
                    yield answers

    def _batches(
        self, service: str, requests: Sequence[PaperRequest], done: int, told: Told
    ) -> Iterator[list[KeptAnswer]]:
        """Run a batch. If the service rejects lines, run another batch with the other lines."""
        left = list(requests)
        while left:
            batch = self._client.batches.create(map(_line, left), service)
            self._note.write_text(batch.id, "utf-8")
            try:
                batch.wait(progress=lambda ended, _: told(done + ended))
            except BatchFailed as error:
                refused = {line: said for line, said in error.faults if 0 < line <= len(left)}
                self._note.unlink()
                if not refused:
                    raise
                yield [
                    KeptAnswer(left[line - 1].key, None, None, why) for line, why in refused.items()
                ]
                left = [one for line, one in enumerate(left, 1) if line not in refused]
                continue
            yield [*_results(batch), *_failures(batch)]
            self._note.unlink()  # its answers are kept
            return


def _line(request: PaperRequest) -> dict[str, Any]:
    return {
        "custom_id": request.key,
        "method": "POST",
        "url": endpoint_of(request.service),
        "body": dict(request.body),
    }


def _results(batch: Batch) -> Iterator[KeptAnswer]:
    if batch.output_file_id is None:
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "output.jsonl"
        batch.save(file)
        with file.open(encoding="utf-8") as stream:
            for raw in stream:
                line = json.loads(raw)
                job = line["response"]["body"]
                result = stored_result(job["result"])
                yield KeptAnswer(line["custom_id"], job["id"], result)


def _failures(batch: Batch) -> Iterator[KeptAnswer]:
    for line in batch.failures():
        job = None if line.job is None else line.job.id
        yield KeptAnswer(line.custom_id, job, None, str(line.error or "cancelled"))


class InProcess(Protocol):
    """The methods of `cli.local.LocalService` that a run uses."""

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return status and JSON."""
        ...

    def model_names(self) -> frozenset[str]: ...


class OwnProcess:
    """Runs the service's code in this process, without servers, one request after the other."""

    def __init__(self, service: InProcess) -> None:
        self._service = service

    def model_names(self) -> frozenset[str]:
        return self._service.model_names()

    def resume(self) -> Iterator[list[KeptAnswer]]:
        """Yield nothing, because a run in this process leaves nothing behind."""
        return iter(())

    def ask(self, requests: Sequence[PaperRequest], told: Told) -> Iterator[list[KeptAnswer]]:
        for done, request in enumerate(requests, 1):
            body = json.dumps(request.body, ensure_ascii=False).encode()
            _, found = self._service.answer("POST", endpoint_of(request.service), body)
            yield [_answer(request.key, json.loads(found))]
            told(done)


def _answer(key: str, found: dict[str, Any]) -> KeptAnswer:
    if found.get("object") != "job":
        return KeptAnswer(key, None, None, _said(found))
    if found["status"] == "succeeded":
        return KeptAnswer(key, found["id"], stored_result(found["result"]))
    return KeptAnswer(key, found["id"], None, _said(found.get("error") or {}))


def _said(problem: dict[str, Any]) -> str:
    """Format a problem as a sentence."""
    title, detail = problem.get("title"), problem.get("detail")
    faults = [f"{one['detail']} (at {one['pointer']})" for one in problem.get("errors") or ()]
    return ": ".join(filter(None, [title, "; ".join(faults) or detail])) or "it failed"
