"""What tables show of every finished job of a metric, one row a line; old ones follow by and by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "result_facts"
down_revision = "webhook_tests"
branch_labels = None
depends_on = None

ENDED = "status IN ('succeeded', 'failed', 'cancelled', 'expired')"


def upgrade() -> None:
    """Forward."""
    op.drop_table("batch_items")
    for table in ("jobs", "batch_lines"):
        op.add_column(
            table, sa.Column("has_facts", sa.Boolean, nullable=False, server_default=sa.false())
        )
    op.create_index(
        "ix_jobs_without_facts",
        "jobs",
        ["finished_at"],
        postgresql_where=sa.text("finished_at IS NOT NULL AND batch_id IS NULL AND NOT has_facts"),
    )
    op.create_index(
        "ix_batch_lines_without_facts",
        "batch_lines",
        ["batch_id", "number"],
        postgresql_where=sa.text(f"{ENDED} AND NOT has_facts"),
    )
    op.create_table("result_facts", *columns())
    for name, *indexed in (
        ("score", "tenant", "batch_id", "score", "line"),
        ("line", "tenant", "batch_id", "line"),
        ("metric", "tenant", "metric", "finished_at"),
        ("text_key", "tenant", "text_key"),
        ("job_id", "job_id"),
        ("batch_id", "batch_id"),
        ("rules", "metric", "rules"),
    ):
        op.create_index(f"ix_result_facts_{name}", "result_facts", indexed)
    op.create_index(
        "ix_result_facts_metadata", "result_facts", ["metadata"], postgresql_using="gin"
    )


def columns() -> list[sa.Column[object]]:
    """Of the table."""
    instant = sa.DateTime(timezone=True)
    return [
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("line", sa.Integer, primary_key=True),
        sa.Column("job_id", sa.String, sa.ForeignKey("jobs.id", ondelete="CASCADE")),
        sa.Column("batch_id", sa.String, sa.ForeignKey("batches.id", ondelete="CASCADE")),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("custom_id", sa.String),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column("metric_version", sa.String),
        sa.Column("variant", sa.String),
        sa.Column("model", sa.String),
        sa.Column("created_at", instant),
        sa.Column("finished_at", instant),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("verdict", sa.String),
        sa.Column("score", sa.Double),
        sa.Column("chance", sa.Double),
        sa.Column("parts", sa.ARRAY(sa.Double), nullable=False),
        sa.Column("label_sent", sa.String),
        sa.Column("label_stated", sa.String),
        sa.Column("language", sa.String),
        sa.Column("reasons", sa.ARRAY(sa.String), nullable=False),
        sa.Column("surprise", sa.Integer, nullable=False),
        sa.Column("sentence", sa.String, nullable=False),
        sa.Column("warnings", sa.Integer, nullable=False),
        sa.Column("snippet", sa.String),
        sa.Column("metadata", JSONB, nullable=False),
        sa.Column("text_key", sa.String),
        sa.Column("rules", sa.String, nullable=False),
    ]


def downgrade() -> None:
    """Back."""
    op.drop_table("result_facts")
    op.drop_index("ix_jobs_without_facts", "jobs")
    op.drop_index("ix_batch_lines_without_facts", "batch_lines")
    for table in ("jobs", "batch_lines"):
        op.drop_column(table, "has_facts")
    op.create_table(
        "batch_items",
        sa.Column(
            "batch_id",
            sa.String,
            sa.ForeignKey("batches.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("rules", sa.String, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("reasons", sa.ARRAY(sa.String), nullable=False),
    )
