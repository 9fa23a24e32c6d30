"""What a running job was told by models, so that its next attempt does not ask again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "job_steps"
down_revision = "score_hours"
branch_labels = None
depends_on = None

# Every end of a job passes here: a result, a failure, a cancellation, attempts used up.
FORGET = """
CREATE FUNCTION touchstone_forget_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_steps WHERE job_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_steps AFTER UPDATE ON jobs FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)
EXECUTE FUNCTION touchstone_forget_steps();
"""


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "job_steps",
        sa.Column(
            "job_id", sa.String, sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("content", sa.String, nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.func.now(),
        ),
    )
    op.execute(FORGET)


def downgrade() -> None:
    """Back."""
    op.execute("DROP TRIGGER forget_steps ON jobs; DROP FUNCTION touchstone_forget_steps()")
    op.drop_table("job_steps")
