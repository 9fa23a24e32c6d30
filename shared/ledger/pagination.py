"""A page of a list: newest (or oldest) first, from an id on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, Table

Order = Literal["asc", "desc"]


@dataclass(frozen=True)
class Slice:
    """What a list request asks for; ids sort by time. tenant: whose things; None: everybody's."""

    limit: int
    after: str | None = None
    order: Order = "desc"
    tenant: str | None = None


def sliced(
    connection: Connection, query: Select[Any], table: Table, page: Slice
) -> tuple[list[Row[Any]], bool]:
    """The rows of this page, and whether others follow."""
    newest_first = page.order == "desc"
    query = query.order_by(table.c.id.desc() if newest_first else table.c.id)
    if page.tenant is not None:
        query = query.where(table.c.tenant == page.tenant)
    if page.after is not None:
        query = query.where(table.c.id < page.after if newest_first else table.c.id > page.after)
    rows = list(connection.execute(query.limit(page.limit + 1)))
    return rows[: page.limit], len(rows) > page.limit
