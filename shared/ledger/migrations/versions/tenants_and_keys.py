"""Jobs and idempotency keys belong to a tenant; API keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "tenants_and_keys"
down_revision = "batches"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
DEFAULT = "default"


def upgrade() -> None:
    """Forward: what is there belongs to the tenant `default`."""
    op.add_column("jobs", sa.Column("tenant", sa.String, nullable=False, server_default=DEFAULT))
    op.create_index("ix_jobs_tenant", "jobs", ["tenant", "id"])
    op.create_index(
        "ix_jobs_open_tenant",
        "jobs",
        ["tenant"],
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.add_column(
        "idempotency_keys", sa.Column("tenant", sa.String, nullable=False, server_default=DEFAULT)
    )
    op.drop_constraint("pk_idempotency_keys", "idempotency_keys", type_="primary")
    op.create_primary_key("pk_idempotency_keys", "idempotency_keys", ["tenant", "key"])
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("sha256", sa.String, nullable=False, unique=True),
        sa.Column("beginning", sa.String, nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.String), nullable=False),
        sa.Column("requests_per_minute", sa.Integer),
        sa.Column("created_at", INSTANT, nullable=False, server_default=sa.func.now()),
        sa.Column("expires_at", INSTANT),
        sa.Column("revoked_at", INSTANT),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("api_keys")
    op.drop_constraint("pk_idempotency_keys", "idempotency_keys", type_="primary")
    op.drop_column("idempotency_keys", "tenant")
    op.create_primary_key("pk_idempotency_keys", "idempotency_keys", ["key"])
    op.drop_column("jobs", "tenant")
