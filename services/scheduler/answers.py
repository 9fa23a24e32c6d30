"""A line's answer, as it stands in the output or in the error file.

Source: OpenAI Batch API: `{id, custom_id, response {status_code, request_id, body}, error}`.
"""

from __future__ import annotations

import json
from typing import Any

from services.gateway.views import shown
from shared.ledger.batches import Batch
from shared.ledger.ending import Answer, Kind

LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}  # to `splitlines`


def written(batch: Batch, answer: Answer) -> tuple[Kind, bytes]:
    """Which file it belongs into, and its line there."""
    job = answer.job
    good = job is not None and job.status == "succeeded"
    line = {
        "id": _id(batch, answer),
        "custom_id": answer.custom_id,
        "response": _response(answer),
        "error": None if good else _error(batch, answer),
    }
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS)
    return "output" if good else "error", text.encode() + b"\n"


def unwritable(batch: Batch, answer: Answer) -> tuple[Kind, bytes]:
    """The line of an answer that cannot be shown: its job may still be asked for."""
    line = {
        "id": _id(batch, answer),
        "custom_id": answer.custom_id,
        "response": None,
        "error": {"code": "internal", "message": "the answer to this line cannot be shown"},
    }
    return "error", json.dumps(line).encode() + b"\n"


def _id(batch: Batch, answer: Answer) -> str:
    return f"batch_req_{batch.id.removeprefix('batch_')}_{answer.number}"


def _response(answer: Answer) -> dict[str, Any] | None:
    """What `GET /v1/jobs/{id}` says, with this line's own metadata; null without an answer."""
    job = answer.job
    if job is None or job.status not in ("succeeded", "failed"):
        return None
    body = shown(job) | {"metadata": {}, "context": None} | (answer.caller or {})
    status = 200 if job.error is None else job.error.get("status", 500)
    return {"status_code": status, "request_id": job.id, "body": body}


def _error(batch: Batch, answer: Answer) -> dict[str, str]:
    job = answer.job
    if job is not None and job.error is not None:
        code = str(job.error["type"]).rpartition("/")[2]
        return {"code": code, "message": str(job.error["detail"])}
    if answer.status == "failed":
        return {"code": "line_lost", "message": "the line could not be read any more"}
    if batch.ending == "completed":
        return {"code": "job_cancelled", "message": "the job was cancelled"}
    how = "failed" if batch.ending == "failed" else f"was {batch.ending}"
    message = f"the batch {how} before this line had a result"
    return {"code": f"batch_{batch.ending}", "message": message}
