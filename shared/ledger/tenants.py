"""The retention period of each tenant whose period differs from `TOUCHSTONE_RETENTION_HOURS`."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Interval,
    String,
    Table,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared.ledger.tables import files, metadata

tenants = Table(
    "tenants",
    metadata,
    Column("name", String, primary_key=True),
    Column("retention", Interval, nullable=False),
)


def kept_for(tenant: ColumnElement[str], default: timedelta) -> ColumnElement[timedelta]:
    """Return the retention period of this tenant's data. `default` applies to tenants without a
    period of their own."""
    own = select(tenants.c.retention).where(tenants.c.name == tenant).correlate_except(tenants)
    return func.coalesce(own.scalar_subquery(), default)


def shorter_terms(connection: Connection, default: timedelta) -> list[tuple[str, timedelta]]:
    """Return the tenants whose retention is shorter than the default, with their retention."""
    query = select(tenants.c.name, tenants.c.retention).where(tenants.c.retention < default)
    return [(name, term) for name, term in connection.execute(query)]


def retention_of(connection: Connection, tenant: str) -> timedelta | None:
    """Return the tenant's own retention, or None if the default applies."""
    query = select(tenants.c.retention).where(tenants.c.name == tenant)
    return connection.execute(query).scalar_one_or_none()


def set_retention(connection: Connection, tenant: str, term: timedelta | None) -> None:
    """Set the tenant's retention; None restores the default. Stored files that would be kept for
    longer than the new retention expire earlier. No file is kept longer than before."""
    connection.execute(delete(tenants).where(tenants.c.name == tenant))
    if term is None:
        return
    connection.execute(insert(tenants).values(name=tenant, retention=term))
    end = files.c.created_at + term
    is_later = files.c.tenant == tenant, files.c.expires_at > end
    connection.execute(update(files).where(*is_later).values(expires_at=end))
