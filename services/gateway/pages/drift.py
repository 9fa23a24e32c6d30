"""`/drift`: have scores moved, this window against a reference window? Answered in a sentence each.

Numbers are those of `score_hours`, so they reach further back than the jobs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Query, Request
from sqlalchemy import Connection
from starlette.responses import Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.http_requests import InDigits
from services.gateway.pages.drift_statistics import FEWEST, ScoreShift, score_shift
from services.gateway.pages.page_route import page_router
from services.gateway.pages.templates import page
from services.gateway.refusals import UnknownMetric
from services.gateway.state import Gateway
from services.registry import metrics
from shared.ledger import score_hours
from shared.ledger.score_hours import ScoreSource, ScoreSums, edges_of
from shared.reports.pages.page_text import percent, significant

WINDOWS, REFERENCES = (1, 7, 30), (7, 28, 90)
LONGEST_WINDOW = 90  # days

router = page_router()


@dataclass(frozen=True)
class DriftRow:
    """A metric and model. sources: later versions and variants that the reference has not."""

    metric: str
    model: str
    found: ScoreShift
    sentence: str
    changed: Sequence[str]
    low: float
    high: float

    @property
    def has_scores(self) -> bool:
        """Whether either window has one."""
        return bool(self.found.earlier.scored or self.found.later.scored)


@router.get("/drift")
async def drift_page(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    days: Annotated[int, Query(ge=1, le=LONGEST_WINDOW), InDigits] = 7,
    reference: Annotated[int, Query(ge=1, le=365), InDigits] = 28,
    metric: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Every metric and model that has scored in the window."""
    check_scope(caller, "score")
    if metric and metric not in metrics():
        raise UnknownMetric(f"there is no metric {metric!r}; there are: {', '.join(metrics())}")
    until = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    since = until - timedelta(days=days)
    begin = since - timedelta(days=reference)

    def read(connection: Connection) -> tuple[Found, Found, datetime | None]:
        """Both windows, and the last hour with a result."""
        earlier = score_hours.sums_of(connection, caller.tenant, begin, since)
        later = score_hours.sums_of(connection, caller.tenant, since, until)
        return earlier, later, score_hours.last_hour(connection, caller.tenant, metric)

    earlier, later, last = await gateway.in_ledger(read)
    rows = [row for row in drift_rows(earlier, later) if metric in ("", row.metric)]
    sums = [one for found in (earlier, later) for one in found.items()]
    return page(
        request,
        "drift.html",
        rows=rows,
        days=days,
        reference=reference,
        metric=metric,
        metrics=list(metrics()),
        windows=sorted({*WINDOWS, days}),
        references=sorted({*REFERENCES, reference}),
        fewest=FEWEST,
        last=last,
        edited=sum(one.edited for source, one in sums if metric in ("", source.metric)),
        reach=None if last is None else min((until - last).days + 1, LONGEST_WINDOW),
    )


Found = dict[ScoreSource, ScoreSums]


def drift_rows(earlier: Found, later: Found) -> list[DriftRow]:
    """By metric and model, those that have moved first; without what has edited requests alone."""
    earlier, later = (
        {source: sums for source, sums in found.items() if sums.results}
        for found in (earlier, later)
    )
    keys = sorted({(source.metric, source.model) for source in later})
    rows = [_row(metric, model, earlier, later) for metric, model in keys]
    return sorted(rows, key=lambda row: (not row.found.has_shift, not row.found.is_known))


def _row(metric: str, model: str, earlier: Found, later: Found) -> DriftRow:
    before, after = ScoreSums(), ScoreSums()
    for sums, found in ((before, earlier), (after, later)):
        for source, one in found.items():
            if (source.metric, source.model) == (metric, model):
                sums.add(one)
    known = {(one.variant, one.metric_version) for one in earlier if one.metric == metric}
    new = {
        (one.variant, one.metric_version)
        for one in later
        if (one.metric, one.model) == (metric, model)
    } - known
    changed = [f"{variant} {version}".strip() for variant, version in sorted(new)] if known else []
    edges = edges_of(metrics().get(metric))
    shift = score_shift(before, after)
    return DriftRow(metric, model, shift, sentence_of(shift), changed, edges[0], edges[-1])


def sentence_of(found: ScoreShift) -> str:
    """In words; "moved" only where the interval excludes 0."""
    if found.difference is None:
        before, now = found.earlier.scored, found.later.scored
        return (
            f"Too few to say: {before:,} scores before and {now:,} now; each window needs {FEWEST}."
        )
    between = f"{significant(found.low or 0.0)} to {significant(found.high or 0.0)}"
    if not found.has_shift:
        told = f"The mean has not moved more than chance would move it (interval {between})."
    else:
        way = "higher" if found.difference > 0 else "lower"
        size = significant(abs(found.difference))
        told = f"The mean has moved: it is {size} {way} than before (interval {between})."
    if found.has_changed_shape and not found.has_shift:
        told += " Its spread over the bins has changed."
    if found.undefined is not None and not found.undefined[1] <= 0 <= found.undefined[2]:
        way = "more" if found.undefined[0] > 0 else "fewer"
        told += f" {percent(abs(found.undefined[0]))} {way} have no score."
    return told
