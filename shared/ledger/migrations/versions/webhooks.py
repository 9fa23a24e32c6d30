"""Webhook endpoints and deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "webhooks"
down_revision = "tenants_and_keys"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("url", sa.String, nullable=False),
        sa.Column("description", sa.String, nullable=False, server_default=""),
        sa.Column("events", sa.ARRAY(sa.String), nullable=False),
        sa.Column("secret", sa.String, nullable=False),
        sa.Column("earlier_secret", sa.String),
        sa.Column("earlier_until", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("succeeded_at", INSTANT),
        sa.Column("held_until", INSTANT),
        sa.Column("disabled_at", INSTANT),
        sa.Column("disabled_reason", sa.String),
        sa.CheckConstraint(
            "(disabled_at IS NULL) = (disabled_reason IS NULL)",
            name="disabled",
        ),
        sa.CheckConstraint(
            "(earlier_secret IS NULL) = (earlier_until IS NULL)",
            name="earlier",
        ),
    )
    op.create_index("ix_webhook_endpoints_tenant", "webhook_endpoints", ["tenant", "id"])
    _deliveries()


def _deliveries() -> None:
    endpoint = sa.ForeignKey("webhook_endpoints.id", ondelete="CASCADE")
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("endpoint_id", sa.String, endpoint, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("event", sa.String, nullable=False),
        sa.Column("body", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False, server_default="pending"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("claimed_until", INSTANT),
        sa.Column("last_status", sa.Integer),
        sa.Column("last_error", sa.String),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("ended_at", INSTANT),
        sa.CheckConstraint("status IN ('pending', 'succeeded', 'failed')", name="status"),
        sa.CheckConstraint("(status = 'pending') = (ended_at IS NULL)", name="ended"),
    )
    table, pending = "webhook_deliveries", sa.text("status = 'pending'")
    op.create_index("ix_webhook_deliveries_endpoint", table, ["endpoint_id", "created_at", "id"])
    op.create_index(
        "ix_webhook_deliveries_due", table, ["endpoint_id", "due_at"], postgresql_where=pending
    )
    op.create_index(
        "ix_webhook_deliveries_claimed", table, ["claimed_until"], postgresql_where=pending
    )
    op.create_index(
        "ix_webhook_deliveries_ended",
        table,
        ["ended_at"],
        postgresql_where=sa.text("status <> 'pending'"),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhook_endpoints")
