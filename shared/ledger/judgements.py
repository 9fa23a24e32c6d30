"""People's judgements of scores. Rows are only appended, each with its author, time and request.

A change is a new row that supersedes the last one. A withdrawal is also a row (`withdrawn`), and
deletes all earlier notes. At most one row per reviewer, job and subject is current. Judgements are
deleted with their job.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import (
    ARRAY,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Connection,
    Double,
    Float,
    ForeignKey,
    Index,
    Integer,
    Numeric,
    Row,
    String,
    Table,
    cast,
    exists,
    func,
    insert,
    literal,
    select,
    text,
    update,
)

from shared.contracts.errors import BadInput, NotThere, QuotaExceeded
from shared.contracts.labels import CANONICAL
from shared.ledger import webhooks
from shared.ledger.jobs import is_kept
from shared.ledger.tables import Instant, Json, jobs, metadata

Opinion = Literal["agree", "disagree", "unsure"]
OPINIONS: tuple[Opinion, ...] = get_args(Opinion)
WITHDRAWN = "withdrawn"
SCORE = "score"  # the subject if no part is named
MOST_NOTE = 2_000  # characters
MOST_SPANS = 50  # of a judgement
MOST_OF_JOB = 1_000  # rows, superseded ones too
POLICY = "judgements"
PLAIN_LABELS = tuple(sorted({label for labels in CANONICAL.values() for label in labels}))
OPINION_FIELDS = ("verdict", "human_score", "human_label", "note")

judgements = Table(
    "judgements",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time
    Column("tenant", String, nullable=False),
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("batch_id", String),  # of the job; a trigger writes it
    Column("reviewer", String, nullable=False),
    Column("verified", Boolean, nullable=False),  # the key names the reviewer, not the caller
    Column("verdict", String, nullable=False),
    Column("about", String, nullable=False, server_default=SCORE),  # or a part
    Column("human_score", Double),
    Column("human_label", String),
    Column("spans", Json, nullable=False, server_default="[]"),  # marked by the reviewer
    Column("note", String),
    Column("blind", Boolean, nullable=False),  # the score was hidden
    Column("queue_id", String),
    Column("seconds", Float),
    Column("supersedes", String, unique=True),
    Column("current", Boolean, nullable=False, server_default=text("true")),
    Column("source", String),  # of an imported judgement
    Column("key_id", String),
    Column("address_family", String),  # IPv4 or IPv6, without the address
    Column("request_id", String),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    CheckConstraint("verdict IN ('agree', 'disagree', 'unsure', 'withdrawn')", name="verdict"),
    CheckConstraint("human_score >= 0 AND human_score <= 1", name="human_score"),
    CheckConstraint("length(note) <= 2000", name="note"),
    Index("ix_judgements_tenant", "tenant", "id"),
    Index("ix_judgements_job_id", "job_id", "reviewer"),
    Index("ix_judgements_queue_id", "queue_id"),
    Index("ix_judgements_batch_id", "batch_id", postgresql_where=text("batch_id IS NOT NULL")),
    Index(
        "uq_judgements_current",
        "job_id",
        "reviewer",
        "verified",
        "about",
        unique=True,
        postgresql_where=text("current"),
    ),
)


@dataclass(frozen=True)
class ReviewerJudgement:
    """A judgement as stored; `current` is False if a later row supersedes it."""

    id: str
    job_id: str
    reviewer: str
    verified: bool
    verdict: str
    about: str
    human_score: float | None
    human_label: str | None
    spans: list[dict[str, Any]]
    note: str | None
    blind: bool
    queue_id: str | None
    seconds: float | None
    supersedes: str | None
    current: bool
    source: str | None
    created_at: datetime
    key_id: str | None = None
    address_family: str | None = None
    request_id: str | None = None


SHOWN = tuple(judgements.c[name] for name in ReviewerJudgement.__dataclass_fields__)


@dataclass(frozen=True)
class Origin:
    """The author and the request of a judgement. `verified` is True if the API key names the
    reviewer."""

    tenant: str
    reviewer: str
    verified: bool = False
    key_id: str | None = None
    address_family: str | None = None
    request_id: str | None = None


class UnknownJudgement(NotThere):
    """No judgement has this id."""

    slug = "unknown-judgement"
    title = "No such judgement"
    cure = "Check the id with `GET /v1/judgements`; judgements are deleted with their job."


class NoResultToJudge(BadInput):
    """The job has no metric result."""

    slug = "nothing-to-judge"
    title = "There is nothing to judge"
    cure = "Only jobs of a metric that have succeeded can be judged."


def new_id() -> str:
    """Return a new judgement id: `jdg_` and 32 hex digits. Ids sort by time."""
    return f"jdg_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def write(
    connection: Connection, job_id: str, values: Mapping[str, Any], origin: Origin
) -> tuple[ReviewerJudgement, bool]:
    """Store a person's judgement of this tenant's job. Return the judgement, and True if the same
    judgement existed already.

    A new judgement supersedes the person's earlier one on the same subject. `values` holds the
    columns from `verdict` to `source`. Raises NoResultToJudge or QuotaExceeded. Raises BadInput for
    a note or a free-text label on a job whose texts are not kept."""
    job = connection.execute(
        select(
            jobs.c.status,
            jobs.c.result["range"].is_not(None).label("is_scored"),
            jobs.c.request["do_not_store_text"].as_boolean().label("is_private"),
        )
        .where(jobs.c.id == job_id, jobs.c.tenant == origin.tenant, is_kept())
        .with_for_update(key_share=True)  # one at a time; a row lock needs no memory
    ).one_or_none()
    if job is None or job.status != "succeeded" or not job.is_scored:
        raise NoResultToJudge(f"the job {job_id!r} has no metric result")
    if job.is_private and values.get("note"):
        raise BadInput(
            "the job's texts are not stored, and a note may quote them; leave out `note`",
            pointer="/note",
        )
    if job.is_private and values.get("human_label") not in (None, "", *PLAIN_LABELS):
        names = ", ".join(PLAIN_LABELS)
        detail = f"the job's texts are not stored, and a label may quote them; send one of {names}"
        raise BadInput(detail, pointer="/human_label")
    stored = {"about": values.get("about") or SCORE, "note": values.get("note") or None}
    values = {**values, **stored}
    if (equal := _find_same(connection, job_id, values, origin)) is not None:
        return equal, True
    count = select(func.count()).where(judgements.c.job_id == job_id)
    if connection.execute(count).scalar_one() >= MOST_OF_JOB:
        detail = f"the job {job_id} has {MOST_OF_JOB} judgements, the most that a job may have"
        raise QuotaExceeded(detail, policy=POLICY, retry_after=None)
    return _append(connection, job_id, values, origin), False


def emit_event(
    connection: Connection, judgement: ReviewerJudgement, metric: str, tenant: str
) -> None:
    """Queue the judgement's event for the tenant's endpoints, in the transaction that writes the
    judgement."""
    body = {"id": judgement.id, "object": "judgement", "job_id": judgement.job_id, "metric": metric}
    body |= {
        name: getattr(judgement, name) for name in ("verdict", "about", "reviewer", "verified")
    }
    webhooks.enqueue_event(connection, "judgement.created", tenant, body)


def withdraw(connection: Connection, judgement_id: str, origin: Origin) -> ReviewerJudgement:
    """Withdraw a judgement, delete its notes, and return the withdrawal. A second call changes
    nothing. Raises UnknownJudgement."""
    old = find(connection, judgement_id, origin.tenant)
    connection.execute(
        select(jobs.c.id).where(jobs.c.id == old.job_id).with_for_update(key_share=True)
    )
    by = replace(origin, reviewer=old.reviewer, verified=old.verified)
    mine = _mine(old.job_id, old.about, by)
    last = connection.execute(select(*SHOWN).where(*mine, judgements.c.current)).one()
    if last.verdict == WITHDRAWN:
        return _judgement(last)
    values = {"verdict": WITHDRAWN, "about": old.about, "blind": old.blind}
    withdrawal = _append(connection, old.job_id, values | {"queue_id": last.queue_id}, by)
    connection.execute(update(judgements).where(*mine).values(note=None))
    return withdrawal


def _find_same(
    connection: Connection, job_id: str, values: Mapping[str, Any], origin: Origin
) -> ReviewerJudgement | None:
    """Return the reviewer's current judgement if it has the same content, so that a repeated
    request adds no row. A judgement for another review queue counts as different. So does a blind
    judgement (made without seeing the score) after one that was not blind."""
    query = select(*SHOWN).where(*_mine(job_id, str(values["about"]), origin), judgements.c.current)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    is_same = (
        all(getattr(row, name) == values.get(name) for name in OPINION_FIELDS)
        and row.spans == [dict(span) for span in values.get("spans") or ()]
        and values.get("queue_id") in (None, row.queue_id)
        and (row.blind or not values.get("blind"))
    )
    return _judgement(row) if is_same else None


def _mine(job_id: str, about: str, origin: Origin) -> tuple[ColumnElement[bool], ...]:
    """Return the SQL conditions that select one reviewer's judgements of one part of a job. A
    verified and an unverified reviewer of the same name are different people."""
    return (
        judgements.c.tenant == origin.tenant,
        judgements.c.job_id == job_id,
        judgements.c.reviewer == origin.reviewer,
        judgements.c.verified == origin.verified,
        judgements.c.about == about,
    )


def _append(
    connection: Connection, job_id: str, values: Mapping[str, Any], origin: Origin
) -> ReviewerJudgement:
    before = connection.execute(
        update(judgements)
        .where(*_mine(job_id, values["about"], origin), judgements.c.current)
        .values(current=False)
        .returning(judgements.c.id, judgements.c.queue_id)
    ).one_or_none()
    who = {name: getattr(origin, name) for name in Origin.__dataclass_fields__}
    row = {**values, **who, "id": new_id(), "job_id": job_id}
    if before is not None:  # a change belongs to the queue of the first judgement
        row["supersedes"] = before.id
        row["queue_id"] = row.get("queue_id") or before.queue_id
    return _judgement(connection.execute(insert(judgements).values(**row).returning(*SHOWN)).one())


def find(connection: Connection, judgement_id: str, tenant: str) -> ReviewerJudgement:
    """Return the judgement. Raises UnknownJudgement."""
    query = select(*SHOWN).where(judgements.c.id == judgement_id, judgements.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownJudgement(f"there is no judgement {judgement_id[:64]!r}")
    return _judgement(row)


@dataclass(frozen=True)
class JudgementFilter:
    """A selection of a tenant's judgements. `history` includes superseded and withdrawn ones."""

    tenant: str
    job_id: str | None = None
    batch_id: str | None = None
    queue_id: str | None = None
    reviewer: str | None = None
    verdict: str | None = None
    history: bool = False
    verified: bool | None = None
    about: str | None = None
    note: str | None = None

    @property
    def filters(self) -> list[ColumnElement[bool]]:
        fields = (
            "job_id", "batch_id", "queue_id", "reviewer", "verdict", "verified", "about", "note",
        )  # fmt: skip
        values = {name: value for name in fields if (value := getattr(self, name)) is not None}
        conditions: list[ColumnElement[bool]] = [judgements.c.tenant == self.tenant]
        conditions += [judgements.c[name] == value for name, value in values.items()]
        if not self.history:
            conditions += [judgements.c.current, judgements.c.verdict != WITHDRAWN]
        return conditions


