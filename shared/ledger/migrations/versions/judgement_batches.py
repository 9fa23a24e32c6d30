"""Judgements say which batch their job is of: those of one are found without a look at all others.

A trigger writes it, so that a gateway of the version before leaves no judgement without.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "judgement_batches"
down_revision = "judgement_spans"
branch_labels = None
depends_on = None

WRITE = """
CREATE FUNCTION touchstone_batch_of_judgement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.batch_id := (SELECT batch_id FROM jobs WHERE id = NEW.job_id);
    RETURN NEW;
END $$;
CREATE TRIGGER batch_of_judgement BEFORE INSERT ON judgements FOR EACH ROW
EXECUTE FUNCTION touchstone_batch_of_judgement();
"""
FILL = """
UPDATE judgements SET batch_id = jobs.batch_id FROM jobs
WHERE jobs.id = judgements.job_id AND jobs.batch_id IS NOT NULL
"""


def upgrade() -> None:
    """Forward."""
    op.add_column("judgements", sa.Column("batch_id", sa.String))
    op.execute(WRITE)
    op.execute(FILL)
    op.create_index(
        "ix_judgements_batch_id",
        "judgements",
        ["batch_id"],
        postgresql_where=sa.text("batch_id IS NOT NULL"),
    )


def downgrade() -> None:
    """Back."""
    op.execute(
        "DROP TRIGGER batch_of_judgement ON judgements; "
        "DROP FUNCTION touchstone_batch_of_judgement()"
    )
    op.drop_index("ix_judgements_batch_id", "judgements")
    op.drop_column("judgements", "batch_id")
