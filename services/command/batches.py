"""`touchstone submit` makes a batch of a file; `get` and `report` show what came of it.

Lines that are plain requests become lines of a batch first.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from services.command.api import Api, Json, Refused

MOST_SHOWN = 20
PLACES = {"job_": "/v1/jobs", "batch_": "/v1/batches"}
WAIT_SECONDS = 30
MOST_ASKS = 40  # of 30 s: no report takes longer than its lease may last


def submit(api: Api, asked: Namespace, console: Console, said: Console) -> int:
    """Upload, make the batch, and wait if told to. stdout gets its id, or its answers."""
    said.print(f"uploading {asked.file}", markup=False, highlight=False, soft_wrap=True)
    batch = _create_batch(api, asked)
    if not asked.wait:
        console.print(batch["id"], soft_wrap=True, highlight=False)
        said.print(f"batch {batch['status']}; `touchstone get {batch['id']}` shows its progress")
        return 0
    said.print(f"{batch['id']} {batch['status']}", highlight=False, soft_wrap=True)
    batch = _waited(api, batch, said)
    return _ended(api, batch, asked, said)


def _create_batch(api: Api, asked: Namespace) -> Json:
    with ExitStack() as held:
        file: Path = asked.file
        if asked.metric is not None:
            endpoint = f"/v1/scores/{asked.metric}"
            file = held.enter_context(wrapped(asked.file, endpoint))
        else:
            endpoint = endpoint_of(asked.file)
        uploaded = api.upload(file)
    return api.make(
        "/v1/batches",
        {"input_file_id": uploaded["id"], "endpoint": endpoint, "metadata": dict(asked.metadata)},
    )


def _waited(api: Api, batch: Json, said: Console) -> Json:
    """The batch at its end, with a progress bar on the way."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=said) as progress:
        task = progress.add_task(batch["status"], total=None)
        for now in api.watched(f"/v1/batches/{batch['id']}"):
            batch, counts = now, now["request_counts"]
            progress.update(
                task,
                description=now["status"],
                total=counts["total"] or None,
                completed=counts["completed"] + counts["failed"],
            )
    return batch


def _ended(api: Api, batch: Json, asked: Namespace, said: Console) -> int:
    counts = batch["request_counts"]
    if batch["output_file_id"]:
        save(api, batch["output_file_id"], asked.output)
    said.print(
        f"{batch['id']} {batch['status']}: {counts['completed']} of {counts['total']} scored, "
        f"{counts['failed']} failed"
    )
    if batch["errors"]:
        raise Refused("the file is not valid:\n" + "\n".join(faults(batch)))
    if batch["error_file_id"]:
        said.print(f"what has no score is in {batch['error_file_id']}")
        if asked.errors:
            save(api, batch["error_file_id"], asked.errors)
    return 0 if batch["status"] == "completed" else 1


def faults(batch: Json) -> list[str]:
    """What is wrong with the file, a line each."""
    found = batch["errors"]["data"]
    shown = [
        f"  line {fault['line'] or '-'}: {fault['message']}"
        + (f" (at {fault['param']})" if fault["param"] else "")
        for fault in found[:MOST_SHOWN]
    ]
    more = len(found) - len(shown)
    return [*shown, f"  … and {more} more"] if more else shown


def save(api: Api, file_id: str, target: Path | None) -> None:
    """A file of the service into a file of ours, or onto stdout."""
    with nullcontext(sys.stdout.buffer) if target is None else target.open("wb") as stream:
        for piece in api.download(file_id):
            stream.write(piece)
        stream.flush()


def endpoint_of(file: Path) -> str:
    """The `url` of the first line. Raises Refused."""
    with _opened(file) as stream:
        first = next((raw for raw in stream if raw.strip()), "")
    if not first:
        raise Refused(f"{file} holds no request")
    try:
        return str(json.loads(first)["url"])
    except (ValueError, KeyError, TypeError):
        raise Refused(
            f"{file}: the first line names no `url`; for lines that are plain requests, "
            "say --metric METRIC"
        ) from None


