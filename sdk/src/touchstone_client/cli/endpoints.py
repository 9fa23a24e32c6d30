"""The command `webhooks`, which manages the endpoints to which the service sends events and
scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.app import Client, Out, app
from touchstone_client.cli.output import REFUSED, Output, WrongUse

STANDARD = "standard-webhooks"
EndpointId = Annotated[str, Parameter(name="ENDPOINT", help="Id of the endpoint.")]
WEBHOOKS = app.command(
    App(name="webhooks", help="Manage the webhook endpoints that receive events.")
)


@WEBHOOKS.command(name="list")
def listing(*, ts: Client, output: Out) -> None:
    """List the endpoints."""
    endpoints = list(ts.webhooks.list())
    rows = [
        (endpoint.id, endpoint.url, "on" if endpoint.enabled else "off", _gets(endpoint))
        for endpoint in endpoints
    ]
    output.table(("endpoint", "address", "", "events"), rows)
    output.document(endpoints)


def _gets(endpoint: Any) -> str:
    """Return the names of the endpoint's events. If the endpoint receives scores in another tool's
    format, return the format."""
    is_push = endpoint.format not in (None, STANDARD)
    return str(endpoint.format) if is_push else ",".join(endpoint.events)


@WEBHOOKS.command
def create(
    url: str,
    /,
    *,
    event: tuple[str, ...] = (),
    description: str = "",
    format: Literal["otlp-logs", "langfuse-scores", "phoenix-annotations"] | None = None,
    authorization: str | None = None,
    sample: float | None = None,
    metric: tuple[str, ...] = (),
    parts: bool = False,
    ts: Client,
    output: Out,
) -> None:
    """Create an endpoint, and print its secret, which is not shown again.

    Args:
        url: Address that receives the events.
        event: Event to send. Repeatable (default: all).
        description: What the endpoint is for.
        format: Send scores in the format of this tool instead of signed events. Set the URL to the
            tool's base address.
        authorization: Authorization header that the tool needs, such as 'Bearer …', or @FILE.
        sample: Share of the jobs whose scores are sent, such as 0.1.
        metric: Send only scores of this metric. Repeatable.
        parts: Also send each part of a score as a separate score.
    """
    options: dict[str, Any] = {"authorization": authorization, "sample": sample}
    options |= {"metric": list(metric) or None, "parts": parts or None}
    push = {name: value for name, value in options.items() if value is not None}
    if push and format is None:
        raise WrongUse(
            f"--{next(iter(push))} only applies to endpoints that receive scores; add --format"
        )
    if metric:
        push["metrics"] = push.pop("metric")
    if authorization and authorization.startswith("@"):
        push["authorization"] = Path(authorization[1:]).read_text("utf-8").strip()
    if format is not None:
        push["format"] = format
    push |= {"events": list(event), "description": description}
    endpoint = ts.webhooks.create(url, **push)
    if format is None:
        output.line(f"{endpoint.id} {endpoint.secret}")
        output.say("save the secret: it is not shown again")
    else:
        output.line(endpoint.id)
        output.say(f"`touchstone webhooks test {endpoint.id}` sends a test event")
    output.document(endpoint)


@WEBHOOKS.command
def test(endpoint: EndpointId, /, *, ts: Client, output: Out) -> int | None:
    """Send a test event.

    The exit code is 1 if it is not delivered.
    """
    outcome = ts.webhooks.test(endpoint)
    output.line(f"delivered: {outcome.delivered}, status {outcome.status}, {outcome.error or ''}")
    output.document(outcome)
    return None if outcome.delivered else REFUSED


@WEBHOOKS.command
def rotate(endpoint: EndpointId, /, *, ts: Client, output: Out) -> None:
    """Create a new secret. The previous one is valid for another day."""
    rotated = ts.webhooks.rotate_secret(endpoint)
    output.line(rotated.secret)
    output.document(rotated)


@WEBHOOKS.command
def failed(endpoint: EndpointId, /, *, ts: Client, output: Out) -> None:
    """List the deliveries that failed."""
    deliveries = list(ts.webhooks.deliveries(endpoint, status="failed"))
    rows = [
        (delivery.id, delivery.event, delivery.status, delivery.attempts) for delivery in deliveries
    ]
    output.table(("delivery", "event", "status", "attempts"), rows)
    output.document(deliveries)


@WEBHOOKS.command
def enable(endpoint: EndpointId, /, *, ts: Client, output: Out) -> None:
    """Enable the endpoint again. `replay` sends the events that it missed."""
    _switch(ts, endpoint, output, is_on=True)


@WEBHOOKS.command
def disable(endpoint: EndpointId, /, *, ts: Client, output: Out) -> None:
    """Disable the endpoint until it is enabled again."""
    _switch(ts, endpoint, output, is_on=False)


def _switch(ts: Touchstone, endpoint: str, output: Output, *, is_on: bool) -> None:
    changed = ts.webhooks.change(endpoint, enabled=is_on)
    output.line(f"{changed.id} {'on' if changed.enabled else 'off'}")
    output.document(changed)


@WEBHOOKS.command
def delete(endpoint: EndpointId, /, *, ts: Client, output: Out) -> None:
    """Delete the endpoint and its pending deliveries."""
    ts.webhooks.delete(endpoint)
    output.line(f"{endpoint} deleted")
    output.document({"id": endpoint, "deleted": True})


@WEBHOOKS.command
def replay(
    endpoint: EndpointId, delivery: str | None = None, /, *, ts: Client, output: Out
) -> None:
    """Send one failed delivery, or all of them, again.

    Args:
        delivery: Id of the delivery.
    """
    count = ts.webhooks.replay(endpoint, delivery)
    output.line(f"{count} deliveries will be sent again")
    output.document({"replayed": count})
