"""Writes the results table, with a row for each result, soon after a job ends. Old rows are updated
gradually."""

from __future__ import annotations

from sqlalchemy import Engine

from services.registry import fact_plan, reported
from shared.ledger import result_facts
from shared.ledger.engine import transaction

AT_ONCE = 500  # rows per transaction


class Facts:
    """The periodic task that writes the results table."""

    def __init__(self, engine: Engine, at_once: int = AT_ONCE) -> None:
        self._engine = engine
        self._at_once = at_once

    def round(self) -> int:
        """Write some rows of the results table and return their number, or 0 if nothing is left.
        Raises Unavailable."""
        with transaction(self._engine) as connection:
            lines = result_facts.write_of_lines(connection, fact_plan, self._at_once)
        with transaction(self._engine) as connection:
            alone = result_facts.write_job_rows(connection, fact_plan, self._at_once)
        most = max(lines, alone)
        return most if most >= self._at_once else self._update()

    def _update(self) -> int:
        """Rewrite rows of the results table that an earlier version wrote under different rules.
        Return the number of rewritten rows if more may remain, else 0."""
        for metric in reported():
            plan = fact_plan(metric)
            if plan is None:
                continue
            with transaction(self._engine) as connection:
                renewed = result_facts.update_rows(connection, metric, plan, self._at_once)
            if renewed >= self._at_once:
                return renewed
        return 0
