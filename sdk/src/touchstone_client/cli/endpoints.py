"""`webhooks`: endpoints that are told what happened, and where scores are pushed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.output import DONE, REFUSED, Output, WrongUse

STANDARD = "standard-webhooks"
PUSHES = ("authorization", "sample", "metric", "parts")


def webhooks(ts: Touchstone, asked: Namespace, output: Output) -> int:
    """Endpoints and what was not delivered."""
    if asked.action == "list":
        return _list(ts, output)
    if asked.action == "create":
        return _create(ts, asked, output)
    if asked.action == "test":
        return _test(ts, asked, output)
    found = OTHERS[asked.action](ts, asked, output)
    output.document(found)
    return DONE


def _list(ts: Touchstone, output: Output) -> int:
    found = list(ts.webhooks.list())
    rows = [(one.id, one.url, "on" if one.enabled else "off", _gets(one)) for one in found]
    output.table(("endpoint", "address", "", "events"), rows)
    output.document(found)
    return DONE


def _gets(endpoint: Any) -> str:
    """Its events; of a push its format. An older service says none."""
    is_push = endpoint.format not in (None, STANDARD)
    return str(endpoint.format) if is_push else ",".join(endpoint.events)


def _create(ts: Touchstone, asked: Namespace, output: Output) -> int:
    found = ts.webhooks.create(
        asked.receiver, events=asked.event, description=asked.description, **push_of(asked)
    )
    if asked.format is None:
        output.line(f"{found.id} {found.secret}")
        output.say("the secret is shown this once")
    else:
        output.line(found.id)
        output.say(f"`touchstone webhooks test {found.id}` tries it")
    output.document(found)
    return DONE


def push_of(asked: Namespace) -> dict[str, Any]:
    """What is sent of a push, none where it is none. Raises WrongUse, OSError."""
    told = {name: getattr(asked, name) for name in PUSHES}
    given = {name: one for name, one in told.items() if one is not None and one is not False}
    if asked.format is None:
        if given:
            raise WrongUse(f"--{next(iter(given))} is of a push: say its --format")
        return {}
    if "metric" in given:
        given["metrics"] = given.pop("metric")
    if str(given.get("authorization", "")).startswith("@"):
        given["authorization"] = Path(given["authorization"][1:]).read_text("utf-8").strip()
    return {"format": asked.format, **given}


def _test(ts: Touchstone, asked: Namespace, output: Output) -> int:
    found = ts.webhooks.test(asked.id)
    output.line(f"delivered: {found.delivered}, status {found.status}, {found.error or ''}")
    output.document(found)
    return DONE if found.delivered else REFUSED


def _rotate(ts: Touchstone, asked: Namespace, output: Output) -> Any:
    found = ts.webhooks.rotate_secret(asked.id)
    output.line(found.secret)
    return found


def _failed(ts: Touchstone, asked: Namespace, output: Output) -> Any:
    found = list(ts.webhooks.deliveries(asked.id, status="failed"))
    rows = [(one.id, one.event, one.status, one.attempts) for one in found]
    output.table(("delivery", "event", "status", "attempts"), rows)
    return found


def _switched(ts: Touchstone, asked: Namespace, output: Output) -> Any:
    found = ts.webhooks.change(asked.id, enabled=asked.action == "enable")
    output.line(f"{found.id} {'on' if found.enabled else 'off'}")
    return found


def _deleted(ts: Touchstone, asked: Namespace, output: Output) -> Any:
    ts.webhooks.delete(asked.id)
    output.line(f"{asked.id} deleted")
    return {"id": asked.id, "deleted": True}


def _replayed(ts: Touchstone, asked: Namespace, output: Output) -> Any:
    count = ts.webhooks.replay(asked.id, asked.delivery)
    output.line(f"{count} deliveries go out again")
    return {"replayed": count}


OTHERS: dict[str, Callable[[Touchstone, Namespace, Output], Any]] = {
    "rotate": _rotate,
    "failed": _failed,
    "enable": _switched,
    "disable": _switched,
    "delete": _deleted,
    "replay": _replayed,
}
