"""Judgements hold the spans of the texts that people mark."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "judgement_spans"
down_revision = "explanation_rows"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: those before marked nothing, as a gateway of the version before does."""
    spans = sa.Column("spans", sa.JSON(none_as_null=True), nullable=False, server_default="[]")
    op.add_column("judgements", spans)


def downgrade() -> None:
    """Back."""
    op.drop_column("judgements", "spans")
