"""Files of forms have a key, so that a form that is sent again brings no second file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "file_keys"
down_revision = "score_edits"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward: what was there has none, as what a gateway of the version before writes."""
    op.add_column("files", sa.Column("key", sa.String))
    op.create_unique_constraint("uq_files_key", "files", ["tenant", "key"])


def downgrade() -> None:
    """Back."""
    op.drop_constraint("uq_files_key", "files")
    op.drop_column("files", "key")
