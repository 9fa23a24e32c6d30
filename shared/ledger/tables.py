"""What the ledger keeps: constraints, not code, see to it that a job has one final state."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    func,
    text,
)

from shared.ledger.private_requests import RequestJson

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Instant = DateTime(timezone=True)
Json = JSON(none_as_null=True)

DEFAULT_TENANT = "default"  # whose everything is where no keys are asked for
FINAL = ("succeeded", "failed", "cancelled")

jobs = Table(
    "jobs",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time of acceptance
    Column("metric", String, nullable=False),
    Column("tenant", String, nullable=False, server_default=DEFAULT_TENANT),
    Column("status", String, nullable=False, server_default="queued"),
    Column("request", RequestJson, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("result", Json),
    Column("error", Json),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("lease_expires_at", Instant),
    Column("resend_at", Instant, nullable=False),  # when the scheduler looks after it
    Column("batch_id", String),  # of a batch's line; such a job travels in the batch lane
    Column("waiting_for", Json),  # the model that is not ready, while the job is queued for it
    Column("waits", Integer, nullable=False, server_default="0"),  # attempts that only waited
    Column("claimed_by", String),  # the process of the last attempt, as its sessions name it
    CheckConstraint(
        "status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')", name="status"
    ),
    CheckConstraint(
        "(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)",
        name="finished",
    ),
    CheckConstraint("(status = 'succeeded') = (result IS NOT NULL)", name="result"),
    CheckConstraint("(status = 'failed') = (error IS NOT NULL)", name="error"),
    CheckConstraint("(status = 'running') = (lease_expires_at IS NOT NULL)", name="lease"),
)
tried_attempts: ColumnElement[int] = jobs.c.attempts - jobs.c.waits  # attempts that count
IS_WAITING = and_(jobs.c.status == "queued", jobs.c.waiting_for.is_not(None))
Index("ix_jobs_status", jobs.c.status, jobs.c.id)
Index("ix_jobs_metric", jobs.c.metric, jobs.c.id)
Index("ix_jobs_tenant", jobs.c.tenant, jobs.c.id)
Index(
    "ix_jobs_open_tenant",
    jobs.c.tenant,
    postgresql_where=text("status IN ('queued', 'running')"),
)
Index("ix_jobs_batch_id", jobs.c.batch_id, jobs.c.id, postgresql_where=jobs.c.batch_id.is_not(None))
Index(
    "ix_jobs_open_batch",
    jobs.c.batch_id,
    postgresql_where=text("batch_id IS NOT NULL AND status IN ('queued', 'running')"),
)
FRESH = "status = 'queued' AND attempts = 0"
Index(  # whose turn it is, asked at each claim
    "ix_jobs_turn",
    *(jobs.c[name] for name in ("metric", "tenant", "id")),
    postgresql_where=text(f"{FRESH} AND batch_id IS NULL"),
)
Index(
    "ix_jobs_turn_batch",
    *(jobs.c[name] for name in ("metric", "tenant", "id")),
    postgresql_where=text(f"{FRESH} AND batch_id IS NOT NULL"),
)
Index(
    "ix_jobs_open",
    jobs.c.resend_at,
    postgresql_where=text("status IN ('queued', 'running')"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant", String, primary_key=True, server_default=DEFAULT_TENANT),
    Column("key", String, primary_key=True),
    Column("fingerprint", String, nullable=False),  # SHA-256 of the request that first used it
    Column(
        "job_id",
        ForeignKey("jobs.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        nullable=False,
    ),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Index("ix_idempotency_keys_created_at", "created_at"),
    Index("ix_idempotency_keys_job_id", "job_id"),
)
