"""The examples through the real API: send all, watch them end, print a table."""

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

Json = dict[str, Any]

FINAL = {"succeeded", "failed", "cancelled"}
POLL_SECONDS = 0.2
PATIENCE_SECONDS = 300
METRICS = ("htc", "qf", "tgi", "cc")


class DemoFailed(RuntimeError):
    """An example got no score."""


def run(url: str, examples: Path, console: Console) -> None:
    """Score every example and show it. Raises DemoFailed if one has no score."""
    lines = _lines(examples)
    with httpx.Client(base_url=url, timeout=30) as client:
        jobs = list(_scored(client, lines, console))
    console.print(table(lines, jobs))
    failed = [job["error"] for job in jobs if job["status"] != "succeeded"]
    if failed:
        raise DemoFailed(f"{len(failed)} of {len(jobs)} examples have no score: {failed[0]}")


def _lines(examples: Path) -> list[Json]:
    try:
        return [json.loads(line) for line in examples.read_text("utf-8").splitlines() if line]
    except (OSError, ValueError) as error:
        raise DemoFailed(f"{examples} cannot be read: {error}") from None


def _scored(client: httpx.Client, lines: Sequence[Json], console: Console) -> Iterator[Json]:
    columns = (SpinnerColumn(), *Progress.get_default_columns()[:3], TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("scoring", total=len(lines))
        sent = [_send(client, line) for line in lines]
        for job_id in sent:
            yield _ended(client, job_id)
            progress.advance(task)


def _send(client: httpx.Client, line: Json) -> str:
    body = {name: value for name, value in line.items() if name != "id"}
    body["metadata"] = {"example": line["id"]}
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    answer = client.post("/v1/scores/hatexscore", json=body, headers=key)
    if answer.status_code != 202:
        raise DemoFailed(f"{line['id']}: {answer.text}")
    return str(answer.json()["id"])


def _ended(client: httpx.Client, job_id: str) -> Json:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        job: Json = client.get(f"/v1/jobs/{job_id}").json()
        if job["status"] in FINAL:
            return job
        time.sleep(POLL_SECONDS)
    raise DemoFailed(f"{job_id} did not end within {PATIENCE_SECONDS} s")


def table(lines: Sequence[Json], jobs: Sequence[Json]) -> Table:
    """One row an example."""
    made = Table(title="HateXScore", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("id", no_wrap=True)
    made.add_column("label", no_wrap=True)
    for name in METRICS:
        made.add_column(name.upper(), justify="right", no_wrap=True)
    made.add_column("score", justify="right", no_wrap=True)
    made.add_column("evidence", min_width=24)
    for line, job in zip(lines, jobs, strict=True):
        made.add_row(line["id"], *_cells(job))
    return made


def _cells(job: Json) -> Iterator[str]:
    result = job["result"]
    if result is None:
        reason = (job["error"] or {}).get("title", job["status"])
        yield from ("-", "-", "-", "-", "-", "-", str(reason))
        return
    yield result["predicted_label"] or "?"
    for name in METRICS:
        yield _number(result["components"][name])
    yield f"[bold]{_number(result['score'])}[/bold]"
    yield evidence(result)


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.2f}"


def evidence(result: Json) -> str:
    """The one line that says most about this score."""
    parts = []
    if result["label_match"] is False:
        parts.append("conclusion contradicts the label")
    if result["conclusion"] is None:
        parts.append("no conclusion")
    if result["hallucinated_quotes"]:
        parts.append(f"not in the text: “{result['hallucinated_quotes'][0]['text']}”")
    quotes = [item["text"] for item in result["evidence"] if item["kind"] == "quote"]
    if quotes and result["probability_masked"] is not None:
        before, after = result["probability_original"], result["probability_masked"]
        parts.append(f"“{quotes[0]}” masked: p {before:.2f} → {after:.2f}")
    parts.append(f"names {', '.join(result['groups'])}" if result["groups"] else "names no group")
    parts += [warning for warning in result["warnings"] if not warning.startswith("no control")]
    return "; ".join(parts)
