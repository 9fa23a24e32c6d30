"""`touchstone submit`: a file becomes a batch; with --wait its answers come back."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack, nullcontext
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from services.command.api import Api, Json, Refused
from services.command.lines import endpoint_of, wrapped

MOST_SHOWN = 20


def submit(api: Api, asked: Namespace, console: Console, said: Console) -> int:
    """Upload, make the batch, and wait if told to. stdout gets its id, or its answers."""
    batch = _made(api, asked)
    if not asked.wait:
        said.print(f"batch {batch['status']}; `touchstone get {batch['id']}` tells how it goes")
        console.print(batch["id"], soft_wrap=True, highlight=False)
        return 0
    batch = _waited(api, batch, said)
    return _ended(api, batch, asked, said)


def _made(api: Api, asked: Namespace) -> Json:
    with ExitStack() as held:
        file: Path = asked.file
        if asked.metric is not None:
            endpoint = f"/v1/scores/{asked.metric}"
            file = held.enter_context(wrapped(asked.file, endpoint))
        else:
            endpoint = endpoint_of(asked.file)
        uploaded = api.upload(file)
    return api.make_batch(
        {"input_file_id": uploaded["id"], "endpoint": endpoint, "metadata": dict(asked.metadata)}
    )


def _waited(api: Api, batch: Json, said: Console) -> Json:
    """The batch at its end, with a progress bar on the way."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=said) as progress:
        task = progress.add_task(batch["status"], total=None)
        for now in api.watched(batch):
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
    said.print(
        f"{batch['id']} {batch['status']}: {counts['completed']} of {counts['total']} scored, "
        f"{counts['failed']} failed"
    )
    if batch["errors"]:
        raise Refused("the file is not valid:\n" + "\n".join(faults(batch)))
    if batch["output_file_id"]:
        save(api, batch["output_file_id"], asked.output)
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
