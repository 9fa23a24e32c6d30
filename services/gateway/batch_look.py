"""A batch's lines as pages, files and the API show them: decoded as far as time allows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from sqlalchemy import Connection

from services.gateway.refusals import NothingToReport
from services.gateway.state import State
from shared.ledger import items, judging
from shared.ledger.batches import Batch
from shared.ledger.items import Item, Wanted
from shared.ledger.judging import Rules

AT_ONCE = 2_000  # results decoded in one transaction


@dataclass(frozen=True)
class Look:
    """A page of lines. reasons: each with how many lines have it."""

    items: list[Item]
    more: bool
    reasons: dict[str, int]


def demand_ended(batch: Batch) -> None:
    """Raises NothingToReport while something can still change."""
    if not batch.is_final:
        raise NothingToReport(f"the batch is {batch.status}; its results are not all there yet")


async def decode(gateway: State, batch: Batch, rules: Rules, seconds: float = math.inf) -> bool:
    """Look at the results that nobody has looked at, for so long; whether none is left."""
    until = time.monotonic() + seconds

    def step(connection: Connection) -> int:
        return judging.read(connection, batch.id, rules, AT_ONCE)

    while await gateway.in_ledger(step) == AT_ONCE:
        if time.monotonic() > until:
            return False
    return True


async def look(gateway: State, wanted: Wanted, rules: Rules) -> Look:
    """The lines that are asked for, of those that are decoded."""

    def read(connection: Connection) -> Look:
        found, more = items.page_of(connection, wanted, rules)
        return Look(found, more, items.reasons_of(connection, wanted.batch_id))

    return await gateway.in_ledger(read)
