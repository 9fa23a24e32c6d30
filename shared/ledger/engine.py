"""The connection pool to the ledger, one a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from shared.errors import Unavailable
from shared.settings import settings

CONNECT_SECONDS = 5
AWAY = {"25", "53", "57", "58"}  # SQLSTATE classes: read-only, out of resources, stopped, system


def sqlalchemy_url(url: str) -> str:
    """The same address, spoken to through psycopg 3."""
    return f"postgresql+psycopg://{url.split('://', 1)[1]}"


def libpq_url(url: str) -> str:
    """The same address as libpq and psycopg itself know it."""
    return f"postgresql://{url.split('://', 1)[1]}"


def connect(url: str, *, pool_size: int = 10) -> Engine:
    """An engine for this address; connections are checked before use, so a restart is survived."""
    return create_engine(
        sqlalchemy_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        hide_parameters=True,  # requests and keys do not belong into logs
        connect_args={"connect_timeout": CONNECT_SECONDS},
    )


@lru_cache(maxsize=1)
def ledger() -> Engine:
    """This process's engine."""
    return connect(settings().database_url.get_secret_value())


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """A transaction; a server that is away, restarts or is overrun becomes `Unavailable`."""
    try:
        with engine.begin() as connection:
            yield connection
    except (OperationalError, InterfaceError, PoolTimeoutError) as error:
        raise Unavailable("the ledger cannot be reached") from error
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        if not error.connection_invalidated and state[:2] not in AWAY:
            raise
        raise Unavailable("the ledger cannot be written to") from error