def page_of(
    connection: Connection, selection: JudgementFilter, limit: int, after: str | None = None
) -> tuple[list[ReviewerJudgement], bool]:
    """Return the page of judgements, newest first, and True if more follow."""
    query = select(*SHOWN).where(*selection.filters).order_by(judgements.c.id.desc())
    if after is not None:
        query = query.where(judgements.c.id < after)
    rows = connection.execute(query.limit(limit + 1)).all()
    return [_judgement(row) for row in rows[:limit]], len(rows) > limit


def count_of(connection: Connection, selection: JudgementFilter) -> int:
    counted = select(func.count()).select_from(judgements).where(*selection.filters)
    return int(connection.execute(counted).scalar_one())


def count_by_job(
    connection: Connection, tenant: str, ids: Sequence[str], tags: Collection[str] = ()
) -> dict[str, dict[str, int]]:
    """Count the current judgements of each job's score by verdict, and by note if the note is one
    of `tags`."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    query = select(judgements.c.job_id, judgements.c.verdict, judgements.c.note).where(
        *JudgementFilter(tenant, about=SCORE).filters, judgements.c.job_id.in_(ids)
    )
    for job_id, *words in connection.execute(query):
        counts[job_id].update(word for word in words if word in (*OPINIONS, *tags))
    return {job_id: dict(words) for job_id, words in counts.items()}


def list_by_job(
    connection: Connection, selection: JudgementFilter, ids: Sequence[str]
) -> dict[str, list[ReviewerJudgement]]:
    by_job: dict[str, list[ReviewerJudgement]] = {}
    query = select(*SHOWN).where(*selection.filters, judgements.c.job_id.in_(ids))
    for row in connection.execute(query.order_by(judgements.c.id)):
        by_job.setdefault(row.job_id, []).append(_judgement(row))
    return by_job


def list_current(
    connection: Connection, ids: Sequence[str], queue_id: str | None
) -> list[tuple[str, str, str, float | None, bool]]:
    """Return (job, reviewer, verdict, human score, blind) of the current judgements of these jobs'
    scores, ordered by id. With `queue_id` only judgements made for this queue are returned."""
    query = select(
        judgements.c.job_id,
        judgements.c.reviewer,
        judgements.c.verdict,
        judgements.c.human_score,
        judgements.c.blind,
    ).where(
        judgements.c.job_id == func.any(literal(sorted(set(ids)), ARRAY(String))),
        judgements.c.current,
        judgements.c.verdict != WITHDRAWN,
        judgements.c.about == SCORE,
    )
    if queue_id is not None:
        query = query.where(judgements.c.queue_id == queue_id)
    order = judgements.c.job_id, judgements.c.reviewer, judgements.c.verified
    rows = connection.execute(query.order_by(*order))
    opinions = {(row.job_id, row.reviewer): tuple(row)[2:] for row in rows}
    return [(*key, *opinion) for key, opinion in opinions.items()]  # verified names count


def find_job_ids(connection: Connection, selection: JudgementFilter) -> list[str]:
    query = select(judgements.c.job_id).where(*selection.filters).distinct()
    return sorted(connection.execute(query).scalars())


class JudgementState(NamedTuple):
    """A value that changes when the judgements change."""

    number: int
    digest: str


def state_of(connection: Connection, selection: JudgementFilter) -> JudgementState:
    """Return a value that changes when a judgement is added, changed or withdrawn, or when a job
    ends."""
    number = cast(func.hashtextextended(judgements.c.id, 0), Numeric)  # a sum has no order
    query = select(func.count(), func.sum(number)).where(*selection.filters)
    count, total = connection.execute(query).one()
    return JudgementState(count, str(total or 0))


def is_judged(job_id: ColumnElement[Any], selection: JudgementFilter) -> ColumnElement[bool]:
    """Return the SQL condition that a job has a judgement that matches the selection."""
    mine = select(judgements.c.id).where(judgements.c.job_id == job_id, *selection.filters)
    return exists(mine)


def opinions_of(job_id: ColumnElement[Any], selection: JudgementFilter) -> ColumnElement[int]:
    """Return an SQL expression for the number of a job's judgements in the selection."""
    counted = (
        select(judgements.c.job_id, func.count().label("given"))
        .where(*selection.filters)
        .group_by(judgements.c.job_id)
        .subquery()
    )
    by_job = select(func.jsonb_object_agg(counted.c.job_id, counted.c.given)).scalar_subquery()
    return func.coalesce(cast(by_job.op("->>")(job_id), Integer), 0)


def _judgement(row: Row[Any]) -> ReviewerJudgement:
    return ReviewerJudgement(**row._asdict())
