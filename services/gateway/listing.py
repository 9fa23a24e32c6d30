"""Lists in the OpenAI shape: `{object, data, first_id, last_id, has_more}`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Query, Request

from shared.errors import BadInput
from shared.ledger.pagination import Order, Slice

MOST_ON_A_PAGE = 100

Limit = Annotated[int, Query(ge=1, description="coerced to 100 at most")]
ById = Annotated[Order, Query(description="`desc`: newest first")]


def page_after(shape: re.Pattern[str]) -> Any:
    """The query parameter `after` of a list. shape: of its ids."""
    return Query(description="the `last_id` of the page before", pattern=f"^{shape.pattern}$")


def slice_of(request: Request, limit: int, after: str | None, order: Order) -> Slice:
    """The page that is asked for. Raises BadInput."""
    refuse_unknown(request, {"limit", "after", "order", "purpose"})
    return Slice(limit=min(limit, MOST_ON_A_PAGE), after=after, order=order)


def refuse_unknown(request: Request, known: set[str]) -> None:
    """A filter that nobody knows is refused, not ignored."""
    unknown = sorted(set(request.query_params) - known)
    if unknown:
        raise BadInput(f"there is no filter {unknown[0]!r}", pointer=f"/{unknown[0]}")


def listed(data: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
    """A page as JSON."""
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": has_more,
    }
