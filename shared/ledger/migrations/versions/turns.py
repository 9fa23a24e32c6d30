"""Jobs that wait for their first attempt, by tenant: each claim asks whose turn it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "turns"
down_revision = "claimed_by"
branch_labels = None
depends_on = None

FRESH = "status = 'queued' AND attempts = 0"


def upgrade() -> None:
    """Forward."""
    columns = ["metric", "tenant", "id"]
    for name, lane in (("", "batch_id IS NULL"), ("_batch", "batch_id IS NOT NULL")):
        op.create_index(
            f"ix_jobs_turn{name}", "jobs", columns, postgresql_where=sa.text(f"{FRESH} AND {lane}")
        )


def downgrade() -> None:
    """Back."""
    op.drop_index("ix_jobs_turn_batch", "jobs")
    op.drop_index("ix_jobs_turn", "jobs")
