"""The tables of the ledger. Constraints, not code, ensure that a job has one final state.

The bytes of files are in the file store. A batch line has a row once it is validated, and a job
once it is fed to the queue. 50,000 lines are thus 50,000 small rows, and only a limited number of
them are in the queue. A delivery's id is its `webhook-id`, and its body holds the exact bytes that
are sent.
"""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    and_,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY as PG_ARRAY
from sqlalchemy.dialects.postgresql import JSONB

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
    Column("batch_id", String),  # of a batch's line; such a job travels in the batch queue
    Column("waiting_for", Json),  # the model that is not ready, while the job is queued for it
    Column("waits", Integer, nullable=False, server_default="0"),  # attempts that only waited
    Column("claimed_by", String),  # the process of the last attempt, as its sessions name it
    Column("request_id", String),  # of the HTTP request that made it, or its batch
    Column("has_facts", Boolean, nullable=False, server_default=text("false")),  # of no batch
    Column("parent_job_id", String),  # the job that its request was edited from
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
# Written out, not bound: the planner must see which partial index holds these jobs, and which
# partitions, all of whose jobs have ended, hold none of them.
QUEUED: ColumnElement[str] = literal_column("'queued'")
RUNNING: ColumnElement[str] = literal_column("'running'")
IS_QUEUED, IS_RUNNING = jobs.c.status == QUEUED, jobs.c.status == RUNNING
IS_OPEN = jobs.c.status.in_((QUEUED, RUNNING))
IS_WAITING = and_(IS_QUEUED, jobs.c.waiting_for.is_not(None))
Index("ix_jobs_status", jobs.c.status, jobs.c.id)
Index("ix_jobs_metric", jobs.c.metric, jobs.c.id)
Index("ix_jobs_tenant", jobs.c.tenant, jobs.c.id)
Index(
    "ix_jobs_parent_job_id",
    jobs.c.parent_job_id,
    postgresql_where=jobs.c.parent_job_id.is_not(None),
)
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
Index(
    "ix_jobs_without_facts",
    jobs.c.finished_at,
    postgresql_where=text("finished_at IS NOT NULL AND batch_id IS NULL AND NOT has_facts"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant", String, primary_key=True, server_default=DEFAULT_TENANT),
    Column("key", String, primary_key=True),
    Column("fingerprint", String, nullable=False),  # of the request that first used it
    Column(
        "job_id",
        ForeignKey("jobs.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
        nullable=False,
    ),
    Column("job_ids", PG_ARRAY(String)),  # all of them, where one call made many
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Index("ix_idempotency_keys_created_at", "created_at"),
    Index("ix_idempotency_keys_job_id", "job_id"),
)

job_steps = Table(  # what a job that runs has been told by models; a trigger empties it at its end
    "job_steps",
    metadata,
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("fingerprint", String, nullable=False),  # SHA-256 of what was asked
    Column("content", String, nullable=False),  # JSON; encrypted where no text may be stored
    Column("created_at", Instant, nullable=False, server_default=func.now()),
)


OPEN = ("validating", "in_progress", "finalizing", "cancelling")
ENDED = ("completed", "failed", "expired", "cancelled")

files = Table(
    "files",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time of creation
    Column("tenant", String, nullable=False, server_default=DEFAULT_TENANT),
    Column("purpose", String, nullable=False),
    Column("filename", String, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("expires_at", Instant),
    Column("key", String),  # of the form that brought it: the same one is the same file
    Column("sha256", String),  # of the content of an upload
    CheckConstraint("purpose IN ('batch', 'batch_output')", name="purpose"),
    UniqueConstraint("tenant", "key", name="uq_files_key"),
)
Index("ix_files_expires_at", files.c.expires_at)
Index("ix_files_tenant", files.c.tenant, files.c.id)

file_stores = Table(  # folders that were made for files: one that is missing is away
    "file_stores",
    metadata,
    Column("folder", String, primary_key=True),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
)

batches = Table(
    "batches",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time of creation
    Column("tenant", String, nullable=False, server_default=DEFAULT_TENANT),
    Column("key", String),  # an Idempotency-Key: the same one is the same batch
    Column("metric", String, nullable=False),
    Column("endpoint", String, nullable=False),
    Column("status", String, nullable=False, server_default="validating"),
    Column("ending", String),  # what it becomes once its files are written
    Column("input_file_id", String, nullable=False),
    Column("output_file_id", String),
    Column("error_file_id", String),
    Column("output_seconds", Integer),  # how long its files are kept
    Column("metadata", Json, nullable=False),
    Column("errors", Json),
    Column("read_bytes", BigInteger, nullable=False, server_default="0"),  # validated so far
    Column("read_lines", Integer, nullable=False, server_default="0"),
    Column("total", Integer, nullable=False, server_default="0"),
    Column("completed", Integer, nullable=False, server_default="0"),
    Column("failed", Integer, nullable=False, server_default="0"),
    Column("erased", Integer, nullable=False, server_default="0"),  # lines deleted at request
    Column("revision", Integer, nullable=False, server_default="1"),  # grows with every change
    Column("keeps_text", Boolean, nullable=False, server_default=text("true")),
    Column("accept_untrained_languages", Boolean, nullable=False, server_default=text("false")),
    Column("language", String),  # of lines that state none
    Column("report_job_id", String),
    Column("request_id", String),  # of the HTTP request that made it
    Column("fed_at", Instant),  # who waited longest is fed first
    Column("attempts", Integer, nullable=False, server_default="0"),  # at its step: did not return
    Column("attempted_at", Instant),
    Column("waits", String),  # why its step waits: the file store is away
    *(
        Column(f"{moment}_at", Instant)
        for moment in (
            "in_progress",
            "finalizing",
            "completed",
            "failed",
            "expired",
            "cancelling",
            "cancelled",
        )
    ),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("expires_at", Instant, nullable=False),
    CheckConstraint(
        "status IN ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', "
        "'cancelling', 'cancelled')",
        name="status",
    ),
    CheckConstraint("ending IN ('completed', 'expired', 'cancelled', 'failed')", name="ending"),
    CheckConstraint("completed + failed <= total", name="counts"),
    UniqueConstraint("tenant", "key", name="uq_batches_key"),
)
Index("ix_batches_tenant", batches.c.tenant, batches.c.id)
Index(
    "ix_batches_open",
    batches.c.id,
    postgresql_where=text("status IN ('validating', 'in_progress', 'finalizing', 'cancelling')"),
)

batch_lines = Table(
    "batch_lines",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),  # of the line in the input file, from 1
    Column("custom_id", String, nullable=False),
    Column("fingerprint", String, nullable=False),  # `jobs.fingerprint` of what decides the score
    Column("request", RequestJson),  # validated; moves to the job when there is one
    Column("status", String, nullable=False, server_default="waiting"),
    Column("job_id", String),  # lines with the same fingerprint share a job
    Column("caller", Json),  # metadata and context, which differ between such lines
    Column("has_facts", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("batch_id", "custom_id", name="uq_batch_lines_custom_id"),
    CheckConstraint(
        "status IN ('waiting', 'open', 'succeeded', 'failed', 'cancelled', 'expired')",
        name="status",
    ),
    CheckConstraint("(status = 'waiting') = (request IS NOT NULL)", name="request"),
)
Index("ix_batch_lines_fingerprint", batch_lines.c.batch_id, batch_lines.c.fingerprint)
Index(
    "ix_batch_lines_waiting",
    batch_lines.c.batch_id,
    batch_lines.c.number,
    postgresql_where=text("status = 'waiting'"),
)
Index("ix_batch_lines_open", batch_lines.c.job_id, postgresql_where=text("status = 'open'"))

LINE_ENDED = "status IN ('succeeded', 'failed', 'cancelled', 'expired')"
Index(
    "ix_batch_lines_without_facts",
    batch_lines.c.batch_id,
    batch_lines.c.number,
    postgresql_where=text(f"{LINE_ENDED} AND NOT has_facts"),
)

result_facts = Table(  # the results table: one row per ended line or job
    "result_facts",
    metadata,
    Column("source", String, primary_key=True),  # the batch, or the job of no batch
    Column("line", Integer, primary_key=True),  # of the batch; 0 for a job of no batch
    Column(
        "job_id", ForeignKey("jobs.id", ondelete="CASCADE"), index=True
    ),  # shared by equal lines
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), index=True),
    Column("tenant", String, nullable=False),
    Column("custom_id", String),
    Column("metric", String, nullable=False),
    Column("metric_version", String),
    Column("variant", String),
    Column("model", String),
    Column("created_at", Instant),
    Column("finished_at", Instant),
    Column("status", String, nullable=False),
    Column("verdict", String),
    Column("score", Double),
    Column("chance", Double),  # the metric's own figure against chance
    Column("parts", ARRAY(Double), nullable=False),  # in the order of the contract
    Column("decision_sent", String),
    Column("decision_stated", String),
    Column("language", String),
    Column("reasons", ARRAY(String), nullable=False),  # why it is surprising
    Column("facets", ARRAY(String), nullable=False, server_default="{}"),  # as `group=…`
    Column("surprise", Integer, nullable=False),  # place of the first reason among the rules
    Column("sentence", String, nullable=False),  # our own words
    Column("warnings", Integer, nullable=False),
    Column("snippet", String),  # null with `do_not_store_text`
    Column("metadata", JSONB, nullable=False),
    Column("text_key", String),
    Column("rules", String, nullable=False),  # SHA-256 of those that gave the reasons
    Index("ix_result_facts_score", "tenant", "batch_id", "score", "line"),
    Index("ix_result_facts_line", "tenant", "batch_id", "line"),
    Index("ix_result_facts_metric", "tenant", "metric", "finished_at"),
    Index("ix_result_facts_text_key", "tenant", "text_key"),
    Index("ix_result_facts_rules", "metric", "rules"),
    Index("ix_result_facts_metadata", "metadata", postgresql_using="gin"),
)


score_hours = Table(  # sums of an hour's results, which outlive the jobs
    "score_hours",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("metric", String, primary_key=True),
    Column("metric_version", String, primary_key=True),  # empty: not known
    Column("model", String, primary_key=True),
    Column("variant", String, primary_key=True),
    Column("hour", Instant, primary_key=True),
    Column("results", Integer, nullable=False),
    Column("undefined", Integer, nullable=False),  # of these, results without a score
    Column("total", Double, nullable=False),  # of the scores
    Column("squares", Double, nullable=False),  # of the scores
    Column("edited", Integer, nullable=False, server_default="0"),  # left out of all the others
    Column("bins", PG_ARRAY(Integer), nullable=False),  # of the metric's range, lowest first
    Column("verdicts", PG_ARRAY(Integer), nullable=False),  # in the order of `VerdictWord`
    Index("ix_score_hours_hour", "tenant", "hour"),
)

saved_views = Table(  # named filters of a table or columns of a file
    "saved_views",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("kind", String, primary_key=True),  # `results <metric>`, `columns <metric>`
    Column("name", String, primary_key=True),
    Column("value", JSONB, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
)

endpoints = Table(
    "webhook_endpoints",
    metadata,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("url", String, nullable=False),
    Column("description", String, nullable=False, server_default=""),
    Column("events", PG_ARRAY(String), nullable=False),  # empty: every event
    Column("secret", String, nullable=False),  # sealed, see shared/process/encryption.py
    Column("earlier_secret", String),  # sealed; signs beside the other while it is valid
    Column("earlier_until", Instant),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("succeeded_at", Instant),  # the last delivery that arrived
    Column("held_until", Instant),  # pause that the receiver asked for
    Column("disabled_at", Instant),
    Column("disabled_reason", String),
    Column("format", String, nullable=False, server_default="standard-webhooks"),
    Column("authorization", String),  # sealed; the header of that name
    Column("sample", Double, nullable=False, server_default="1"),  # share of the jobs, (0, 1]
    Column("metrics", PG_ARRAY(String), nullable=False, server_default="{}"),  # empty: every one
    Column("parts", Boolean, nullable=False, server_default=text("false")),
    Column("untraced", Integer, nullable=False, server_default="0"),  # jobs that named no trace
    Column("key", String),  # of the request that made it
    Column("rotation_key", String),  # of the request that made its secret
    CheckConstraint(
        "format IN ('standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations')",
        name="format",
    ),
    CheckConstraint("sample > 0 AND sample <= 1", name="sample"),
    CheckConstraint("(disabled_at IS NULL) = (disabled_reason IS NULL)", name="disabled"),
    CheckConstraint("(earlier_secret IS NULL) = (earlier_until IS NULL)", name="earlier"),
    UniqueConstraint("tenant", "key", name="uq_webhook_endpoints_key"),
    Index("ix_webhook_endpoints_tenant", "tenant", "id"),
)

deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", String, primary_key=True),  # the webhook-id, the same for every attempt
    Column("endpoint_id", ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), nullable=False),
    Column("tenant", String, nullable=False),
    Column("event", String, nullable=False),
    Column("body", String, nullable=False),
    Column("status", String, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", Instant, nullable=False, server_default=func.now()),
    Column("claimed_until", Instant),  # an attempt is under way until then
    Column("last_status", Integer),  # HTTP
    Column("last_error", String),  # why the last attempt failed, in our words
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("ended_at", Instant),
    CheckConstraint("status IN ('pending', 'succeeded', 'failed')", name="status"),
    CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
    Index("ix_webhook_deliveries_endpoint", "endpoint_id", "created_at", "id"),
    Index(
        "ix_webhook_deliveries_due",
        "endpoint_id",
        "due_at",
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "ix_webhook_deliveries_claimed",
        "claimed_until",
        postgresql_where=text("status = 'pending'"),
    ),
    Index("ix_webhook_deliveries_ended", "ended_at", postgresql_where=text("status <> 'pending'")),
)

clock = Table(  # one row: the last comparison of the clocks
    "clock",
    metadata,
    Column("id", Boolean, primary_key=True),
    Column("seen_at", Instant, nullable=False, server_default=func.now()),
    CheckConstraint("id", name="one_row"),
)

webhook_tests = Table(  # the last or running test of each endpoint
    "webhook_tests",
    metadata,
    Column("endpoint_id", ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String, nullable=False, unique=True),  # the webhook-id
    Column("body", String, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("claimed_at", Instant),
    Column("ended_at", Instant),
    Column("status", Integer),  # HTTP
    Column("milliseconds", Integer),
    Column("error", String),  # why it did not arrive, in our words
)

review_queues = Table(
    "review_queues",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time
    Column("tenant", String, nullable=False),
    Column("name", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), nullable=False),
    Column("query", Json, nullable=False),  # pairs of the results table's address
    Column("order", String, nullable=False),
    Column("per_line", Integer, nullable=False),
    Column("blind", Boolean, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("rubric", ARRAY(String), nullable=False),
    Column("lines", Integer, nullable=False),
    Column("closed_at", Instant),
    Column("key", String),  # of the request that made it
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    CheckConstraint("\"order\" IN ('random', 'surprising', 'uncertain')", name="order"),
    CheckConstraint("per_line BETWEEN 1 AND 5", name="per_line"),
    UniqueConstraint("tenant", "key", name="uq_review_queues_key"),
    Index("ix_review_queues_tenant", "tenant", "id"),
    Index("ix_review_queues_batch_id", "batch_id"),
)

review_items = Table(
    "review_items",
    metadata,
    Column("queue_id", ForeignKey("review_queues.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),  # from 1
    Column("place", Integer, primary_key=True),  # of the reviewers of the line, from 1
    Column("line", Integer, nullable=False),  # of the batch
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("who", String),  # holds it, or has judged it
    Column("leased_until", Instant),
    Column("done_at", Instant),
    Column("skipped_by", ARRAY(String), nullable=False, server_default=text("'{}'")),
    CheckConstraint("done_at IS NULL OR who IS NOT NULL", name="done"),
    Index("ix_review_items_free", "queue_id", "position", postgresql_where=text("done_at IS NULL")),
)
