"""A report over many results is a job too: this door reads them, a room's pure function sums up.

A room names its `BATCH_REPORT` in contract.py and registers it in task.py:

    report_task = door_for_reports(BATCH_REPORT, METRIC, batch_report)

where `batch_report(rows, request)` is a pure function of the succeeded results, in the order of the
batch's file (or of the listed ids). A metric without one gets the general report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from pydantic import ValidationError

from shared.batch_reports import BatchReport, BatchReportRequest, ReportRoom, Scored
from shared.contracts import Metric
from shared.job_context import checking
from shared.ledger import results
from shared.ledger.engine import ledger, transaction
from shared.ledger.results import Asked
from shared.settings import settings
from shared.worker.door import door, doors
from shared.worker.general_report import general_report

SumUp = Callable[[Sequence[Scored[Any, Any]], Any], BatchReport]


def door_for_reports(room: ReportRoom, metric: Metric, batch_report: SumUp) -> Any:
    """Register `score.<metric>-report`.

    `batch_report` gets the succeeded jobs only; the door fills `left_out` with the others, by
    status: `failed`, `cancelled`, `expired`, or still `queued`, `running`, `waiting`; `unreadable`
    for results that this version of the metric cannot read, `text_not_kept` for those whose texts
    are gone, where the room needs them.
    """

    def report(request: BatchReportRequest) -> BatchReport:
        rows, left_out = gathered(room, metric, request)
        settings().work_limit.check(room.work_over(request, len(rows)))
        made = batch_report(rows, request)
        return made.model_copy(update={"left_out": dict(sorted(left_out.items()))})

    return door(room, report)


def ensure_report_doors() -> None:
    """Open the general report's door for every open metric that has none of its own."""
    for metric in [opened.room for opened in doors.values() if isinstance(opened.room, Metric)]:
        room = ReportRoom.general(metric.name)
        if room.name not in doors:
            door_for_reports(room, metric, partial(general_report, metric.name))


def gathered(
    room: ReportRoom, metric: Metric, request: BatchReportRequest
) -> tuple[list[Scored[Any, Any]], Counter[str]]:
    """The succeeded results that are asked for, and how many others there are of each status."""
    with transaction(ledger()) as connection:
        if request.batch is not None:
            rows = results.of_batch(connection, metric.name, request.batch)
        else:
            rows = results.of_jobs(connection, metric.name, request.jobs or ())
        return sorted_out(room, metric, rows)


def sorted_out(
    room: ReportRoom, metric: Metric, rows: Iterable[Asked]
) -> tuple[list[Scored[Any, Any]], Counter[str]]:
    """Rows as messages. Lines that share a job share its messages."""
    scored: list[Scored[Any, Any]] = []
    left_out: Counter[str] = Counter()
    read: dict[str, tuple[Any, Any]] = {}
    for row in checking(rows):
        if row.status != "succeeded" or row.job_id is None or row.request is None:
            left_out[row.status] += 1
        elif room.needs_text and row.request.get("do_not_store_text"):
            left_out["text_not_kept"] += 1
        elif (messages := read.get(row.job_id) or _messages(metric, row)) is None:
            left_out["unreadable"] += 1
        else:
            read[row.job_id] = messages
            scored.append(Scored(row.job_id, row.custom_id, *messages))
    return scored, left_out


def _messages(metric: Metric, row: Asked) -> tuple[Any, Any] | None:
    """Request and report; None where another version of the contract wrote them."""
    stored = row.request or {}
    try:
        report = metric.report.model_validate(row.result)
        if stored.get("do_not_store_text"):  # what is left of it; its texts are not there
            return metric.request.model_construct(**stored), report
        return metric.request.model_validate(stored), report
    except ValidationError:
        return None
