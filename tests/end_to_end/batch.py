"""A batch through the public API, from upload to download, whoever dies meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.batches import FINAL, Json, packed
from tests.patience import looks


@dataclass(frozen=True)
class Ended:
    """A batch that is final, and what stands in its files."""

    batch: Json
    output: list[Json]
    errors: list[Json]

    @property
    def job_ids(self) -> list[str]:
        """Of every line that has an answer."""
        answers = [one["response"] for one in (*self.output, *self.errors)]
        return [answer["request_id"] for answer in answers if answer is not None]


def patiently(client: httpx.Client, method: str, path: str, **more: Any) -> Any:
    """The answer, once somebody gives one."""
    for _ in looks(every=0.2):
        try:
            answer = client.request(method, path, **more)
        except httpx.TransportError:
            continue
        if answer.status_code < 500 and answer.status_code != 429:
            return answer
    raise AssertionError("nobody answers")


def contents(client: httpx.Client, file_id: str | None) -> list[Json]:
    """The lines of a file; none of no file."""
    if file_id is None:
        return []
    answer = patiently(client, "GET", f"/v1/files/{file_id}/content")
    return [json.loads(raw) for raw in answer.text.splitlines()]


def started(client: httpx.Client, lines: Iterable[Json | bytes], endpoint: str) -> Json:
    """A new batch of these lines."""
    form = {"data": {"purpose": "batch"}, "files": {"file": packed(lines)}}
    file = _made(patiently(client, "POST", "/v1/files", **form))
    asked = {"input_file_id": file["id"], "endpoint": endpoint}
    return _made(patiently(client, "POST", "/v1/batches", json=asked))


def _made(answer: httpx.Response) -> Json:
    if answer.status_code not in (200, 201, 202):
        raise AssertionError(f"{answer.request.url.path}: {answer.status_code} {answer.text}")
    found: Json = answer.json()
    return found


def ended(client: httpx.Client, batch: Json, seconds: float, every: float = 0.5) -> Ended:
    """The batch at its end. Raises TimeoutError where it has none within so many seconds of an
    idle machine."""
    for _ in looks(seconds, every):
        if batch["status"] in FINAL:
            break
        batch = patiently(client, "GET", f"/v1/batches/{batch['id']}").json()
    else:
        raise TimeoutError(f"the batch has not ended: {batch}")
    output, errors = (contents(client, batch[name]) for name in ("output_file_id", "error_file_id"))
    return Ended(batch, output, errors)
