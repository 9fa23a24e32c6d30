"""An Idempotency-Key may stand for many jobs of one call."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "bulk_keys"
down_revision = "request_ids"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("idempotency_keys", sa.Column("job_ids", sa.ARRAY(sa.String)))


def downgrade() -> None:
    """Back."""
    op.drop_column("idempotency_keys", "job_ids")
