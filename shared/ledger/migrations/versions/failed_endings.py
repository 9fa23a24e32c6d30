"""A batch that is under way can end as failed, and its files are written all the same."""

from __future__ import annotations

from alembic import op
from sqlalchemy.sql.elements import conv

revision = "failed_endings"
down_revision = "batch_items"
branch_labels = None
depends_on = None

CHECK = conv("ck_batches_ck_batches_ending")  # as the naming convention made it


def upgrade() -> None:
    """Forward."""
    op.drop_constraint(CHECK, "batches")
    op.create_check_constraint(
        CHECK, "batches", "ending IN ('completed', 'expired', 'cancelled', 'failed')"
    )


def downgrade() -> None:
    """Back."""
    op.execute("UPDATE batches SET ending = 'cancelled' WHERE ending = 'failed'")
    op.drop_constraint(CHECK, "batches")
    op.create_check_constraint(CHECK, "batches", "ending IN ('completed', 'expired', 'cancelled')")
