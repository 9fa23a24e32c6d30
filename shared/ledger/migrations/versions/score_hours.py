"""Scores by the hour, which outlive the jobs; saved views and mappings of tables; jobs that another
was edited from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "score_hours"
down_revision = "judgements"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "score_hours",
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("metric", sa.String, primary_key=True),
        sa.Column("metric_version", sa.String, primary_key=True),
        sa.Column("model", sa.String, primary_key=True),
        sa.Column("variant", sa.String, primary_key=True),
        sa.Column("hour", INSTANT, primary_key=True),
        sa.Column("results", sa.Integer, nullable=False),
        sa.Column("undefined", sa.Integer, nullable=False),
        sa.Column("total", sa.Double, nullable=False),
        sa.Column("squares", sa.Double, nullable=False),
        sa.Column("bins", ARRAY(sa.Integer), nullable=False),
        sa.Column("verdicts", ARRAY(sa.Integer), nullable=False),
    )
    op.create_index("ix_score_hours_hour", "score_hours", ["tenant", "hour"])
    op.create_table(
        "saved_views",
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("value", JSONB, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
    )
    op.add_column("jobs", sa.Column("parent_job_id", sa.String))
    op.create_index(
        "ix_jobs_parent_job_id",
        "jobs",
        ["parent_job_id"],
        postgresql_where=sa.text("parent_job_id IS NOT NULL"),
    )


def downgrade() -> None:
    """Back."""
    op.drop_index("ix_jobs_parent_job_id", "jobs")
    op.drop_column("jobs", "parent_job_id")
    op.drop_table("saved_views")
    op.drop_table("score_hours")
