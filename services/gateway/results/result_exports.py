"""Reads the results of a batch with their jobs, in the order of the file, for export or for scoring
again."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from services.gateway.results.result_pages import FACTS, ResultFilter, ResultRow, filters
from shared.ledger.tables import jobs, result_facts


class ExportedRow(NamedTuple):
    row: ResultRow
    request: dict[str, Any] | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None


def exported(
    connection: Connection, selection: ResultFilter, after_line: int, limit: int
) -> list[ExportedRow]:
    """Return the next `limit` results after the line `after_line`, in the order of the file."""
    width = len(ResultRow._fields)
    query = (
        select(*(FACTS[name] for name in ResultRow._fields))
        .add_columns(jobs.c.request, jobs.c.result, jobs.c.error)
        .select_from(result_facts.outerjoin(jobs, jobs.c.id == FACTS.job_id))
        .where(*filters(selection), FACTS.line > after_line)
        .order_by(FACTS.line)
        .limit(limit)
    )
    return [
        ExportedRow(ResultRow(*row[:width]), row.request, row.result, row.error)
        for row in connection.execute(query)
    ]


class RequestRow(NamedTuple):
    line: int
    custom_id: str
    request: dict[str, Any]
    result: dict[str, Any] | None


def requests_of(
    connection: Connection, selection: ResultFilter, after_line: int, limit: int
) -> list[RequestRow]:
    """Return the next `limit` results after the line `after_line` that have a job, in the order of
    the file. They include the metadata of their lines."""
    query = (
        select(FACTS.line, FACTS.custom_id, jobs.c.request, jobs.c.result, FACTS.metadata)
        .join(jobs, jobs.c.id == FACTS.job_id)
        .where(*filters(selection), FACTS.line > after_line)
        .order_by(FACTS.line)
        .limit(limit)
    )
    return [
        RequestRow(line, custom_id, {**request, "metadata": metadata}, result)
        for line, custom_id, request, result, metadata in connection.execute(query)
    ]
