"""Scenarios 9 and 16: one line of a batch kills, or silences, every worker that takes it, with all
that runs there."""

from __future__ import annotations

import httpx

from tests.chaos.rooms.poison.contract import ENDLESS, POISON
from tests.chaos.sending import Json, Sent, bodies
from tests.end_to_end.batch import Ended, ended, started
from tests.end_to_end.service import Service

ENDPOINT = "/v1/poison"
PATIENCE_SECONDS = 600
LEASE = {"LEASE": 12, "HEARTBEAT": 3, "RESEND": 5, "GRACE": 30}
CODES = {POISON: "attempts-exhausted", ENDLESS: "too-costly"}


def send_poison(service: Service, jobs: int) -> Sent:
    """A batch with the poison in the middle, to its end."""
    return _send(service, jobs, POISON)


def send_endless(service: Service, jobs: int) -> Sent:
    """A batch with the text that never ends in the middle, to its end."""
    return _send(service, jobs, ENDLESS)


def _send(service: Service, jobs: int, text: str) -> Sent:
    asked = bodies(jobs)
    poison = jobs // 2
    asked[poison] |= {"text": text}
    lines = [_line(number, body) for number, body in enumerate(asked)]
    with httpx.Client(base_url=service.url, timeout=90) as client:
        found = ended(client, started(client, lines, ENDPOINT), PATIENCE_SECONDS)
    counts = found.batch["request_counts"]
    seen = f"{counts['completed']} lines in the output file, {counts['failed']} in the error file"
    return Sent(found.job_ids, seen, tuple(_broken(found, lines, poison, CODES[text])))


def _line(number: int, body: Json) -> Json:
    return {"custom_id": str(number), "method": "POST", "url": ENDPOINT, "body": body}


def _broken(found: Ended, lines: list[Json], poison: int, code: str) -> list[str]:
    innocent = [line["custom_id"] for line in lines if line["custom_id"] != str(poison)]
    failed = [(one["custom_id"], one["error"]["code"]) for one in found.errors]
    broken = []
    if [one["custom_id"] for one in found.output] != innocent:
        broken.append(f"{len(innocent)} should succeed, {len(found.output)} did")
    if failed != [(str(poison), code)]:
        broken.append(f"{len(failed)} lines in the error file: {failed[:3]}")
    if found.batch["status"] != "completed":
        broken.append(f"the batch is {found.batch['status']}")
    return broken
