"""The command `doctor`, which checks the service and prints each problem with its solution."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from touchstone_client._http import CLIENT_VERSION, Answer
from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.app import Client, Out, app
from touchstone_client.cli.output import DONE, REFUSED
from touchstone_client.errors import (
    ApiError,
    ConnectionFailed,
    Forbidden,
    NotFound,
    Unauthenticated,
)

CLOCK_SECONDS = 5.0
WAITING_SECONDS = 60  # of a queued job while a worker should take it
HERE = ("127.0.0.1", "localhost", "::1")
SCOPES = (("score", "/v1/jobs"), ("batch", "/v1/files"), ("admin", "/v1/webhook-endpoints"))
NO_WORKER = "no worker"  # as /readyz says it
READY = ("ready", "loading", "waiting", "downloading")


@dataclass(frozen=True)
class Finding:
    """The result of one check. `state` is ok, fault or unknown. `cure` says what to do."""

    name: str
    state: str
    detail: str
    cure: str = ""


@app.command
def doctor(*, ts: Client, output: Out) -> int:
    """Check the connection and the service, and print a remedy for each problem.

    The exit code is 1 if there is a problem.
    """
    findings: list[Finding] = []
    for finding in examined(ts):
        findings.append(finding)
        if not output.is_json:
            cure = f" ({finding.cure})" if finding.cure and finding.state != "ok" else ""
            output.line(
                f"{output.coloured(finding.state):8} {finding.name}: {finding.detail}{cure}"
            )
    output.document([vars(finding) for finding in findings])
    return REFUSED if any(finding.state == "fault" for finding in findings) else DONE


def examined(ts: Touchstone) -> Iterator[Finding]:
    """Check the service and yield the findings one by one. Checks that depend on a failed check are
    skipped."""
    url = ts.url
    try:
        alive = ts._api.get("/healthz")  # noqa: SLF001 - of this package
    except (ConnectionFailed, ApiError) as error:
        yield Finding(
            "service",
            "fault",
            str(error),
            "check that the service is running, and that TOUCHSTONE_URL is its address",
        )
        return
    yield Finding("service", "ok", f"{url} answers")
    yield _encryption(url)
    yield _clock(alive)
    yield from _stores(ts)
    try:
        models = ts._api.get("/v1/models")  # noqa: SLF001
    except Unauthenticated as error:
        yield Finding("key", "fault", str(error), "set TOUCHSTONE_API_KEY to a key of this service")
        return
    except ApiError as error:
        yield Finding("key", "fault", str(error), "ask the operator for a key with scopes")
        return
    yield _version(models)
    scopes = list(_scopes(ts))
    yield Finding("key", "ok" if scopes else "fault", f"opens {', '.join(scopes) or 'nothing'}")
    yield from _files(ts, scopes)
    yield from _queues(ts, scopes)
    yield from map(_model, json.loads(models.body)["data"])
    yield from _webhooks(ts, scopes)


def _encryption(url: str) -> Finding:
    parts = urlsplit(url)
    if parts.scheme == "https":
        return Finding("TLS", "ok", "certificate verified")
    if parts.hostname in HERE:
        return Finding("TLS", "ok", "encryption is not needed on the same machine")
    return Finding("TLS", "fault", f"{url} is not encrypted", "use the service's https:// address")


def _clock(alive: Answer) -> Finding:
    date = alive.headers.get("date")
    if date is None:
        return Finding("clock", "unknown", "the service does not report its time")
    off = abs(parsedate_to_datetime(date).timestamp() - time.time())
    if off <= CLOCK_SECONDS + 1:  # the header has whole seconds
        return Finding("clock", "ok", "the clocks of service and client agree")
    cure = (
        "correct one of the clocks: webhooks are rejected if the clocks differ by more than 5 "
        "minutes"
    )
    return Finding("clock", "fault", f"{off:.0f} s between the clocks of service and client", cure)


def _stores(ts: Touchstone) -> Iterator[Finding]:
    names = {"ledger": "database", "broker": "Redis"}
    try:
        answer = ts._api.get("/readyz")  # noqa: SLF001
    except ApiError as error:
        for word, name in names.items():
            if word in error.detail:
                cure = f"is {name} running? The gateway reports: {error.detail}"
                yield Finding(name, "fault", "the gateway cannot reach it", cure)
        return
    for name in names.values():
        yield Finding(name, "ok", "reached")
    yield from _workers(json.loads(answer.body).get("workers") or {})


def _workers(states: dict[str, str]) -> Iterator[Finding]:
    """Yield findings about the workers. `states` maps each service to `ready`, or to the reason why
    its jobs wait."""
    ready = [name for name, state in states.items() if state == "ready"]
    if ready:
        yield Finding("workers", "ok", f"ready: {', '.join(ready)}")
    for name, state in states.items():
        if state != "ready":
            kind = "fault" if state == NO_WORKER else "unknown"  # on its way
            cure = (
                f"jobs of {name} are waiting; the worker's log and its own /readyz show the reason"
            )
            yield Finding(f"worker of {name}", kind, state, cure)


def _version(answer: Answer) -> Finding:
    theirs = answer.headers.get("x-touchstone-version", "unknown")
    versions = f"service {theirs}, client {CLIENT_VERSION}"
    if theirs.split(".")[0] in ("unknown", CLIENT_VERSION.split(".")[0]):
        return Finding("version", "ok", versions)
    return Finding(
        "version", "fault", versions, "install the client of the service's major version"
    )


def _scopes(ts: Touchstone) -> Iterator[str]:
    for scope, path in SCOPES:
        try:
            ts._api.get(path)  # noqa: SLF001
        except Forbidden:
            continue
        yield scope


def _files(ts: Touchstone, scopes: list[str]) -> Iterator[Finding]:
    """Upload, read and delete a test file. Yield one finding on the file store, or none if the key
    lacks the scope `batch`."""
    if "batch" not in scopes:
        return
    try:
        stored = ts.files.upload(BytesIO(b"{}\n"), "doctor.jsonl")
        is_same = b"".join(ts.files.content(stored.id)) == b"{}\n"
        ts.files.delete(stored.id)
    except (ApiError, ConnectionFailed) as error:
        cure = (
            "check TOUCHSTONE_FILES_URL or TOUCHSTONE_FILES_DIR of the gateway, which set where "
            "files are stored"
        )
        yield Finding("file store", "fault", str(error), cure)
        return
    yield Finding(
        "file store", "ok" if is_same else "fault", "a file was written, read and deleted"
    )


def _queues(ts: Touchstone, scopes: list[str]) -> Iterator[Finding]:
    """Find jobs that have been queued for long, perhaps because a worker is missing."""
    if "score" not in scopes:
        return
    waiting: dict[str, list[int]] = {}
    for number, job in enumerate(ts.jobs.list(status="queued")):
        if number >= 1_000:
            break
        waiting.setdefault(job.metric, []).append(job.data.created_at)
    if not waiting:
        yield Finding("queues", "ok", "empty")
    for metric, moments in waiting.items():
        oldest = time.time() - min(moments)
        detail = f"{len(moments)} waiting, the oldest for {oldest:.0f} s"
        is_late = oldest > WAITING_SECONDS
        cure = f"is a worker of {metric} running, and is its model ready?"
        yield Finding(f"queue {metric}", "fault" if is_late else "ok", detail, cure)


def _model(card: dict[str, Any]) -> Finding:
    state, name = card.get("state"), f"model {card['id']}"
    if state in READY:
        return Finding(name, "ok", state)
    if state is None:
        cure = (
            "a worker loads the model at its first use; check that an inference or similarity "
            "worker is running"
        )
        return Finding(name, "unknown", "no worker reports this model", cure)
    cure = f"`touchstone models check {card['id']}` on the service's machine shows the reason"
    return Finding(name, "fault", f"{state}: {card.get('error') or 'no reason'}", cure)


def _webhooks(ts: Touchstone, scopes: list[str]) -> Iterator[Finding]:
    if "admin" not in scopes:
        return
    try:
        ts.webhooks.test(f"we_{'0' * 32}")  # nobody's: it is only asked whether there is a key
    except NotFound:
        yield Finding("webhook key", "ok", "configured")
    except ApiError as error:
        cure = "set TOUCHSTONE_WEBHOOK_KEYS on the service if you want webhooks"
        yield Finding("webhook key", "unknown", str(error), cure)
        return
    off = [hook for hook in ts.webhooks.list() if not hook.enabled]
    for hook in off:
        cure = f"`touchstone webhooks test {hook.id}`, then `touchstone webhooks enable {hook.id}`"
        yield Finding(f"webhook {hook.id}", "fault", hook.disabled_reason or "disabled", cure)
    if not off:
        yield Finding("webhooks", "ok", "every endpoint is enabled")
