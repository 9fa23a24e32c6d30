"""A client that needs no servers. The metrics run in this process with the code of the service,
whose package must be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from os import PathLike
from typing import Protocol

from touchstone_client._http import Access, Answer, Http, Request, Stream
from touchstone_client._progress import Progress
from touchstone_client._sync.client import Touchstone
from touchstone_client._sync.many import OnError, Via
from touchstone_client._tables import Framed, Listed
from touchstone_client.errors import TouchstoneError

GROUP = "touchstone.local"
MISSING = "Local() needs the service's code; run pip install -e path/to/touchstone"


class Engine(Protocol):
    """Runs the service in this process. The service's package implements this interface."""

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Process a request and its job. Return the HTTP status and JSON body."""
        ...


class Local(Touchstone):
    """A client that runs metrics in this process. It has the methods of the metrics, `score`,
    `score_many`, `jobs.create` and `models`.

    Results are the same as from the service. Models are loaded when first used. `models_file` is a
    `models.toml`; the default is the built-in models. `device` (cpu, cuda, cuda:1 …) is used for
    models whose device is `auto`.
    """

    def __init__(
        self, models_file: str | PathLike[str] | None = None, *, device: str | None = None
    ) -> None:
        entry = next(iter(entry_points(group=GROUP)), None)
        if entry is None:
            raise TouchstoneError(MISSING)
        engine: Engine = entry.load()(models_file, device)
        self._use(InProcess(engine), 0.0, 0.0)

    def _score_rows(
        self, table: Listed | Framed, metric: str, on_error: OnError, via: Via, shown: Progress
    ) -> None:
        for done, row in enumerate(table.rows(), 1):
            try:
                job = self.jobs.create(metric, row.fields)
                table.add(row.index, job.wait(), job.id)
            except TouchstoneError as error:
                if on_error == "raise":
                    raise
                table.add(row.index, error, None)
            shown.reach(done)


class InProcess(Http):
    """A connection that calls a function in this process instead of using HTTP."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(Access("http://in-process"))
        self._engine = engine

    def send(self, request: Request) -> Answer:
        status, body = self._engine.answer(request.method, request.path, request.body or b"")
        return Answer(status, {}, body)

    @contextmanager
    def open(self, request: Request) -> Iterator[Stream]:
        detail = (
            f"{request.path} needs a running service, because Local() stores nothing; use "
            "Touchstone()"
        )
        raise TouchstoneError(detail)
        yield
