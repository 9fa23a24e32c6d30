"""The lines of a batch, made of plain requests where that is what the file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from services.command.api import Refused


def endpoint_of(file: Path) -> str:
    """The `url` of the first line. Raises Refused."""
    with _opened(file) as stream:
        first = next((raw for raw in stream if raw.strip()), "")
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
