"""Endpoints that scores are pushed to; a job's trace outlives its text."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "score_pushes"
down_revision = "bulk_nul"
branch_labels = None
depends_on = None

FORMATS = "'standard-webhooks', 'otlp-logs', 'langfuse-scores', 'phoenix-annotations'"
TABLE = "webhook_endpoints"
CHECKS = {"format": f"format IN ({FORMATS})", "sample": "sample > 0 AND sample <= 1"}
FORGET = """
CREATE OR REPLACE FUNCTION touchstone_forget_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.request := (
        SELECT json_object_agg(key, value) FROM json_each(NEW.request) WHERE key IN ({kept})
    );
    RETURN NEW;
END $$;
"""
KEPT = "'model', 'variant', 'seed', 'metadata', 'context', 'webhook', 'do_not_store_text'"


def _columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("format", sa.String, nullable=False, server_default="standard-webhooks"),
        sa.Column("authorization", sa.String),
        sa.Column("sample", sa.Double, nullable=False, server_default="1"),
        sa.Column("metrics", sa.ARRAY(sa.String), nullable=False, server_default="{}"),
        sa.Column("parts", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("untraced", sa.Integer, nullable=False, server_default="0"),
    ]


def upgrade() -> None:
    """Forward."""
    for column in _columns():
        op.add_column(TABLE, column)
    for name, condition in CHECKS.items():
        op.create_check_constraint(op.f(f"ck_webhook_endpoints_{name}"), TABLE, condition)
    op.execute(FORGET.format(kept=f"{KEPT}, 'trace'"))


def downgrade() -> None:
    """Back."""
    op.execute(FORGET.format(kept=KEPT))
    op.execute("DELETE FROM webhook_endpoints WHERE format <> 'standard-webhooks'")
    for column in _columns():
        op.drop_column(TABLE, column.name)
