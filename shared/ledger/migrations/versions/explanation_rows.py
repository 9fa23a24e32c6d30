"""Lines of explanations stand in the results table, too: those that ended before get their rows."""

from __future__ import annotations

from alembic import op

revision = "explanation_rows"
down_revision = "job_steps"
branch_labels = None
depends_on = None

OWED = """
UPDATE batch_lines SET has_facts = false FROM batches
WHERE batches.id = batch_lines.batch_id AND batches.metric = 'explanations'
    AND batch_lines.has_facts
"""


def upgrade() -> None:
    """Forward."""
    op.execute(OWED)


def downgrade() -> None:
    """Back: rows that nobody looks for do no harm."""
