"""The command `webhooks`, which manages the endpoints to which the service sends events and
scores."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.output import DONE, REFUSED, Output, WrongUse

STANDARD = "standard-webhooks"
PUSHES = ("authorization", "sample", "metric", "parts")


def webhooks(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Create, list and change webhook endpoints, or send failed deliveries again."""
    if options.action == "list":
        return _list(ts, output)
    if options.action == "create":
        return _create(ts, options, output)
    if options.action == "test":
        return _test(ts, options, output)
    document = OTHERS[options.action](ts, options, output)
    output.document(document)
    return DONE


def _list(ts: Touchstone, output: Output) -> int:
    endpoints = list(ts.webhooks.list())
    rows = [
        (endpoint.id, endpoint.url, "on" if endpoint.enabled else "off", _gets(endpoint))
        for endpoint in endpoints
    ]
    output.table(("endpoint", "address", "", "events"), rows)
    output.document(endpoints)
    return DONE


def _gets(endpoint: Any) -> str:
    """Return the names of the endpoint's events. If the endpoint receives scores in another tool's
    format, return the format."""
    is_push = endpoint.format not in (None, STANDARD)
    return str(endpoint.format) if is_push else ",".join(endpoint.events)


def _create(ts: Touchstone, options: Namespace, output: Output) -> int:
    endpoint = ts.webhooks.create(
        options.receiver, events=options.event, description=options.description, **push_of(options)
    )
    if options.format is None:
        output.line(f"{endpoint.id} {endpoint.secret}")
        output.say("save the secret: it is not shown again")
    else:
        output.line(endpoint.id)
        output.say(f"`touchstone webhooks test {endpoint.id}` sends a test event")
    output.document(endpoint)
    return DONE


def push_of(options: Namespace) -> dict[str, Any]:
    """Return the options for a webhook endpoint that receives scores in another tool's format. For
    other endpoints, return an empty dict. Raises WrongUse, OSError."""
    values = {name: getattr(options, name) for name in PUSHES}
    fields = {
        name: value for name, value in values.items() if value is not None and value is not False
    }
    if options.format is None:
        if fields:
            raise WrongUse(
                f"--{next(iter(fields))} only applies to endpoints that receive scores; add "
                "--format"
            )
        return {}
    if "metric" in fields:
        fields["metrics"] = fields.pop("metric")
    if str(fields.get("authorization", "")).startswith("@"):
        fields["authorization"] = Path(fields["authorization"][1:]).read_text("utf-8").strip()
    return {"format": options.format, **fields}


def _test(ts: Touchstone, options: Namespace, output: Output) -> int:
    outcome = ts.webhooks.test(options.id)
    output.line(f"delivered: {outcome.delivered}, status {outcome.status}, {outcome.error or ''}")
    output.document(outcome)
    return DONE if outcome.delivered else REFUSED


def _rotate(ts: Touchstone, options: Namespace, output: Output) -> Any:
    endpoint = ts.webhooks.rotate_secret(options.id)
    output.line(endpoint.secret)
    return endpoint


def _failed(ts: Touchstone, options: Namespace, output: Output) -> Any:
    deliveries = list(ts.webhooks.deliveries(options.id, status="failed"))
    rows = [
        (delivery.id, delivery.event, delivery.status, delivery.attempts) for delivery in deliveries
    ]
    output.table(("delivery", "event", "status", "attempts"), rows)
    return deliveries


def _switched(ts: Touchstone, options: Namespace, output: Output) -> Any:
    endpoint = ts.webhooks.change(options.id, enabled=options.action == "enable")
    output.line(f"{endpoint.id} {'on' if endpoint.enabled else 'off'}")
    return endpoint


def _deleted(ts: Touchstone, options: Namespace, output: Output) -> Any:
    ts.webhooks.delete(options.id)
    output.line(f"{options.id} deleted")
    return {"id": options.id, "deleted": True}


def _replayed(ts: Touchstone, options: Namespace, output: Output) -> Any:
    count = ts.webhooks.replay(options.id, options.delivery)
    output.line(f"{count} deliveries will be sent again")
    return {"replayed": count}


OTHERS: dict[str, Callable[[Touchstone, Namespace, Output], Any]] = {
    "rotate": _rotate,
    "failed": _failed,
    "enable": _switched,
    "disable": _switched,
    "delete": _deleted,
    "replay": _replayed,
}
