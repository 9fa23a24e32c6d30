"""Alembic's entry point. Runs online migrations only, one process at a time."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

from shared.ledger.tables import metadata

LOCK = 7_236_154_027  # an arbitrary number

engine = context.config.attributes["engine"]
with engine.connect() as connection:
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
    connection.commit()
    try:
        context.configure(connection=connection, target_metadata=metadata)
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": LOCK})
        connection.commit()
