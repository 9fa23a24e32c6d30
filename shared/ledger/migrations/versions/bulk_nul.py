"""Requests that were sent in bulk may hold U+0000, which no statement can look into: U+FFFD now."""

from __future__ import annotations

from alembic import op

revision = "bulk_nul"
down_revision = "result_facts"
branch_labels = None
depends_on = None

# `\\u0000` is no U+0000 but an escaped backslash before letters
MENDED = r"""
    UPDATE jobs
    SET request = regexp_replace(request::text, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::json
    WHERE strpos(request::text, '\u0000') > 0
"""


def upgrade() -> None:
    """Forward."""
    op.execute(MENDED)


def downgrade() -> None:
    """Back: nothing; what was there could not be read."""
