"""One process that we started, and how to end it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TERM_SECONDS = 40  # longer than the gateway lets open requests end
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent() -> None:
    """Linux: end when the process that started us is gone, however it went."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(frozen=True)
class Probe:
    """Where a process answers `/readyz` and `/healthz`."""

    url: str
    # whether a refusal asks for a restart; else any answer is a sign of life: a flood of strangers
    # may make a gateway refuse its probe too, and a restart would help the flood
    obeyed: bool = True


@dataclass
class Child:
    """A command with a name; started, watched and stopped by the supervisor."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None  # None: nobody asks how it is
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0  # monotonic seconds
    deaths: int = 0
    fate: str = "died"  # how its last life ended

    def start(self, logs: Path) -> None:
        """Start it in a session of its own, so that Ctrl-C reaches us first."""
        log: IO[bytes]
        with (logs / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                self.command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.started = time.monotonic()

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Ask it to end, and insist after a while."""
        if self.process is None or not self.is_running:
            return
        self.process.terminate()
        try:
            self.process.wait(TERM_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()

    def kill(self) -> None:
        """End it at once, and what it started: its session is a group of its own."""
        if self.process is not None and self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
