"""Stores a tenant's saved views: filters of a results table, or the column mapping of a file."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from shared.contracts.errors import QuotaExceeded
from shared.ledger.tables import saved_views

MOST = 50  # of one kind
POLICY = "saved-views"


def save_view(connection: Connection, tenant: str, kind: str, name: str, value: Any) -> None:
    """Save a view. A view of the same name is replaced. Raises QuotaExceeded."""
    statement = insert(saved_views).values(tenant=tenant, kind=kind, name=name, value=value)
    key = ["tenant", "kind", "name"]
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_={"value": value}))
    count = select(func.count()).where(*_of(tenant, kind))
    if connection.execute(count).scalar_one() > MOST:
        raise QuotaExceeded(
            f"you have {MOST} saved entries of this kind, which is the maximum; delete one first",
            policy=POLICY,
            retry_after=None,
        )


def list_views(connection: Connection, tenant: str, kind: str) -> dict[str, Any]:
    """Return the saved views by name, sorted."""
    columns = saved_views.c.name, saved_views.c.value
    rows = connection.execute(
        select(*columns).where(*_of(tenant, kind)).order_by(saved_views.c.name)
    )
    return {name: value for name, value in rows}


def delete_view(connection: Connection, tenant: str, kind: str, name: str) -> None:
    connection.execute(delete(saved_views).where(*_of(tenant, kind), saved_views.c.name == name))


def _of(tenant: str, kind: str) -> tuple[Any, Any]:
    return saved_views.c.tenant == tenant, saved_views.c.kind == kind
