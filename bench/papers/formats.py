"""Writes tables as Markdown, JSON and CSV, and the jobs behind each cell. Equal numbers give equal
bytes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.papers.tables import OUTCOMES, Line, LineDifference, PaperTable, TableCell
from shared.statistics.intervals import IntervalEstimate

NOTHING = "–"
MOST_ERRORS = 5  # of a line, in words
UNLIKE = (
    "An interval is of its own number, made by resampling and not corrected; p asks another "
    "question, by exchanging the rows of both (t too, of paired means: the larger counts). So "
    "an interval may leave out 0 where p does not call the difference found. What is found is said "
    "by p (Holm)."
)
NUMBERS = ("value", "low", "high", "n", "clusters", "method")


def as_json(about: Mapping[str, Any], tables: Sequence[PaperTable]) -> str:
    """Return the tables as JSON. `about` holds the settings of the run. The jobs are in a separate
    file, because they differ between runs."""
    return _dumped({**about, "tables": [_table_object(table) for table in tables]})


def as_jobs(tables: Sequence[PaperTable]) -> str:
    """Return the ids of the jobs behind each cell."""
    found = [
        {**_named(table, line.place), "table": table.plan.name, "column": cell.column,
         "jobs": list(cell.jobs)}
        for table in tables for line in table.lines for cell in line.cells
    ]  # fmt: skip
    return _dumped({"cells": found})


def as_csv(tables: Sequence[PaperTable]) -> str:
    keys = list(dict.fromkeys(name for table in tables for name in table.plan.key_names))
    stream = io.StringIO()
    columns = ["table", *keys, "column", *NUMBERS, "p_value", "p_adjusted", *OUTCOMES]
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for line in table.lines:
            for cell in line.cells:
                named = {"table": table.plan.name, **_named(table, line.place)}
                outcomes = {str(kind): count for kind, count in line.outcomes.items()}
                writer.writerow({**named, "column": cell.column, **_cell(cell), **outcomes})
    return stream.getvalue()


def as_markdown(about: Mapping[str, Any], tables: Sequence[PaperTable]) -> str:
    lines = list(_heading(about))
    told: set[tuple[str, ...]] = set()  # lines whose errors stand above
    for table in tables:
        lines += _section(table, told)
    return "\n".join(lines) + "\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _named(table: PaperTable, place: Sequence[str]) -> dict[str, str]:
    return dict(zip(table.plan.key_names, place, strict=True))


def _table_object(table: PaperTable) -> dict[str, Any]:
    return {
        "name": table.plan.name,
        "title": table.plan.title,
        "columns": [{"name": one.name, "title": one.title} for one in table.plan.columns],
        "lines": [
            {
                **_named(table, line.place),
                "rows": line.outcomes,
                "cells": {cell.column: _cell(cell) for cell in line.cells},
                "errors": list(line.errors),
            }
            for line in table.lines
        ],
        "differences": [_difference(table, one) for one in table.differences],
        "notes": list(table.notes),
    }


def _numbers(found: IntervalEstimate) -> dict[str, Any]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.rows,
        "clusters": found.clusters,
        "method": found.method,
    }


def _cell(cell: TableCell) -> dict[str, Any]:
    return {**_numbers(cell.found), "p_value": cell.p, "p_adjusted": cell.p_adjusted}


def _difference(table: PaperTable, one: LineDifference) -> dict[str, Any]:
    return {
        "first": _named(table, one.first),
        "second": _named(table, one.second),
        "column": one.column,
        **_numbers(one.found),
        "p_value": one.p,
        "p_adjusted": one.p_adjusted,
    }


def _heading(about: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {about['paper']}: models side by side"
    yield ""
    yield f"After {about['source']}. Seed {about['seed']}. A cell: value, its"
    yield f"{about['confidence']:.0%} interval over texts, and n, the rows behind it."
    yield ""
    yield from _grid(
        ["data set", "rows", "SHA-256 of the file"],
        [[one["name"], str(one["rows"]), one["sha256"][:16]] for one in about["data"]],
    )


def _section(table: PaperTable, told: set[tuple[str, ...]]) -> Iterator[str]:
    yield ""
    yield f"## {table.plan.name}: {table.plan.title}"
    yield ""
    outcomes = () if table.plan.counts else OUTCOMES
    heads = [*table.plan.key_names, *(one.title for one in table.plan.columns), *outcomes]
    rows = [
        [
            *line.place,
            *(_shown_cell(cell, is_count=table.plan.counts) for cell in line.cells),
            *(str(line.outcomes[kind]) for kind in outcomes),
        ]
        for line in table.lines
    ]
    yield from _grid(heads, rows) if rows else ["There is no row of this kind."]
    yield from (f"\n{note[0].upper()}{note[1:]}." for note in table.notes)
    yield from _errors([line for line in table.lines if line.place not in told])
    told.update(line.place for line in table.lines)
    yield from _shown_differences(table)


def _errors(lines: Sequence[Line]) -> Iterator[str]:
    found = [(line, error) for line in lines for error in line.errors[:MOST_ERRORS]]
    if found:
        yield ""
    for line, error in found:
        yield f"- {', '.join(line.place)}: {error}"


def _shown_differences(table: PaperTable) -> Iterator[str]:
    told = [one for one in table.differences if one.p is not None]
    if not told:
        return
    titles = {one.name: one.title for one in table.plan.columns}
    yield ""
    on = "of lines that share no row" if table.plan.contrasts else "on the rows that both have"
    yield f"Differences, {on}; p after Holm over all {len(told)} of them. {UNLIKE}"
    yield ""
    yield from _grid(
        ["first", "second", "column", "first - second", "p", "p (Holm)"],
        [
            [", ".join(one.first), ", ".join(one.second), titles[one.column], _shown(one.found),
             _shown_p(one.p), _shown_p(one.p_adjusted)]
            for one in told
        ],
    )  # fmt: skip


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _shown_cell(cell: TableCell, *, is_count: bool) -> str:
    if is_count:
        return str(cell.found.rows)
    p = "" if cell.p_adjusted is None else f", p {_shown_p(cell.p_adjusted)}"
    return f"{_shown(cell.found)}{p}"


def _shown(found: IntervalEstimate) -> str:
    if found.value is None:
        return f"{NOTHING} n {found.rows}"
    ends = (NOTHING if end is None else f"{end:.3f}" for end in (found.low, found.high))
    return f"{found.value:.3f} [{', '.join(ends)}] n {found.rows}"


def _shown_p(p: float | None) -> str:
    return NOTHING if p is None else f"{p:.3g}"
