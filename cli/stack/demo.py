"""Scores examples over the API, waits for the results, and prints a table."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Table

from cli.stack.liveness import STALLED_SECONDS, ProcessProgress
from cli.stack.processes import Say, without_progress
from cli.stack.stack import Stack
from cli.stack.startup import Reporter
from shared.contracts.answers import stored_result

Json = dict[str, Any]

FINAL = {"succeeded", "failed", "cancelled"}
POLL_SECONDS = 0.2
METRIC = "hatexscore"  # that scores the examples
METRICS = ("htc", "qf", "tgi", "cc")


class DemoFailed(RuntimeError):
    """An example got no score."""


def run(stack: Stack, examples: Path, console: Console) -> None:
    """Score all examples and show the results. Raises DemoFailed if an example has no score."""
    lines = _lines(examples)
    with httpx.Client(base_url=stack.url, timeout=STALLED_SECONDS) as client:
        jobs = list(_score_lines(client, lines, Patience(stack, console), console))
    console.print(table(lines, jobs))
    failed = [job["error"] for job in jobs if job["status"] != "succeeded"]
    if failed:
        raise DemoFailed(f"{len(failed)} of {len(jobs)} examples have no score: {failed[0]}")


def _lines(examples: Path) -> list[Json]:
    try:
        return [json.loads(line) for line in examples.read_text("utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise DemoFailed(f"{examples} cannot be read: {error}") from None


class Patience:
    """Waits for a goal of the demo. Raises DemoFailed if no job has ended and no process has made
    progress for some time. Prints the progress if the output is not a terminal."""

    def __init__(self, stack: Stack, console: Console) -> None:
        logs = stack.folder / "logs"
        self._movements = [
            ProcessProgress(child, logs, STALLED_SECONDS) for child in stack.supervisor.children
        ]
        self._moved = time.monotonic()
        self._say: Say = (
            without_progress if console.is_terminal else Reporter(console)
        )  # or a bar says it

    def check(self, waited_for: str) -> None:
        """Record progress towards the goal `waited_for`. Raises DemoFailed if nothing has changed
        for `STALLED_SECONDS`."""
        self._say(waited_for)
        if any(
            [movement.has_changed(waited_for) for movement in self._movements]
        ):  # each has to look
            self._moved = time.monotonic()
        elif time.monotonic() - self._moved > STALLED_SECONDS:
            raise DemoFailed(
                f"no progress for {STALLED_SECONDS:g} s while waiting for {waited_for}"
            )


def _score_lines(
    client: httpx.Client, lines: Sequence[Json], patience: Patience, console: Console
) -> Iterator[Json]:
    columns = (SpinnerColumn(), *Progress.get_default_columns()[:3], TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("scoring", total=len(lines))
        sent = [_send(client, line) for line in lines]
        for number, job_id in enumerate(sent):
            place = f"/v1/jobs/{job_id}?expand=details"
            while (job := client.get(place).json())["status"] not in FINAL:
                patience.check(f"example {number + 1} of {len(sent)}, which is {job['status']}")
                time.sleep(POLL_SECONDS)
            yield job
            progress.advance(task)


def _send(client: httpx.Client, line: Json) -> str:
    body = {name: value for name, value in line.items() if name != "id"}
    body["metadata"] = {"example": line["id"]}
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    answer = client.post(f"/v1/scores/{METRIC}", json=body, headers=key)
    if answer.status_code != 202:
        raise DemoFailed(f"{line['id']}: {answer.text}")
    return str(answer.json()["id"])


def table(lines: Sequence[Json], jobs: Sequence[Json]) -> Table:
    result = Table(title="HateXScore", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    result.add_column("id", no_wrap=True)
    result.add_column("label", no_wrap=True)
    result.add_column("verdict", no_wrap=True)
    result.add_column("score", justify="right", no_wrap=True)
    for name in METRICS:
        result.add_column(name.upper(), justify="right", no_wrap=True)
    result.add_column("evidence", min_width=24)
    for line, job in zip(lines, jobs, strict=True):
        result.add_row(line["id"], *_row_values(job))
    return result


def _row_values(job: Json) -> Iterator[str]:
    if job["result"] is None:
        reason = (job["error"] or {}).get("title", job["status"])
        yield from ("-", "-", "-", *("-" for _ in METRICS), str(reason))
        return
    result = stored_result(job["result"])
    yield result["decision"] or "?"
    yield f"[bold]{result['verdict']}[/bold]"
    yield _number(result["score"])
    for name in METRICS:
        yield _number(result["components"][name])
    yield summary_line(result)


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.2f}"


def summary_line(result: Json) -> str:
    """Return the sentence that best explains this score."""
    parts = []
    if result["verdict"] != "holds_up":
        parts.append(result["reason"].rstrip("."))
    if result["conclusion"] is None:
        parts.append("no conclusion")
    if result["hallucinated_quotes"]:
        parts.append(f"not in the text: “{result['hallucinated_quotes'][0]['text']}”")
    quotes = [item["text"] for item in result["evidence"] if item["kind"] == "quote"]
    if quotes and result["probability_masked"] is not None:
        before, after = result["probability_original"], result["probability_masked"]
        parts.append(f"“{quotes[0]}” masked: p {before:.2f} → {after:.2f}")
    if result["components"]["tgi"] is not None:  # else a warning says why
        names = ", ".join(result["groups"])
        parts.append(f"names {names}" if names else "the explanation names no group")
    parts += [warning for warning in result["warnings"] if not warning.startswith("no control")]
    return "; ".join(parts)
