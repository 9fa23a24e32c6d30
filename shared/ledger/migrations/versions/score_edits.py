"""Hours count the results of requests that somebody has changed on a page apart from the others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "score_edits"
down_revision = "judgement_batches"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: an hour of before does not tell them apart, as a scheduler of that version."""
    edited = sa.Column("edited", sa.Integer, nullable=False, server_default="0")
    op.add_column("score_hours", edited)


def downgrade() -> None:
    """Back."""
    op.drop_column("score_hours", "edited")
