"""Checks regularly that a process responds. A process that does not respond is killed and
restarted. A process that is still starting is not killed while it makes progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from cli.stack.servers import Child, Probe
from shared.process import telemetry

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.2, 2.0  # between two looks at one that starts
STALLED_SECONDS = 600.0  # a start in which nothing moves for this long is given up
FEWEST_FAILURES = 3  # in a row; a machine that slept must not be taken for a silent process
NO_ANSWER = ("no answer yet",)
MOVING_SHARE = 0.01  # of one processor: what idles uses less, what starves beside 100 others more

logger = telemetry.logger(__name__)


class ProcessProgress:
    """Tells if a process makes progress: its reasons for waiting change, its log grows, or it uses
    processor time."""

    def __init__(self, child: Child, logs: Path, seconds: float) -> None:
        self._child = child
        self._log = logs / f"{child.name}.log"
        self._enough = MOVING_SHARE * seconds  # of processor time, within so many seconds
        self._used = 0.0
        self._seen: tuple[int | None, int, tuple[str, ...]] | None = None

    def has_changed(self, *reports: str) -> bool:
        """Return True if the process has made progress since the last True. `reports` are its
        current reasons for waiting."""
        pid = self._child.process.pid if self._child.process else None
        now = (pid, self._log.stat().st_size if self._log.exists() else 0, reports)
        used = cpu_time(pid)
        if now == self._seen and used - self._used < self._enough:
            return False
        self._seen, self._used = now, used
        return True


def cpu_time(pid: int | None) -> float:
    """Return the processor time in seconds that a process and its children have used. Return 0 if
    the process no longer exists."""
    try:
        process = psutil.Process(pid) if pid else None
        family = [process, *process.children(recursive=True)] if process else []
        return sum(sum(member.cpu_times()[:2]) for member in family)
    except psutil.Error:
        return 0.0


@dataclass(frozen=True)
class ProbeResponse:
    status: int | None  # None: nothing; 0: it hung up
    waits_for: tuple[str, ...] = NO_ANSWER


def reasons(response: httpx.Response) -> tuple[str, ...]:
    """Return why a process is not ready, for example the models that it is still loading. The tuple
    is empty if it is ready."""
    if response.is_success:
        return ()
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and "detail" in body:  # a gateway's problem
        return (str(body["detail"]),)
    obstacles = list(_obstacles(body)) if isinstance(body, dict) else []
    return tuple(obstacles) or (f"status {response.status_code}",)


def _obstacles(body: dict[str, Any]) -> Iterator[str]:
    """Yield the reasons why a worker is not ready, from the JSON of its `/readyz`. The models that
    are not ready follow."""
    for name, value in body.items():
        if isinstance(value, str) and name != "status":
            yield value if name == "worker" else f"{name} {value}"
    models = body.get("models")
    for name, state in models.items() if isinstance(models, dict) else ():
        report = state if isinstance(state, dict) else {"state": str(state)}
        if report.get("state") != "ready" and name not in body:
            reason = report.get("reason") or report.get("detail")
            yield f"{report.get('state', 'not ready')} {name}" + (f" ({reason})" if reason else "")


class Liveness:
    """Checks in a separate thread whether a process responds."""

    def __init__(
        self, child: Child, probe: Probe, logs: Path, silent_seconds: float, stalled_seconds: float
    ) -> None:
        self.child = child
        self.ready = False  # at least once in this life
        self.waits_for: tuple[str, ...] = NO_ANSWER
        self._probe, self._logs = probe, logs
        self._silent_seconds, self._stalled_seconds = silent_seconds, stalled_seconds
        self._life: object = None
        self._pause = FIRST_PAUSE_SECONDS
        self._movement = ProcessProgress(child, logs, stalled_seconds)
        self.moved = self.good = time.monotonic()  # when it did, and was, last
        self._failures = 0

    def watch(self, stopping: threading.Event) -> None:
        """Check the process regularly until `stopping` is set."""
        # both halves of the silence must fit twice; no proxy stands between us and our own
        with httpx.Client(timeout=self._silent_seconds / 2, trust_env=False) as client:
            while not stopping.wait(self._next_pause()):
                try:
                    if self.child.is_running and self.check(client) and not stopping.is_set():
                        self._end()
                except Exception:  # a failed look is taken again
                    logger.exception("probe.failed", name=self.child.name)

    def _next_pause(self) -> float:
        if self.ready:
            return self._silent_seconds / 12
        self._pause = min(1.2 * self._pause, LONGEST_PAUSE_SECONDS, self._stalled_seconds / 4)
        return self._pause

    def check(self, client: httpx.Client) -> bool:
        """Check the process once. Return True if it has not responded for too long."""
        if self._life is not self.child.process:
            self._begin()
        patience = self._silent_seconds if self.ready else self._stalled_seconds
        if self._is_ready(client):
            self.good, self._failures = time.monotonic(), 0
            return False
        self._failures += 1
        silence = time.monotonic() - self.good
        return self._failures >= FEWEST_FAILURES and silence >= patience

    def _begin(self) -> None:
        self._life, self._pause = self.child.process, FIRST_PAUSE_SECONDS
        self.ready, self.waits_for = False, NO_ANSWER
        self.moved = self.good = time.monotonic()
        self._failures = 0
        self._movement = ProcessProgress(self.child, self._logs, self._stalled_seconds)

    def _get(self, client: httpx.Client, path: str) -> ProbeResponse:
        try:
            response = client.get(self._probe.url + path)
        except (httpx.TimeoutException, httpx.ConnectError):
            return ProbeResponse(None)
        except httpx.TransportError:
            return ProbeResponse(0)
        return ProbeResponse(response.status_code, reasons(response))

    def _is_ready(self, client: httpx.Client) -> bool:
        health = self._get(client, "/healthz")
        well = health.status == 200 or (health.status is not None and not self._probe.obeyed)
        if self.ready:
            return well
        answer = self._get(client, "/readyz") if health.status is not None else health
        self.ready = answer.status == 200
        if answer.status is not None:  # what was said last holds until something else is said
            self.waits_for = answer.waits_for
        moved = self._movement.has_changed(*answer.waits_for)
        if moved:
            self.moved = time.monotonic()
        return well or (moved and health.status is None)

    def _end(self) -> None:
        """Kill the process, unless it was restarted during the probe. A probe can take a long
        time."""
        if self._life is not self.child.process:
            return
        silence = round(time.monotonic() - self.good)
        logger.warning("child.silent", name=self.child.name, seconds=silence, ready=self.ready)
        self.child.fate = f"did not respond for {silence} s and was killed"
        self.child.kill()
