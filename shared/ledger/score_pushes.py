"""Scores to send to endpoints that use other tools' formats.

A delivery is created in the transaction that writes a finished line or job to the table
`result_facts`. Each row is written once, so each score is sent once, and finishing a job
takes no longer. A batch line counts like a job. The content consists of numbers, ids and
the service's own terms. It is fixed when the delivery is created, so every attempt sends
the same content."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from shared.contracts.messages import Trace
from shared.ledger.score_formats import FORMATS, NO_TRACE, STANDARD, ScoreRecord
from shared.ledger.tables import deliveries, endpoints

PUSHED = {"succeeded": "job.succeeded", "failed": "job.failed"}  # status → event
OUR_FACTS = ("metric_version", "variant", "model", "chance")


@dataclass(frozen=True)
class FinishedScore:
    """An ended line or job whose score is sent to other tools. `facts` is its row of the results
    table. `parts` maps the names of the score's parts to numbers. `webhook` is the only endpoint
    that receives the score, if the request names one."""

    facts: Mapping[str, Any]
    parts: Mapping[str, float | None]
    trace: Trace = NO_TRACE
    webhook: str | None = None
    error_type: str | None = None
    by_language_model: bool = False

    @property
    def key(self) -> str:
        return f"{self.facts['source']} {self.facts['line']}"

    @property
    def finished_at(self) -> datetime:
        at: datetime = self.facts["finished_at"]
        return at


def enqueue_scores(connection: Connection, ended: Sequence[FinishedScore]) -> int:
    """Queue these scores for their tenants' endpoints; return the number of deliveries.

    Call it in the transaction that writes their rows. Each endpoint counts the jobs whose
    trace lacks a field that its format needs.
    """
    some = [
        score for score in ended if score.facts["status"] in PUSHED and score.facts["finished_at"]
    ]
    if not some:
        return 0
    rows: list[dict[str, Any]] = []
    untraced: Counter[str] = Counter()
    for endpoint in _find_endpoints(connection, {score.facts["tenant"] for score in some}):
        matching = [score for score in some if _matches(endpoint, score)]
        traced = [score for score in matching if FORMATS[endpoint.format].supports(score.trace)]
        untraced[endpoint.id] += len(matching) - len(traced)
        rows += [delivery for score in traced for delivery in _deliveries(endpoint, score)]
    if rows:
        connection.execute(insert(deliveries), rows)
    for endpoint_id, count in (+untraced).items():
        more = {"untraced": endpoints.c.untraced + count}
        connection.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(more))
    return len(rows)


def _find_endpoints(connection: Connection, tenants: set[str]) -> Sequence[Row[Any]]:
    columns = ("id", "tenant", "format", "events", "sample", "metrics", "parts", "created_at")
    return connection.execute(
        select(*(endpoints.c[name] for name in columns))
        .where(
            endpoints.c.tenant.in_(tenants),
            endpoints.c.format != STANDARD,
            endpoints.c.disabled_at.is_(None),
        )
        .order_by(endpoints.c.id)  # one order of locks
    ).all()


def _matches(endpoint: Row[Any], score: FinishedScore) -> bool:
    facts = score.facts
    return (
        endpoint.tenant == facts["tenant"]
        and endpoint.created_at <= score.finished_at
        and score.webhook in (None, endpoint.id)
        and (not endpoint.events or PUSHED[facts["status"]] in endpoint.events)
        and (not endpoint.metrics or facts["metric"] in endpoint.metrics)
        and in_sample(endpoint.id, score.key, endpoint.sample)
    )


def in_sample(endpoint_id: str, key: str, share: float) -> bool:
    """Return True if this endpoint's random sample contains the key. `share` is the size of the
    sample, [0, 1]. The same endpoint and key always give the same answer."""
    digest = hashlib.blake2b(f"{endpoint_id} {key}".encode(), digest_size=7).digest()
    return int.from_bytes(digest) < share * 2**56


def _deliveries(endpoint: Row[Any], score: FinishedScore) -> Iterator[dict[str, Any]]:
    """Yield one delivery for the score and, if the endpoint wants them, one for each of its
    parts."""
    for record in _records(score, with_parts=endpoint.parts):
        yield {
            "id": f"msg_{secrets.token_hex(16)}",
            "endpoint_id": endpoint.id,
            "tenant": endpoint.tenant,
            "event": PUSHED[score.facts["status"]],
            "body": FORMATS[endpoint.format].item_text(record),
        }


def _records(score: FinishedScore, *, with_parts: bool) -> Iterator[ScoreRecord]:
    facts = score.facts
    whole = ScoreRecord(
        name=f"touchstone.{facts['metric']}",
        job_id=facts["job_id"],
        at=score.finished_at,
        line=facts["line"],
        trace=score.trace,
        score=facts["score"],
        verdict=facts["verdict"],
        explanation=facts["sentence"],
        error_type=score.error_type,
        by_language_model=score.by_language_model,
        facts={name: facts[name] for name in OUR_FACTS},
    )
    yield whole
    if with_parts and score.error_type is None:
        ours = dict(whole.facts) | {"chance": None}
        bare = replace(whole, verdict=None, explanation="", facts=ours)
        for name, value in score.parts.items():
            yield replace(bare, name=f"{whole.name}.{name}", score=value)
