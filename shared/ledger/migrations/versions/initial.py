"""The initial schema: the tables of the ledger and their triggers.

It creates the tables of the metadata. Before the first release, change a table only in
`shared/ledger/tables.py` and start with an empty database. After a release, the first new migration
copies the released tables into this file.
"""

from __future__ import annotations

from alembic import op

from shared.ledger import judgements, keys, tables

revision = "initial"
down_revision = None
branch_labels = None
depends_on = None

# Every end of a job is an update of its row: a result, a failure, a cancellation, attempts used up.
TRIGGERS = """
CREATE FUNCTION touchstone_forget_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.request := (
        SELECT json_object_agg(key, value) FROM json_each(NEW.request) WHERE key IN (
            'model', 'variant', 'seed', 'metadata', 'context', 'webhook', 'do_not_store_text',
            'trace'
        )
    );
    RETURN NEW;
END $$;
CREATE TRIGGER forget_text BEFORE UPDATE ON jobs FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
      AND NEW.request ->> 'do_not_store_text' = 'true')
EXECUTE FUNCTION touchstone_forget_text();

CREATE FUNCTION touchstone_forget_steps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job_steps WHERE job_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_steps AFTER UPDATE ON jobs FOR EACH ROW
WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL)
EXECUTE FUNCTION touchstone_forget_steps();

CREATE FUNCTION touchstone_batch_of_judgement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.batch_id := (SELECT batch_id FROM jobs WHERE id = NEW.job_id);
    RETURN NEW;
END $$;
CREATE TRIGGER batch_of_judgement BEFORE INSERT ON judgements FOR EACH ROW
EXECUTE FUNCTION touchstone_batch_of_judgement();
"""

# Autoscalers call it with a role that may read no table. The body is text, so that it finds the
# table `jobs` also after `partition_jobs` has replaced it. A batch report is work of its metric.
BACKLOG = """
CREATE FUNCTION touchstone_backlog() RETURNS TABLE (service text, jobs bigint)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT split_part(metric, '-', 1), sum(number)::bigint
    FROM (
        SELECT metric, count(*) AS number FROM jobs
        WHERE status IN ('queued', 'running') AND batch_id IS NULL GROUP BY metric
        UNION ALL
        SELECT metric, total - completed - failed FROM batches WHERE status = 'in_progress'
    ) AS work
    GROUP BY 1
$$;
DO $$ BEGIN
    -- or a role that may create temporary tables could put its own `jobs` first
    EXECUTE format(
        'ALTER FUNCTION touchstone_backlog() SET search_path = %I, pg_temp', current_schema()
    );
END $$;
"""


def upgrade() -> None:
    # named, so that each module has registered its tables
    [metadata] = {table.metadata for table in (tables.jobs, keys.api_keys, judgements.judgements)}
    metadata.create_all(op.get_bind())
    op.execute(TRIGGERS)
    op.execute(BACKLOG)


def downgrade() -> None:
    """Do nothing, because there is no earlier version."""
