"""API keys, and the batches that they make, may accept languages that a model did not learn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "untrained_languages"
down_revision = "batch_attempts"
branch_labels = None
depends_on = None

NAME = "accept_untrained_languages"


def upgrade() -> None:
    """Forward."""
    for table in ("api_keys", "batches"):
        op.add_column(table, sa.Column(NAME, sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Back."""
    for table in ("batches", "api_keys"):
        op.drop_column(table, NAME)
