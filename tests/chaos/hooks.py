"""Scenario 11: receivers of every bad temper at once, and every job is told to each of them.

They misbehave the first time that they see a `webhook-id` (the one of 10 MB always does), so
that every delivery has to arrive in the end. Requests that reach the trap went inside.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx
from standardwebhooks import Webhook, WebhookVerificationError

from tests.chaos.audit import ended
from tests.chaos.names import INSIDE, OURS, REBINDING
from tests.chaos.sending import Json, Sent, send_all
from tests.chaos.trial import Trial
from tests.end_to_end.batch import patiently
from tests.receivers import Received, Receiver, receiving

SETTINGS = {
    "TOUCHSTONE_WEBHOOK_ALLOW": '["127.0.0.1/32"]',
    "TOUCHSTONE_WEBHOOK_SECONDS": "2",
    "TOUCHSTONE_WEBHOOK_SCHEDULE": str([0] + [1] * 11),
}
HANG_SECONDS = 4
HANG_EVERY = 20  # requests of the receiver that hangs: four at a time, 2 s each
PATIENCE_SECONDS = 300
TEN_MEGABYTES = b"x" * 10_000_000
METADATA = "http://169.254.169.254/latest/meta-data/"


@dataclass
class Hook:
    """A receiver with its endpoint, and what it has been told."""

    receiver: Receiver
    host: str = OURS
    id: str = ""
    secret: str = ""
    bodies: defaultdict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    jobs: set[str] = field(default_factory=set)
    unverified: int = 0
    requests: Iterator[int] = field(default_factory=itertools.count)

    @property
    def url(self) -> str:
        """Where the service is to deliver."""
        return f"http://{self.host}:{self.receiver.port}/hooks"

    def hear(self, got: Received) -> bool:
        """Take it down; whether its id is new."""
        message = got.headers["webhook-id"]
        new = message not in self.bodies
        self.bodies[message].add(got.body)
        try:
            payload = Webhook(self.secret).verify(got.body, got.headers)
        except WebhookVerificationError:
            self.unverified += 1
        else:
            self.jobs.add(payload["data"]["id"])
        return new


def send_and_be_told(service: Trial, jobs: int) -> Sent:
    """Send the jobs, wait until nothing is owed any more, and look at what was told."""
    trap = Receiver()
    with ExitStack() as stack:
        client = stack.enter_context(service.client())
        hooks = stack.enter_context(_listening(trap))
        for hook in hooks:
            _register(client, hook)
        ids = send_all(service, jobs).ids
        ended(service, ids)
        owed = sum(_owed(client, hook) for hook in hooks)
    told = sum(len(hook.bodies) for hook in hooks)
    attempts = sum(len(hook.receiver.received) for hook in hooks)
    twice = sum(len(same) > 1 for hook in hooks for same in hook.bodies.values())
    seen = (
        f"{len(hooks)} receivers, {told} webhook ids in {attempts} requests, "
        f"{twice} ids with two bodies, {len(trap.received)} requests inside"
    )
    broken = [f"{owed} deliveries have not arrived"] * bool(owed)
    broken += [f"{twice} ids with two bodies"] * bool(twice)
    broken += ["a request went inside"] * bool(trap.received)
    for hook in hooks:
        if hook.jobs != set(ids) or len(hook.bodies) != jobs or hook.unverified:
            broken.append(f"{hook.url}: {len(hook.jobs)} jobs told, {hook.unverified} unverified")
    return Sent(ids, seen, tuple(broken))


@contextmanager
def _listening(trap: Receiver) -> Iterator[list[Hook]]:
    """One for each temper, and the trap: inside, at the port of the one whose name rebinds."""
    failing, hanging, rebinding = Hook(Receiver()), Hook(Receiver()), Hook(Receiver(), REBINDING)
    outward, inward = Hook(Receiver(headers={"Location": METADATA})), Hook(Receiver())
    large = Hook(Receiver(status=200, body=TEN_MEGABYTES))
    failing.receiver.chooses = lambda got: 500 if failing.hear(got) else 204
    hanging.receiver.chooses = lambda got: _late(hanging.hear(got), next(hanging.requests))
    rebinding.receiver.chooses = lambda got: _said(204, rebinding.hear(got))
    outward.receiver.chooses = lambda got: 302 if outward.hear(got) else 204
    inward.receiver.chooses = lambda got: 307 if inward.hear(got) else 204
    large.receiver.chooses = lambda got: _said(200, large.hear(got))
    hooks = [failing, hanging, rebinding, outward, inward, large]
    with ExitStack() as stack:
        for hook in hooks:
            stack.enter_context(receiving(hook.receiver))
        stack.enter_context(receiving(trap, at=(INSIDE, rebinding.receiver.port)))
        inward.receiver.headers["Location"] = f"http://{INSIDE}:{trap.port}/inside"
        yield hooks


def _said(status: int, _new: bool) -> int:
    return status


def _late(new: bool, number: int) -> int:
    """Every so many requests the answer comes when nobody waits for it any more."""
    if new and number % HANG_EVERY == 0:
        time.sleep(HANG_SECONDS)
    return 204


def _register(client: httpx.Client, hook: Hook) -> None:
    asked = {"url": hook.url, "events": ["job.succeeded"]}
    made = patiently(client, "POST", "/v1/webhook-endpoints", json=asked).json()
    hook.id, hook.secret = made["id"], made["secret"]


def _owed(client: httpx.Client, hook: Hook) -> int:
    """Deliveries that have not arrived when nothing is pending any more."""
    path = f"/v1/webhook-endpoints/{hook.id}/deliveries"
    deadline = time.monotonic() + PATIENCE_SECONDS

    def some(status: str) -> list[Json]:
        found = patiently(client, "GET", path, params={"status": status, "limit": 100}).json()
        data: list[Json] = found["data"]
        return data

    while some("pending") and time.monotonic() < deadline:
        time.sleep(0.5)
    return len(some("pending")) + len(some("failed"))
