"""`touchstone get` and `touchstone report`: what the service knows, as JSON or as a file."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

import httpx
from rich.console import Console

from services.command.api import Api, Refused
from services.command.submit import save

PLACES = {"job_": "/v1/jobs", "batch_": "/v1/batches"}
WAIT_SECONDS = 30
MOST_ASKS = 40  # of 30 s: no report takes longer than its lease may last


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
    place = f"/v1/batches/{asked.batch}/report"
    if asked.csv is not None:
        _stream(api, f"/v1/batches/{asked.batch}/items.csv", asked.csv)
        return 0
    if asked.html is not None:
        with said.status("the report is being made …"):
            asked.html.write_bytes(_made(api, f"{place}.html", {}).content)
        return 0
    plot = {} if asked.plot is None else {"plot": asked.plot, "format": asked.format}
    with said.status("the report is being made …"):
        answer = _made(api, place, plot)
    if asked.plot is None:
        _write(json.dumps(answer.json(), ensure_ascii=False, indent=2), asked)
    elif asked.output is None and asked.format == "png":
        raise Refused("a png goes into a file: say --output FILE.png")
    else:
        _write(answer.content, asked)
    return 0


def _made(api: Api, place: str, plot: dict[str, str]) -> httpx.Response:
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
