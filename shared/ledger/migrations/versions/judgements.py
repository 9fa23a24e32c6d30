"""What people think of scores, the queues that give them lines, and whose key judges."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "judgements"
down_revision = "untrained_languages"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Forward."""
    op.add_column("api_keys", sa.Column("reviewer", sa.String))
    op.create_table("judgements", *judgements())
    for name, *indexed in (
        ("tenant", "tenant", "id"),
        ("job_id", "job_id", "reviewer"),
        ("queue_id", "queue_id"),
    ):
        op.create_index(f"ix_judgements_{name}", "judgements", indexed)
    op.create_index(
        "uq_judgements_current",
        "judgements",
        ["job_id", "reviewer", "verified", "about"],
        unique=True,
        postgresql_where=sa.text("current"),
    )
    op.create_table("review_queues", *queues())
    op.create_index("ix_review_queues_tenant", "review_queues", ["tenant", "id"])
    op.create_index("ix_review_queues_batch_id", "review_queues", ["batch_id"])
    op.create_table("review_items", *items())
    op.create_index("ix_review_items_job_id", "review_items", ["job_id"])
    op.create_index(
        "ix_review_items_free",
        "review_items",
        ["queue_id", "position"],
        postgresql_where=sa.text("done_at IS NULL"),
    )


def judgements() -> list[sa.schema.SchemaItem]:
    """Of the table."""
    return [
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column(
            "job_id", sa.String, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("reviewer", sa.String, nullable=False),
        sa.Column("verified", sa.Boolean, nullable=False),
        sa.Column("verdict", sa.String, nullable=False),
        sa.Column("about", sa.String, nullable=False, server_default="score"),
        sa.Column("human_score", sa.Double),
        sa.Column("human_label", sa.String),
        sa.Column("note", sa.String),
        sa.Column("blind", sa.Boolean, nullable=False),
        sa.Column("queue_id", sa.String),
        sa.Column("seconds", sa.Float),
        sa.Column("supersedes", sa.String, unique=True),
        sa.Column("current", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("source", sa.String),
        sa.Column("key_id", sa.String),
        sa.Column("address_family", sa.String),
        sa.Column("request_id", sa.String),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.CheckConstraint(
            "verdict IN ('agree', 'disagree', 'unsure', 'withdrawn')", name="verdict"
        ),
        sa.CheckConstraint("human_score >= 0 AND human_score <= 1", name="human_score"),
        sa.CheckConstraint("length(note) <= 2000", name="note"),
    ]


def queues() -> list[sa.schema.SchemaItem]:
    """Of the table."""
    return [
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("metric", sa.String, nullable=False),
        sa.Column(
            "batch_id", sa.String, sa.ForeignKey("batches.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("query", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("order", sa.String, nullable=False),
        sa.Column("per_line", sa.Integer, nullable=False),
        sa.Column("blind", sa.Boolean, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("rubric", sa.ARRAY(sa.String), nullable=False),
        sa.Column("lines", sa.Integer, nullable=False),
        sa.Column("closed_at", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.CheckConstraint("\"order\" IN ('random', 'surprising', 'uncertain')", name="order"),
        sa.CheckConstraint("per_line BETWEEN 1 AND 5", name="per_line"),
    ]


def items() -> list[sa.schema.SchemaItem]:
    """Of the table."""
    return [
        sa.Column(
            "queue_id",
            sa.String,
            sa.ForeignKey("review_queues.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column(
            "job_id", sa.String, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("who", sa.String),
        sa.Column("leased_until", INSTANT),
        sa.Column("done_at", INSTANT),
        sa.Column(
            "skipped_by", sa.ARRAY(sa.String), nullable=False, server_default=sa.text("'{}'")
        ),
        sa.CheckConstraint("done_at IS NULL OR who IS NOT NULL", name="done"),
    ]


def downgrade() -> None:
    """Back."""
    for table in ("review_items", "review_queues", "judgements"):
        op.drop_table(table)
    op.drop_column("api_keys", "reviewer")