@contextmanager
def wrapped(file: Path, endpoint: str) -> Iterator[Path]:
    """A file of batch lines around this one's requests; an `id` becomes the custom_id, else the
    line's number does. Raises Refused."""
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as made:
        with _opened(file) as stream:
            for number, raw in enumerate(stream, 1):
                if raw.strip():
                    made.write(json.dumps(_line(raw, file, number, endpoint)) + "\n")
        made.flush()
        yield Path(made.name)


def _line(raw: str, file: Path, number: int, endpoint: str) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Refused(f"{file}:{number}: not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(f"{file}:{number}: not a JSON object")
    custom_id = str(body.pop("id", number))
    return {"custom_id": custom_id, "method": "POST", "url": endpoint, "body": body}


@contextmanager
def _opened(file: Path) -> Iterator[Iterator[str]]:
    try:
        with file.open(encoding="utf-8-sig") as stream:
            yield stream
    except OSError as error:
        raise Refused(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Refused(f"{file}: not UTF-8: {error}") from None


def get(api: Api, asked: Namespace, console: Console, said: Console) -> int:
    """A job or a batch as JSON, a file as its content."""
    if asked.id.startswith("file_"):
        save(api, asked.id, asked.output)
        return 0
    for beginning, place in PLACES.items():
        if asked.id.startswith(beginning):
            _write(json.dumps(api.get(f"{place}/{asked.id}"), ensure_ascii=False, indent=2), asked)
            return 0
    raise Refused(f"{asked.id!r} is no id: ids begin with job_, batch_ or file_")


def report(api: Api, asked: Namespace, console: Console, said: Console) -> int:
    """A batch's report as JSON, one of its plots as a picture, or a file to be taken away."""
    if asked.against is not None:
        return _compare(api, asked, said)
    place = f"/v1/batches/{asked.batch}/report"
    if asked.csv is not None:
        _stream(api, f"/v1/batches/{asked.batch}/items.csv", asked.csv)
        return 0
    if asked.html is not None:
        with said.status("the report is being made …"):
            asked.html.write_bytes(_finished_report(api, f"{place}.html", {}).content)
        return 0
    plot = {} if asked.plot is None else {"plot": asked.plot, "format": asked.format}
    with said.status("the report is being made …"):
        answer = _finished_report(api, place, plot)
    if asked.plot is None:
        _write(json.dumps(answer.json(), ensure_ascii=False, indent=2), asked)
    elif asked.output is None and asked.format == "png":
        raise Refused("a png goes into a file: give --output FILE.png")
    else:
        _write(answer.content, asked)
    return 0


def _compare(api: Api, asked: Namespace, said: Console) -> int:
    """The report as JSON, with its comparison with another batch."""
    if asked.csv or asked.html or asked.plot:
        raise Refused("--against brings the numbers alone: leave out --plot, --html and --csv")
    found = [api.get(f"/v1/batches/{one}") for one in (asked.batch, asked.against)]
    metric = found[0]["endpoint"].removeprefix("/v1/scores/")
    body = {"batch": asked.batch, "against": {"batch": asked.against}}
    with said.status("the report is being made …"):
        job = api.make(f"/v1/reports/{metric}", body)
        for now in api.watched(f"/v1/jobs/{job['id']}"):
            job = now
    if job["status"] != "succeeded":
        error = job["error"] or {}
        raise Refused(f"{job['id']} {job['status']}: {error.get('detail', 'no report was made')}")
    _write(json.dumps(job["result"], ensure_ascii=False, indent=2), asked)
    return 0


def _finished_report(api: Api, place: str, plot: dict[str, str]) -> httpx.Response:
    for _ in range(MOST_ASKS):
        answer = api.answer(place, wait=WAIT_SECONDS, **plot)
        if answer.status_code == httpx.codes.OK:
            return answer
    raise Refused("the report is still being made; ask again later")


def _stream(api: Api, place: str, target: Path) -> None:
    """Into a file, which is touched only once there is something for it."""
    pieces = api.pieces(place)
    first = next(pieces, b"")
    with target.open("wb") as stream:
        stream.write(first)
        for piece in pieces:
            stream.write(piece)


def _write(content: str | bytes, asked: Namespace) -> None:
    raw = content.encode() + b"\n" if isinstance(content, str) else content
    target: Path | None = asked.output
    if target is not None:
        target.write_bytes(raw)
        return
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()
