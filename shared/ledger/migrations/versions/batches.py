"""Files, batches and their lines; what keeps no text forgets it when it ends."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "batches"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
NOW = sa.func.now()
MOMENTS = (
    "in_progress",
    "finalizing",
    "completed",
    "failed",
    "expired",
    "cancelling",
    "cancelled",
)

# The last write of a job is the one place that every end passes: a worker's result, a failure, a
# cancellation, attempts used up. What is left of the request is what every room's request has.
FORGET = """
CREATE FUNCTION touchstone_forget_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.request := (
        SELECT json_object_agg(key, value) FROM json_each(NEW.request)
        WHERE key IN (
            'model', 'variant', 'seed', 'metadata', 'context', 'webhook', 'do_not_store_text'
        )
    );
    RETURN NEW;
END $$;
CREATE TRIGGER forget_text BEFORE UPDATE ON jobs FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
      AND NEW.request ->> 'do_not_store_text' = 'true')
EXECUTE FUNCTION touchstone_forget_text();
"""


def upgrade() -> None:
    """Forward."""
    op.add_column("jobs", sa.Column("batch_id", sa.String))
    op.create_index(
        "ix_jobs_batch_id",
        "jobs",
        ["batch_id", "id"],
        postgresql_where=sa.text("batch_id IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_open_batch",
        "jobs",
        ["batch_id"],
        postgresql_where=sa.text("batch_id IS NOT NULL AND status IN ('queued', 'running')"),
    )
    op.execute(FORGET)
    _files()
    _batches()
    _lines()


def _files() -> None:
    op.create_table(
        "files",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False, server_default="default"),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("filename", sa.String, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False, server_default=NOW),
        sa.Column("expires_at", INSTANT),
        sa.CheckConstraint("purpose IN ('batch', 'batch_output')", name="ck_files_purpose"),
    )
    op.create_index("ix_files_expires_at", "files", ["expires_at"])
    op.create_index("ix_files_tenant", "files", ["tenant", "id"])


def _batches() -> None:
    counts = ("read_lines", "total", "completed", "failed")
    op.create_table(
        "batches",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False, server_default="default"),
        sa.Column("key", sa.String),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column("endpoint", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False, server_default="validating"),
        sa.Column("ending", sa.String),
        sa.Column("input_file_id", sa.String, nullable=False),
        sa.Column("output_file_id", sa.String),
        sa.Column("error_file_id", sa.String),
        sa.Column("output_seconds", sa.Integer),
        sa.Column("metadata", sa.JSON, nullable=False),
        sa.Column("errors", sa.JSON),
        sa.Column("read_bytes", sa.BigInteger, nullable=False, server_default="0"),
        *(sa.Column(name, sa.Integer, nullable=False, server_default="0") for name in counts),
        sa.Column("revision", sa.Integer, nullable=False, server_default="1"),
        sa.Column("keeps_text", sa.Boolean, nullable=False, server_default=sa.text("true")),
        sa.Column("report_job_id", sa.String),
        sa.Column("fed_at", INSTANT),
        *(sa.Column(f"{moment}_at", INSTANT) for moment in MOMENTS),
        sa.Column("created_at", INSTANT, nullable=False, server_default=NOW),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "status IN ('validating', 'failed', 'in_progress', 'finalizing', 'completed', "
            "'expired', 'cancelling', 'cancelled')",
            name="ck_batches_status",
        ),
        sa.CheckConstraint(
            "ending IN ('completed', 'expired', 'cancelled')", name="ck_batches_ending"
        ),
        sa.CheckConstraint("completed + failed <= total", name="ck_batches_counts"),
        sa.UniqueConstraint("tenant", "key", name="uq_batches_key"),
    )
    op.create_index("ix_batches_tenant", "batches", ["tenant", "id"])
    op.create_index(
        "ix_batches_open",
        "batches",
        ["id"],
        postgresql_where=sa.text(
            "status IN ('validating', 'in_progress', 'finalizing', 'cancelling')"
        ),
    )


def _lines() -> None:
    op.create_table(
        "batch_lines",
        sa.Column(
            "batch_id",
            sa.String,
            sa.ForeignKey("batches.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("custom_id", sa.String, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False, server_default="waiting"),
        sa.Column("job_id", sa.String),
        sa.Column("caller", sa.JSON),
        sa.UniqueConstraint("batch_id", "custom_id", name="uq_batch_lines_custom_id"),
        sa.CheckConstraint(
            "status IN ('waiting', 'open', 'succeeded', 'failed', 'cancelled', 'expired')",
            name="ck_batch_lines_status",
        ),
    )
    op.create_index("ix_batch_lines_fingerprint", "batch_lines", ["batch_id", "fingerprint"])
    for status, column in (("waiting", ["batch_id", "number"]), ("open", ["job_id"])):
        op.create_index(
            f"ix_batch_lines_{status}",
            "batch_lines",
            column,
            postgresql_where=sa.text(f"status = '{status}'"),
        )


def downgrade() -> None:
    """Back."""
    for table in ("batch_lines", "batches", "files"):
        op.drop_table(table)
    op.execute("DROP TRIGGER forget_text ON jobs; DROP FUNCTION touchstone_forget_text()")
    op.drop_index("ix_jobs_open_batch", "jobs")
    op.drop_index("ix_jobs_batch_id", "jobs")
    op.drop_column("jobs", "batch_id")
