"""What pages say of the answered lines of a batch."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "batch_items"
down_revision = "webhooks"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
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


def downgrade() -> None:
    """Back."""
    op.drop_table("batch_items")
