"""Words of a result that tables are filtered by; rows of before get theirs by and by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "result_facets"
down_revision = "file_keys"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    words: sa.Column[list[str]] = sa.Column(
        "facets", sa.ARRAY(sa.String), nullable=False, server_default="{}"
    )
    op.add_column("result_facts", words)


def downgrade() -> None:
    """Back."""
    op.drop_column("result_facts", "facets")
