"""Which results of a batch are surprising: decoded once, kept in a small row beside the line.

To decode 50,000 results at every look would take seconds.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ARRAY,
    Connection,
    Double,
    Select,
    String,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert

from shared.contracts import SurprisingRule
from shared.ledger.batch_tables import batch_items, batch_lines
from shared.ledger.tables import jobs

FAILED = "failed"  # a reason that the line's own state gives
ITEM = and_(
    batch_items.c.batch_id == batch_lines.c.batch_id, batch_items.c.number == batch_lines.c.number
)
# jsonb has no U+0000, which JSON allows: `\u0000` becomes `\ufffd`, but `\\u0000` stays
RAW = cast(jobs.c.result, Text)
WITHOUT_NUL = func.regexp_replace(RAW, r"(?<!\\)((?:\\\\)*)\\u0000", r"\1\\ufffd", "g")
DOCUMENT = cast(case((func.strpos(RAW, r"\u0000") > 0, WITHOUT_NUL), else_=RAW), JSONB)


@dataclass(frozen=True)
class Rules:
    """Of one metric, the most surprising first."""

    listed: tuple[SurprisingRule, ...]
    higher_is_better: bool = True

    @property
    def fingerprint(self) -> str:
        """Differs when the rules do."""
        return hashlib.sha256(
            repr([(rule.name, rule.path) for rule in self.listed]).encode()
        ).hexdigest()

    @property
    def names(self) -> list[str]:
        """Every reason that a line may have, in order."""
        return [*(rule.name for rule in self.listed), FAILED]


def read(connection: Connection, batch_id: str, rules: Rules, most: int) -> int:
    """Decode the next results that nobody has looked at under these rules; how many there were."""
    unread = _unread(batch_id, rules, most).subquery("unread")
    rule = (
        func.unnest(
            literal([rule.name for rule in rules.listed], ARRAY(String)),
            literal([rule.path for rule in rules.listed], ARRAY(String)),
        )
        .table_valued("name", "path", with_ordinality="place")
        .render_derived("rule")
    )
    fits = func.jsonb_path_exists(unread.c.document, cast(rule.c.path, JSONPATH))
    reasons = select(rule.c.name).where(fits).order_by(rule.c.place).scalar_subquery()
    looked_at = select(
        unread.c.batch_id,
        unread.c.number,
        literal(rules.fingerprint),
        cast(unread.c.document["score"].astext, Double),
        func.array(reasons),
    )
    names = ["batch_id", "number", "rules", "score", "reasons"]
    making = insert(batch_items).from_select(names, looked_at)
    changed = {name: making.excluded[name] for name in names[2:]}
    made = making.on_conflict_do_update(index_elements=["batch_id", "number"], set_=changed)
    return len(connection.execute(made.returning(batch_items.c.number)).all())


def _unread(batch_id: str, rules: Rules, most: int) -> Select[Any]:
    current = exists().where(ITEM, batch_items.c.rules == rules.fingerprint)
    return (
        select(batch_lines.c.batch_id, batch_lines.c.number, DOCUMENT.label("document"))
        .join(jobs, jobs.c.id == batch_lines.c.job_id)
        .where(
            batch_lines.c.batch_id == batch_id,
            batch_lines.c.status == "succeeded",
            jobs.c.result.is_not(None),
            ~current,
        )
        .order_by(batch_lines.c.number)
        .limit(most)
    )
