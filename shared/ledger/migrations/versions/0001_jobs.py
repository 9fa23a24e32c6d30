"""Jobs and idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
FINAL = "status IN ('succeeded', 'failed', 'cancelled')"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False, server_default="queued"),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("result", sa.JSON),
        sa.Column("error", sa.JSON),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("started_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.Column("lease_expires_at", INSTANT),
        sa.Column("resend_at", INSTANT, nullable=False),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')",
            name="ck_jobs_status",
        ),
        sa.CheckConstraint(f"({FINAL}) = (finished_at IS NOT NULL)", name="ck_jobs_finished"),
        sa.CheckConstraint("(status = 'succeeded') = (result IS NOT NULL)", name="ck_jobs_result"),
        sa.CheckConstraint("(status = 'failed') = (error IS NOT NULL)", name="ck_jobs_error"),
        sa.CheckConstraint(
            "(status = 'running') = (lease_expires_at IS NOT NULL)", name="ck_jobs_lease"
        ),
    )
    op.create_index("ix_jobs_status", "jobs", ["status", "id"])
    op.create_index("ix_jobs_metric", "jobs", ["metric", "id"])
    op.create_index(
        "ix_jobs_open",
        "jobs",
        ["resend_at"],
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column(
            "job_id",
            sa.String,
            sa.ForeignKey("jobs.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"),
            nullable=False,
        ),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
    op.create_index("ix_idempotency_keys_job_id", "idempotency_keys", ["job_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table("idempotency_keys")
    op.drop_table("jobs")
