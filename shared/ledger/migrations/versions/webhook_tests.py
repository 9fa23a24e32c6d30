"""Tests of webhook endpoints, one of each at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "webhook_tests"
down_revision = "bulk_keys"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Forward."""
    endpoint = sa.ForeignKey("webhook_endpoints.id", ondelete="CASCADE")
    op.create_table(
        "webhook_tests",
        sa.Column("endpoint_id", sa.String, endpoint, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("body", sa.String, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("claimed_at", INSTANT),
        sa.Column("ended_at", INSTANT),
        sa.Column("status", sa.Integer),
        sa.Column("milliseconds", sa.Integer),
        sa.Column("error", sa.String),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("webhook_tests")
