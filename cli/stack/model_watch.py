"""Reports which models are being loaded: one line per change, and every few seconds. There is no
deadline, since a large model takes a long time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx
from rich.console import Console

from cli.stack.servers import Child

LOOK_SECONDS, SAID_EVERY_SECONDS = 0.5, 5.0
COMING = frozenset({"loading", "downloading", "waiting"})  # without anybody's help

ModelReport = Mapping[str, Any]  # `state`, `reason` and `seconds`, as a worker's /readyz says


class ModelWatch:
    """The states of the models of all workers on this machine."""

    def __init__(self, children: Sequence[Child], console: Console) -> None:
        self._probes = [child.probe.url for child in children if child.probe and child.probe.obeyed]
        self._console = console
        self._reported: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, Mapping[str, ModelReport]] = {}  # of each worker, its last one
        self._last = 0.0

    def watch(self, until: Callable[[], bool]) -> None:
        """Report models that are not ready until `until` returns True."""
        while not until():
            time.sleep(LOOK_SECONDS)
            self.update()

    def wait(self) -> None:
        """Wait until a worker has responded and no model is being loaded any more."""
        while (
            any(report["state"] in COMING for report in self.update().values()) or not self._answers
        ):
            time.sleep(LOOK_SECONDS)

    def update(self) -> dict[str, ModelReport]:
        """Return the state of each model and report changes. If several workers have the model, the
        best state counts."""
        reports = self._reports()
        unready = {name: report for name, report in reports.items() if report["state"] != "ready"}
        now = {name: (report["state"], report["reason"]) for name, report in unready.items()}
        is_due = time.monotonic() - self._last >= SAID_EVERY_SECONDS
        for name, report in unready.items():
            is_new = self._reported.get(name) != now[name]
            if is_new or (is_due and report["state"] in COMING):
                reason = f": {report['reason']}" if report["reason"] and is_new else ""
                self._print(f"{report['state']} {name}{reason}, {report['seconds']:.0f} s")
        for name in self._reported.keys() - now.keys():
            self._print(f"ready {name}" if name in reports else f"{name} is no longer configured")
        if is_due:
            self._last = time.monotonic()
        self._reported = now
        return reports

    def _reports(self) -> dict[str, ModelReport]:
        with httpx.Client(timeout=LOOK_SECONDS * 4, trust_env=False) as client:
            for url in self._probes:
                with suppress(httpx.HTTPError, ValueError, AttributeError):
                    self._answers[url] = client.get(f"{url}/readyz").json().get("models", {})
        reports: dict[str, ModelReport] = {}
        for models in self._answers.values():
            for name, report in models.items():
                if name not in reports or report["state"] == "ready":
                    reports[name] = report
        return reports

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
