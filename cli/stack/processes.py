"""Starts the service's processes: gateway, scheduler, and one or more workers. Processes that exit
or stop responding are restarted. In a cluster, Kubernetes does this."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.stack.liveness import STALLED_SECONDS, Liveness
from cli.stack.servers import TERM_SECONDS, Child, Postgres, Probe, free_port
from services.registry import contracts
from shared.process import telemetry
from shared.process.settings import Settings

LOOK_SECONDS = 0.5
END_LOOK_SECONDS = 0.05
SILENT_SECONDS = 1.0  # of a stop: most processes need less
FASTEST_RESTART_SECONDS = 2.0  # a process that dies at once is not started more often

Say = Callable[..., None]  # each argument: what is being waited for; as often as somebody looks

logger = telemetry.logger(__name__)


def without_progress(*_waited_for: str) -> None: ...


@dataclass(frozen=True)
class ServiceNames:
    """The services to run; empty `names` mean all. If `separate`, each has its own worker process,
    and workers call models through the queue, as in a cluster."""

    names: tuple[str, ...] = ()
    separate: bool = False


def service_processes(
    servers: dict[str, str], settings: Settings, port: int, served: ServiceNames
) -> list[Child]:
    """Return all processes in the order in which they start. `servers` holds environment variables
    with the addresses of Redis, PostgreSQL and the file store. `served` names the services, and
    whether each has a worker of its own."""
    probe = Probe(f"http://{settings.host}:{port}", obeyed=False)
    gateway = _module("gateway", servers | {"TOUCHSTONE_PORT": str(port)}, probe=probe)
    base = [gateway, _process_with_health("scheduler", servers, settings)]
    if not served.separate:
        return [*base, _process_with_health("worker", servers, settings, *served.names)]
    asking = servers | {"TOUCHSTONE_BINDING": "queue"}
    names = served.names or list(contracts())
    return [*base, *(_process_with_health("worker", asking, settings, name) for name in names)]


def _process_with_health(
    name: str, servers: dict[str, str], settings: Settings, *arguments: str
) -> Child:
    port = free_port()
    environment = servers | {"TOUCHSTONE_METRICS_PORT": str(port)}
    probe = Probe(f"http://{settings.metrics_host}:{port}")
    return _module(name, environment, *arguments, probe=probe)


def _module(name: str, environment: dict[str, str], *arguments: str, probe: Probe) -> Child:
    command = (sys.executable, "-m", f"services.{name}", *arguments)
    return Child("-".join((name, *arguments)), command, environment, probe)


class Supervisor:
    """Watches the child processes and PostgreSQL in separate threads."""

    def __init__(
        self,
        postgres: Postgres | None,
        logs: Path,
        silent_seconds: float,
        stalled_seconds: float = STALLED_SECONDS,
    ) -> None:
        """Create the supervisor. A ready process that does not respond for `silent_seconds` is
        killed."""
        self.children: list[Child] = []
        self.watched: list[Liveness] = []  # those that can be asked how they are
        self._postgres = postgres
        self._logs = logs
        self._patience = silent_seconds, stalled_seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def start(self, *children: Child) -> None:
        """Start these processes and keep them running."""
        for child in children:
            child.start(self._logs)
            self.children.append(child)  # from here on it is watched
            if child.probe is not None:  # a thread each: one that is silent must not hide another
                liveness = Liveness(child, child.probe, self._logs, *self._patience)
                self.watched.append(liveness)
                name, stopping = f"probe-{child.name}", (self._stopping,)
                threading.Thread(
                    target=liveness.watch, args=stopping, name=name, daemon=True
                ).start()
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self, say: Say = without_progress) -> None:
        """Stop our processes, then Redis, then PostgreSQL. Report processes that take a long time
        to stop."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._end([child for child in self.children if child.probe is not None], say)
        self._end([child for child in self.children if child.probe is None], say)
        if self._postgres is not None:
            self._postgres.stop()

    def _end(self, children: Sequence[Child], say: Say) -> None:
        for child in children:
            if child.process is not None and child.is_running:
                child.process.terminate()
        self._await_ends(children, say)
        for child in reversed(children):
            if child.is_running:
                logger.warning("child.killed", name=child.name, after_seconds=TERM_SECONDS)
            child.kill()
            if child.process is not None:
                child.process.wait()

    def _await_ends(self, children: Sequence[Child], say: Say) -> None:
        """Wait until all of these processes have exited, at most for `TERM_SECONDS`. Report
        processes that are slow to exit."""
        begun = time.monotonic()
        while running := [child.name for child in children if child.is_running]:
            waited = time.monotonic() - begun
            if waited > TERM_SECONDS:
                return
            if waited > SILENT_SECONDS:
                say(*(f"{name} to end its work" for name in running))
            time.sleep(END_LOOK_SECONDS)

    def _watch(self) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                for child in list(self.children):
                    age = time.monotonic() - child.started
                    if child.is_running or age < FASTEST_RESTART_SECONDS:
                        continue
                    child.deaths += 1
                    code = child.process and child.process.poll()
                    logger.warning("child.died", name=child.name, code=code)
                    child.start(self._logs)
                if self._postgres is not None:
                    self._postgres.ensure_running()
            except Exception:  # a failed revival is tried again at the next look
                logger.exception("supervisor.failed")
