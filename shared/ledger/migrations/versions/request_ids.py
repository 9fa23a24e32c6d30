"""A job and a batch say which HTTP request made them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "request_ids"
down_revision = "turns"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("jobs", sa.Column("request_id", sa.String))
    op.add_column("batches", sa.Column("request_id", sa.String))


def downgrade() -> None:
    """Back."""
    op.drop_column("batches", "request_id")
    op.drop_column("jobs", "request_id")
