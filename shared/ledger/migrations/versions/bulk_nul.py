"""Requests that were sent in bulk may hold U+0000, which no statement can look into: U+FFFD now."""

from __future__ import annotations

from alembic import op

revision = "bulk_nul"
down_revision = "result_facts"
branch_labels = None
depends_on = None

NUL = r"(?<!\\)((?:\\\\)*)\\u0000"  # an escape of its own, not the end of an escaped backslash


def upgrade() -> None:
    """Forward."""
    op.execute(
        "UPDATE jobs SET request = "
        rf"regexp_replace(request::text, '{NUL}', '\1\\ufffd', 'g')::json "
        r"WHERE strpos(request::text, '\u0000') > 0"
    )


def downgrade() -> None:
    """Back: nothing; what was there could not be read."""
