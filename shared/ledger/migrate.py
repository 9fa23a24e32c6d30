"""Bring the ledger's schema up to date: `python -m shared.ledger.migrate`.

Safe to run from several processes at once: the migration holds an advisory lock.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine, inspect
from sqlalchemy.exc import OperationalError

from shared.ledger import partitions, tables
from shared.ledger.engine import ledger
from shared.process import telemetry
from shared.process.settings import settings_or_exit

MIGRATIONS = Path(__file__).parent / "migrations"


def configuration(engine: Engine) -> Config:
    """Return Alembic's configuration for this engine; there is no alembic.ini."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["engine"] = engine
    return config


class UnknownSchemaError(RuntimeError):
    """The database was created by a version that was never released."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the schema of this database is unknown ({reason}); use an empty database, or the "
            "version of Touchstone that created this one"
        )


def migrate(engine: Engine) -> None:
    """Apply the missing migrations. Raises UnknownSchemaError."""
    try:
        command.upgrade(configuration(engine), "head")
    except CommandError as error:
        raise UnknownSchemaError(str(error)) from error
    inspector = inspect(engine)
    for table in tables.metadata.sorted_tables:
        lacking = set(table.columns.keys()) - {
            column["name"] for column in inspector.get_columns(table.name)
        }
        if lacking:
            raise UnknownSchemaError(
                f"the table {table.name} lacks the columns {', '.join(sorted(lacking))}"
            )
    partitions.adopt(engine)


def main() -> None:
    """Migrate the database `DATABASE_URL`, as a command."""
    argparse.ArgumentParser(
        prog="python -m shared.ledger.migrate", description=__doc__
    ).parse_args()
    settings = settings_or_exit()
    telemetry.configure_logging(settings.log_level, settings.log_format)
    try:
        migrate(ledger())
    except UnknownSchemaError as error:
        sys.exit(str(error))
    except OperationalError as error:
        sys.exit(f"DATABASE_URL: {' '.join(str(error.orig).split())}")
    telemetry.logger(__name__).info("ledger.migrated")


if __name__ == "__main__":
    main()
