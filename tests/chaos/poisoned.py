"""Scenario 9: one line of a batch kills every worker that takes it, with all that runs there."""

from __future__ import annotations

import httpx

from tests.chaos.rooms.poison.contract import POISON
from tests.chaos.sending import Json, Sent, bodies
from tests.end_to_end.batch import Ended, ended, started
from tests.end_to_end.service import Service

ENDPOINT = "/v1/poison"
PATIENCE_SECONDS = 600
LEASE = {"LEASE": 12, "HEARTBEAT": 3, "RESEND": 5}


def send_batch(service: Service, jobs: int) -> Sent:
    """A batch with the poison in the middle, to its end."""
    asked = bodies(jobs)
    poison = jobs // 2
    asked[poison] |= {"text": POISON}
    lines = [_line(number, body) for number, body in enumerate(asked)]
    with httpx.Client(base_url=service.url, timeout=90) as client:
        found = ended(client, started(client, lines, ENDPOINT), PATIENCE_SECONDS)
    counts = found.batch["request_counts"]
    seen = f"{counts['completed']} lines in the output file, {counts['failed']} in the error file"
    return Sent(found.job_ids, seen, tuple(_broken(found, lines, poison)))


def _line(number: int, body: Json) -> Json:
    return {"custom_id": str(number), "method": "POST", "url": ENDPOINT, "body": body}


def _broken(found: Ended, lines: list[Json], poison: int) -> list[str]:
    innocent = [line["custom_id"] for line in lines if line["custom_id"] != str(poison)]
    failed = [(one["custom_id"], one["error"]["code"]) for one in found.errors]
    broken = []
    if [one["custom_id"] for one in found.output] != innocent:
        broken.append(f"{len(innocent)} should succeed, {len(found.output)} did")
    if failed != [(str(poison), "attempts-exhausted")]:
        broken.append(f"{len(failed)} lines in the error file: {failed[:3]}")
    if found.batch["status"] != "completed":
        broken.append(f"the batch is {found.batch['status']}")
    return broken
