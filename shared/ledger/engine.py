"""The connection pool to the ledger (the jobs database), with helpers for transactions, JSON and
pages."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

import psycopg
from sqlalchemy import Connection, Engine, Row, Select, Table, create_engine, event
from sqlalchemy.exc import DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from shared.contracts.errors import Unavailable
from shared.process.settings import settings

CONNECT_SECONDS = 5
REST_SECONDS = 0.1  # a connection that was idle for longer is checked
RESTED = "touchstone_rested"

# Escapes in JSON: what PostgreSQL cannot keep stands alone, what comes before it is good.
ESCAPED = re.compile(
    r"(\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\u(?:0000|d[89a-f][0-9a-f]{2})"
)
AWAY = {"25", "53", "57", "58"}  # SQLSTATE classes: read-only, out of resources, stopped, system
SEAL = "ck_jobs_sealed"  # of a past day's partition: the writer's clock is late
TOO_MUCH = "54"  # SQLSTATE class: a statement or a value beyond the server's limits; not the server
Order = Literal["asc", "desc"]


def sqlalchemy_url(url: str) -> str:
    return f"postgresql+psycopg://{url.split('://', 1)[1]}"


def libpq_url(url: str) -> str:
    return f"postgresql://{url.split('://', 1)[1]}"


@lru_cache(maxsize=1)
def session_name() -> str:
    """Return the unique name of this process's sessions in `pg_stat_activity`."""
    return f"touchstone-{os.getpid()}-{secrets.token_hex(8)}"


def connect(url: str, *, pool_size: int = 10) -> Engine:
    """Return an engine for this address. Idle connections are checked before use, so the engine
    survives a restart of the server."""
    engine = create_engine(
        sqlalchemy_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_use_lifo=True,  # most recently used first
        hide_parameters=True,  # keeps requests and keys out of logs
        connect_args={"connect_timeout": CONNECT_SECONDS, "application_name": session_name()},
        json_serializer=encode_json,
    )
    event.listen(engine, "checkin", _rests)
    event.listen(engine, "checkout", _check)
    return engine


def encode_json(value: Any) -> str:
    """Return JSON in which U+0000 and lone surrogates are replaced by U+FFFD, as in HTML. Offsets
    stay valid. PostgreSQL stores these characters, but cannot query a document that contains one.
    """
    text = json.dumps(value)
    if "\\u0000" not in text and "\\ud" not in text:
        return text
    return ESCAPED.sub(lambda match: match[1] or "\\ufffd", text)


def _rests(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[RESTED] = time.monotonic()


def _check(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Test a connection that was idle for some time. `pool_pre_ping` would test each connection at
    every use. Under load no connection is idle, so each transaction saves a round trip."""
    if time.monotonic() - record.info.get(RESTED, math.inf) < REST_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except psycopg.Error as error:
        raise DisconnectionError from error  # the pool opens another


@lru_cache(maxsize=1)
def ledger() -> Engine:
    return connect(settings().database_url.get_secret_value())


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Run a transaction. Raises Unavailable if the server is unreachable, restarts or is
    overloaded."""
    try:
        with engine.begin() as connection:
            yield connection
    except PoolTimeoutError as error:
        raise Unavailable("the database cannot be reached") from error
    except DBAPIError as error:
        if not _is_unavailable(error):
            raise
        reached = not isinstance(error, OperationalError | InterfaceError)
        detail = f"the database cannot be {'written to' if reached else 'reached'}"
        raise Unavailable(detail) from error


@contextmanager
def single_statements(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that commits each statement immediately, which avoids round trips for
    begin and commit."""
    with transaction(_autocommit(engine)) as connection:
        yield connection


@lru_cache(maxsize=1)
def _autocommit(engine: Engine) -> Engine:
    """Return an engine in autocommit mode with the same pool."""
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def _is_unavailable(error: DBAPIError) -> bool:
    """Return True if the server caused the error, so that the statement may succeed later."""
    state = str(getattr(error.orig, "sqlstate", None) or "")[:2]
    if isinstance(error, OperationalError | InterfaceError):
        return state != TOO_MUCH
    if getattr(getattr(error.orig, "diag", None), "constraint_name", None) == SEAL:
        return True
    return error.connection_invalidated or state in AWAY


@dataclass(frozen=True)
class Slice:
    """Selects one page of a list. If `tenant` is None, the page covers all tenants."""

    limit: int
    after: str | None = None
    order: Order = "desc"
    tenant: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


def fetch_page(
    connection: Connection, query: Select[Any], table: Table, page: Slice
) -> tuple[list[Row[Any]], bool]:
    """Return the rows of this page, and True if more follow."""
    newest_first = page.order == "desc"
    query = query.order_by(table.c.id.desc() if newest_first else table.c.id)
    if page.tenant is not None:
        query = query.where(table.c.tenant == page.tenant)
    if page.after is not None:
        query = query.where(table.c.id < page.after if newest_first else table.c.id > page.after)
    if page.created_after is not None:
        query = query.where(table.c.created_at >= page.created_after)
    if page.created_before is not None:
        query = query.where(table.c.created_at < page.created_before)
    for key, value in page.metadata.items():
        query = query.where(table.c.metadata[key].as_string() == value)
    rows = list(connection.execute(query.limit(page.limit + 1)))
    return rows[: page.limit], len(rows) > page.limit
