"""The test event of a webhook endpoint: a scheduler makes one attempt at once. An endpoint has one
test at a time, in its own row. A test is not a delivery and appears in no list of failures. It does
not change the endpoint, which may be disabled or paused."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, case, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.contracts.errors import ScoringError
from shared.contracts.messages import Trace
from shared.ledger.jobs import FINISHED_CHANNEL
from shared.ledger.score_formats import FORMATS, ScoreRecord
from shared.ledger.tables import endpoints, webhook_tests
from shared.ledger.webhook_deliveries import Delivery
from shared.ledger.webhooks import Endpoint, TestType, body_of, find_endpoint

EVENT: TestType = "endpoint.test"
STALE = timedelta(minutes=1)  # no caller waits any more


class TestRunning(ScoringError):
    """The endpoint is being tested."""

    __test__ = False  # for pytest
    status = 409
    slug = "webhook-test-running"
    title = "This webhook endpoint is being tested"
    cure = "Wait until the running test has ended, then send the request again."


@dataclass(frozen=True)
class TestOutcome:
    """The outcome of a test. `status` is that of the HTTP answer, if there was one."""

    __test__ = False
    delivered: bool
    status: int | None
    milliseconds: int
    error: str | None


def new_id() -> str:
    return f"msg_{secrets.token_hex(16)}"


def request_test(connection: Connection, endpoint_id: str, tenant: str, test_id: str) -> None:
    """Request a test of this endpoint, enabled or not. Raises UnknownEndpoint, TestRunning."""
    endpoint = find_endpoint(connection, endpoint_id, tenant)
    body = _body(test_id, endpoint)
    fresh: dict[str, Any] = {"id": test_id, "body": body, "created_at": func.now()}
    fresh |= dict.fromkeys(("claimed_at", "ended_at", "status", "milliseconds", "error"))
    row = connection.execute(
        insert(webhook_tests)
        .values(endpoint_id=endpoint_id, **fresh)
        .on_conflict_do_update(
            index_elements=["endpoint_id"],
            set_=fresh,
            where=or_(
                webhook_tests.c.ended_at.is_not(None),
                webhook_tests.c.created_at < func.now() - STALE,
            ),
        )
        .returning(webhook_tests.c.id)
    ).one_or_none()
    if row is None:
        raise TestRunning("wait for the answer to the first request")


def _body(test_id: str, endpoint: Endpoint) -> str:
    """Return the body of the test event. For an endpoint with another tool's score format, the body
    is an example score with a made-up trace id."""
    if endpoint.format not in FORMATS:
        return body_of(EVENT, {"id": endpoint.id, "object": "webhook_endpoint"})
    digits = test_id.removeprefix("msg_")
    record = ScoreRecord(
        name="touchstone.test",
        job_id=test_id,
        at=datetime.now(UTC),
        trace=Trace(trace_id=digits, span_id=digits[:16]),
        score=1.0,
        explanation="A test of this destination; nothing was scored.",
    )
    return FORMATS[endpoint.format].item_text(record)


def take(connection: Connection, most: int) -> list[Delivery]:
    """Claim up to `most` webhook tests that no scheduler has claimed."""
    selected = (
        select(webhook_tests.c.id)
        .where(
            webhook_tests.c.claimed_at.is_(None),
            webhook_tests.c.created_at > func.now() - STALE,
        )
        .order_by(webhook_tests.c.created_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    earlier = case((endpoints.c.earlier_until > func.now(), endpoints.c.earlier_secret))
    rows = connection.execute(
        update(webhook_tests)
        .where(webhook_tests.c.id.in_(selected), endpoints.c.id == webhook_tests.c.endpoint_id)
        .values(claimed_at=func.now())
        .returning(
            webhook_tests.c.id,
            webhook_tests.c.endpoint_id,
            webhook_tests.c.body,
            endpoints.c.url,
            endpoints.c.secret,
            earlier.label("earlier_secret"),
            endpoints.c.format,
            endpoints.c.authorization,
        )
    )
    return [Delivery(attempt=1, event=EVENT, **row._asdict()) for row in rows]


def cancel(connection: Connection, test_id: str) -> None:
    """Withdraw a test whose caller no longer waits, unless a scheduler has started it."""
    connection.execute(
        delete(webhook_tests).where(
            webhook_tests.c.id == test_id, webhook_tests.c.claimed_at.is_(None)
        )
    )


def end(connection: Connection, test_id: str, outcome: TestOutcome) -> None:
    """Record the outcome and wake the waiting gateway."""
    connection.execute(
        update(webhook_tests)
        .where(webhook_tests.c.id == test_id)
        .values(
            status=outcome.status,
            milliseconds=outcome.milliseconds,
            error=outcome.error,
            ended_at=func.now(),
        )
    )
    connection.execute(select(func.pg_notify(FINISHED_CHANNEL, test_id)))


def outcome(connection: Connection, test_id: str) -> TestOutcome | None:
    """Return the outcome, or None while the test runs or if the endpoint was deleted."""
    row = connection.execute(
        select(webhook_tests.c.status, webhook_tests.c.milliseconds, webhook_tests.c.error).where(
            webhook_tests.c.id == test_id, webhook_tests.c.ended_at.is_not(None)
        )
    ).one_or_none()
    return None if row is None else TestOutcome(row.error is None, *row)
