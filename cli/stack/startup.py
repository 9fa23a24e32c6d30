"""Waits until all processes are ready, and reports the progress. The start fails when a process
dies or makes no progress for a long time. There is no other deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from cli.stack.folder import NotReady
from cli.stack.processes import Say, Supervisor
from cli.stack.servers import Child

LOOK_SECONDS = 0.1
SAID_EVERY_SECONDS = 5.0
TAIL_LINES, TAIL_CHARACTERS = 12, 4_000


def await_ready(supervisor: Supervisor, logs: Path, patience: float, say: Say) -> None:
    """Wait until every process has been ready once. `patience` is how many seconds a process may
    make no progress. Raises NotReady."""
    while True:
        for child in supervisor.children:
            if child.deaths or not child.is_running:
                raise NotReady(f"{child.name} {child.fate} while starting{tail(child, logs)}")
        waiting = [process for process in supervisor.watched if not process.ready]
        if not waiting:
            return
        for process in waiting:
            if time.monotonic() - process.moved > patience:
                silence = (
                    f"{process.child.name} made no progress for {patience:g} s while starting "
                )
                raise NotReady(
                    f"{silence}({'; '.join(process.waits_for)}){tail(process.child, logs)}"
                )
        say(
            *(
                f"{process.child.name}: {reason}"
                for process in waiting
                for reason in process.waits_for
            )
        )
        time.sleep(LOOK_SECONDS)


def tail(child: Child, logs: Path) -> str:
    log = logs / f"{child.name}.log"
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    last = "\n".join(text.splitlines()[-TAIL_LINES:])[-TAIL_CHARACTERS:]
    return f"; see {log}" + (f"; its last lines:\n{last}" if last else "")


class Reporter:
    """Reports which processes are not ready, and for how long. A terminal shows this in one
    changing line. Other output gets a line per change and every few seconds."""

    def __init__(self, console: Console, update: Callable[[str], None] | None = None) -> None:
        self._console, self._update = console, update
        self._since: dict[str, float] = {}
        self._reported: set[str] = set()
        self._last = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, *waited_for: str) -> None:
        """Report the current reasons for waiting. Call this after each check."""
        with self._lock:
            self._report(waited_for)

    def repeat(self, stop: threading.Event, over: Callable[[], bool]) -> None:
        """Repeat the last report until `stop` is set, while nothing new is reported."""
        while not (stop.wait(SAID_EVERY_SECONDS) or over()):
            with self._lock:
                if self._since:
                    self._report(tuple(self._since))

    def _report(self, waited_for: tuple[str, ...]) -> None:
        now = time.monotonic()
        changed = self._since.keys() != set(waited_for)
        before, self._since = self._since, {}
        begun = {_process(reason): since for reason, since in reversed(before.items())}
        for reason in waited_for:  # since its process was first named, whatever it says
            self._since[reason] = before.get(reason, begun.get(_process(reason), now))
        if self._update is None and not changed and now - self._last < SAID_EVERY_SECONDS:
            return
        self._last = now
        reported = set() if self._update else self._reported
        parts = []
        for reason, since in self._since.items():
            shown = (
                reason.partition(" (")[0] if reason in reported else reason
            )  # a reason is said once
            parts.append(f"{shown}, {now - since:.0f} s")
        self._reported |= self._since.keys()
        line = f"waiting for {'; '.join(parts)}"
        if self._update is not None:
            self._update(line)
        else:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _process(waited_for: str) -> str:
    return waited_for.partition(":")[0]


@contextmanager
def progress_reporter(
    console: Console, over: Callable[[], bool] = lambda: False
) -> Iterator[Reporter]:
    """Yield a reporter that shows on the console what the start is waiting for. `over` returns True
    when the reports are no longer needed."""
    with ExitStack() as held:
        reporter = Reporter(console)
        if console.is_terminal:
            status = held.enter_context(console.status("starting …"))
            reporter = Reporter(console, lambda line: status.update(escape(line)))
        stop = threading.Event()
        repeating = threading.Thread(target=reporter.repeat, args=(stop, over), daemon=True)
        repeating.start()
        held.callback(repeating.join)
        held.callback(stop.set)
        yield reporter
