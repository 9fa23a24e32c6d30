"""A database that another version made is refused with a reason, and stays as it is."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, make_url, text

from shared.ledger.engine import connect
from shared.ledger.migrate import UnknownSchemaError, migrate
from shared.process.settings import Settings


@pytest.fixture
def migrated(_settings: Settings) -> Iterator[Engine]:
    url = make_url(_settings.database_url.get_secret_value())
    server = connect(url.render_as_string(hide_password=False), pool_size=1)
    name = f"migrate_{secrets.token_hex(4)}"
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template1"))
    own = connect(url.set(database=name).render_as_string(hide_password=False), pool_size=1)
    migrate(own)
    yield own
    own.dispose()
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


def test_migrating_twice_is_migrating_once(migrated: Engine) -> None:
    migrate(migrated)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE alembic_version SET version_num = '0026_old'", "0026_old"),
        (
            "ALTER TABLE batch_lines DROP COLUMN request CASCADE",
            "batch_lines lacks the columns request",
        ),
    ],
)
def test_a_schema_of_another_version_is_refused(migrated: Engine, change: str, said: str) -> None:
    with migrated.begin() as connection:
        connection.execute(text(change))
    with pytest.raises(UnknownSchemaError, match=said):
        migrate(migrated)


def test_a_database_that_cannot_be_reached_is_one_line_without_its_password() -> None:
    address = "postgresql://somebody:secret-word@127.0.0.1:1/x"
    command = [sys.executable, "-m", "shared.ledger.migrate"]
    environment = os.environ | {"DATABASE_URL": address}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
    assert ran.stderr.startswith("DATABASE_URL: ")
    assert "secret-word" not in ran.stderr
