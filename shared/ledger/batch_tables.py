"""What the ledger keeps of files and batches; the bytes of files lie in the file store.

A line of a batch has a row from its validation on, and a job once it is fed: 50,000 lines are
50,000 small rows here, and only a window of them is in the queue.
"""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
    func,
    text,
)

from shared.ledger.tables import DEFAULT_TENANT, Instant, Json, metadata

OPEN = ("validating", "in_progress", "finalizing", "cancelling")
ENDED = ("completed", "failed", "expired", "cancelled")

files = Table(
    "files",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time of creation
    Column("tenant", String, nullable=False, server_default=DEFAULT_TENANT),
    Column("purpose", String, nullable=False),
    Column("filename", String, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("expires_at", Instant),
    CheckConstraint("purpose IN ('batch', 'batch_output')", name="purpose"),
)
Index("ix_files_expires_at", files.c.expires_at)
Index("ix_files_tenant", files.c.tenant, files.c.id)

batches = Table(
    "batches",
    metadata,
    Column("id", String, primary_key=True),  # sorts by time of creation
    Column("tenant", String, nullable=False, server_default=DEFAULT_TENANT),
    Column("key", String),  # an Idempotency-Key: the same one is the same batch
    Column("metric", String, nullable=False),
    Column("endpoint", String, nullable=False),
    Column("status", String, nullable=False, server_default="validating"),
    Column("ending", String),  # what it becomes once its files are written
    Column("input_file_id", String, nullable=False),
    Column("output_file_id", String),
    Column("error_file_id", String),
    Column("output_seconds", Integer),  # how long its files are kept
    Column("metadata", Json, nullable=False),
    Column("errors", Json),
    Column("read_bytes", BigInteger, nullable=False, server_default="0"),  # validated so far
    Column("read_lines", Integer, nullable=False, server_default="0"),
    Column("total", Integer, nullable=False, server_default="0"),
    Column("completed", Integer, nullable=False, server_default="0"),
    Column("failed", Integer, nullable=False, server_default="0"),
    Column("revision", Integer, nullable=False, server_default="1"),  # grows with every change
    Column("keeps_text", Boolean, nullable=False, server_default=text("true")),
    Column("report_job_id", String),
    Column("fed_at", Instant),  # who waited longest is fed first
    *(
        Column(f"{moment}_at", Instant)
        for moment in (
            "in_progress",
            "finalizing",
            "completed",
            "failed",
            "expired",
            "cancelling",
            "cancelled",
        )
    ),
    Column("created_at", Instant, nullable=False, server_default=func.now()),
    Column("expires_at", Instant, nullable=False),
    CheckConstraint(
        "status IN ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', "
        "'cancelling', 'cancelled')",
        name="status",
    ),
    CheckConstraint("ending IN ('completed', 'expired', 'cancelled', 'failed')", name="ending"),
    CheckConstraint("completed + failed <= total", name="counts"),
    UniqueConstraint("tenant", "key", name="uq_batches_key"),
)
Index("ix_batches_tenant", batches.c.tenant, batches.c.id)
Index(
    "ix_batches_open",
    batches.c.id,
    postgresql_where=text("status IN ('validating', 'in_progress', 'finalizing', 'cancelling')"),
)

batch_lines = Table(
    "batch_lines",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),  # of the line in the input file, from 1
    Column("custom_id", String, nullable=False),
    Column("start", BigInteger, nullable=False),  # byte offset into the input file
    Column("length", Integer, nullable=False),  # bytes
    Column("fingerprint", String, nullable=False),  # SHA-256 of what decides the score
    Column("status", String, nullable=False, server_default="waiting"),
    Column("job_id", String),  # lines with the same fingerprint share a job
    Column("caller", Json),  # metadata and context, which differ between such lines
    UniqueConstraint("batch_id", "custom_id", name="uq_batch_lines_custom_id"),
    CheckConstraint(
        "status IN ('waiting', 'open', 'succeeded', 'failed', 'cancelled', 'expired')",
        name="status",
    ),
)
Index("ix_batch_lines_fingerprint", batch_lines.c.batch_id, batch_lines.c.fingerprint)
Index(
    "ix_batch_lines_waiting",
    batch_lines.c.batch_id,
    batch_lines.c.number,
    postgresql_where=text("status = 'waiting'"),
)
Index("ix_batch_lines_open", batch_lines.c.job_id, postgresql_where=text("status = 'open'"))

batch_items = Table(  # what a page says of an answered line; made when somebody looks
    "batch_items",
    metadata,
    Column("batch_id", ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),  # of the line
    Column("rules", String, nullable=False),  # SHA-256 of those that gave the reasons
    Column("score", Double),
    Column("reasons", ARRAY(String), nullable=False),  # why the result is surprising
)
