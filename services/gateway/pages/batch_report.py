"""A batch report as a page or as one HTML file, in tables with captions.

Single values become a table of two columns. Records of the same kind become the rows of a table.
The charts that a metric defines come before the tables. If there are many charts of a kind, a page
draws only some of them. A file draws all.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup
from pydantic import ValidationError

from services.gateway.pages.batch_outcome import outcome_of
from services.gateway.pages.gold_section import gold_section
from services.gateway.pages.result_tables import Table, with_language_names
from services.gateway.pages.templates import STATIC, render
from services.gateway.results.result_pages import ResultCounts, ResultRow
from services.gateway.views import batch_json
from services.registry import metrics, page, reported, surprising_words
from shared.contracts.language_names import language_name
from shared.contracts.messages import Message
from shared.contracts.reports import Interval
from shared.ledger.batch_lines import STATUSES
from shared.ledger.batches import Batch
from shared.reports.charts.engine import in_the_dark
from shared.reports.pages.page_text import significant
from shared.reports.pages.report_design import (
    AT_ONCE,
    Block,
    Forest,
    Pair,
    Record,
    count_bars,
    forest,
    is_shown,
    record,
)
from shared.reports.pages.report_summary import fold_alike, is_interval

ELSEWHERE = {  # what the summary says
    "metric", "score", "scored", "undefined", "warnings", "plots",
    "seed", "resamples", "confidence", "service_version", "duplicates",
    "statistics_version", "sequence", "splits", "finding",
}  # fmt: skip
ASKED_FOR = {"comparison", "further", "agreement", "gold", "plan", "corrected"}
LINKED = {"of_model", "of_metadata"}  # links of charts say it
MOST_COLUMNS = 24  # a wider one is cut into a table a row
SINGLE = (str, int, float, bool, type(None))
ReportValue = Interval | str | float | bool | list[Any] | None
ReportTable = Table[ReportValue]
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SHEETS = ("site.css", "batch.css")


def design_of(metric: str, report: Record | None) -> list[Block]:
    """Return the charts of this report in order, or an empty list without a report."""
    design = getattr(page(metric), "design", None)
    if design is None or report is None:
        return []
    blocks = [*design(report), *_common(report)]
    return [block for block in blocks if not block.is_empty]


@dataclass(frozen=True)
class ChartsAtOnce:
    """The charts that a page draws at once. `shown` holds their numbers, counted from 1. `others`
    links to the other groups of charts as (first, last, address)."""

    blocks: Sequence[Block]
    shown: tuple[int, int] = (0, 0)
    others: Sequence[tuple[int, int, str]] = ()
    count: int = 0


def charts_at_once(
    blocks: Sequence[Block], first: int, address: Callable[[int], str]
) -> ChartsAtOnce:
    """Return the group of charts that contains the chart at index `first`. `address` returns the
    page address for a chart."""
    count = max(
        (number + 1 for block in blocks if (number := _number(block)) is not None), default=0
    )
    if count <= AT_ONCE:
        return ChartsAtOnce(blocks)
    start = first // AT_ONCE * AT_ONCE if first < count else 0
    drawn = range(start, min(start + AT_ONCE, count))
    kept = [block for block in blocks if (number := _number(block)) is None or number in drawn]
    others = [
        (low + 1, min(low + AT_ONCE, count), address(low))
        for low in range(0, count, AT_ONCE)
        if low != start
    ]
    return ChartsAtOnce(kept, (drawn.start + 1, drawn.stop), others, count)


def _number(block: Block) -> int | None:
    return None if isinstance(block, Forest) else block.number


def _common(report: Record) -> Iterator[Block]:
    by_language = record(report, "by_language").items()
    scores = {language_name(code): record(language, "score") for code, language in by_language}
    languages = {name: score for name, score in scores.items() if is_shown(score)}
    if len(languages) > 1:
        yield forest("Mean score by language of the text", languages)
    left_out = record(report, "left_out")
    filters: dict[str, Pair] = {
        status: ("status", status) for status in STATUSES if status in left_out
    }
    yield count_bars("Lines left out, by state", left_out, filters=filters)


@dataclass(frozen=True)
class TableEntry:
    """A named value in a record."""

    name: str
    value: Any
    note: str = ""


def tables_of(report: Message | Record) -> list[ReportTable]:
    """Return tables of the results that only this metric's reports have."""
    entries = [entry for entry in _entries(report) if entry.name.replace(" ", "_") not in ELSEWHERE]
    wanted = [entry for entry in entries if entry.name not in ASKED_FOR or entry.value]
    return list(_record(wanted, ""))


def _record(entries: list[TableEntry], caption: str) -> Iterator[ReportTable]:
    single = [entry for entry in entries if _is_single(entry.value)]
    if single:
        rows: list[list[ReportValue]] = [[entry.name, _to_value(entry.value)] for entry in single]
        columns: list[ReportValue] = ["", "value"]
        if any(entry.note for entry in single):
            columns.append("description")
            rows = [[*row, entry.note] for row, entry in zip(rows, single, strict=True)]
        yield Table(caption=caption or "Over all results", columns=columns, rows=rows)
    for entry in entries:
        if not _is_single(entry.value):
            path = f"{caption} › {entry.name}" if caption else entry.name
            yield from _nested_tables(path, entry)


def _nested_tables(caption: str, entry: TableEntry) -> Iterator[ReportTable]:
    if isinstance(entry.value, Sequence):
        named = [TableEntry(str(place), value) for place, value in enumerate(entry.value, 1)]
        yield from _rows(caption, named, entry.note, first="#")
    elif _is_uniform(inside := _entries(entry.value)):
        yield from _rows(caption, inside, entry.note, first="")
    elif inside:
        for number, table in enumerate(_record(inside, caption)):
            note = entry.note if number == 0 else table.note
            yield replace(table, note=note)


def _rows(caption: str, named: list[TableEntry], note: str, first: str) -> Iterator[ReportTable]:
    """Yield a table with one row per record of the same kind, then the nested tables of each
    row."""
    flat = [dict(_flatten(_entries(entry.value))) for entry in named]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    if len(columns) > MOST_COLUMNS:
        for entry, row in zip(named, flat, strict=True):
            yield from _record(_entries(entry.value), f"{caption} › {_label(entry, row)}")
        return
    if columns:
        rows: list[list[ReportValue]] = [
            [entry.name, *(_to_value(row.get(column)) for column in columns)]
            for entry, row in zip(named, flat, strict=True)
        ]
        yield Table(caption=caption, columns=[first, *columns], rows=rows, note=note)
    for entry, row in zip(named, flat, strict=True):
        for deeper in _nested(_entries(entry.value)):
            path = f"{caption} › {_label(entry, row)} › {deeper.name}"
            yield from _nested_tables(path, deeper)


def _flatten(entries: list[TableEntry], before: str = "") -> Iterator[tuple[str, Any]]:
    for entry in entries:
        name = f"{before}{entry.name}"
        if _is_single(entry.value):
            yield name, entry.value
        elif not isinstance(entry.value, Sequence):
            yield from _flatten(_entries(entry.value), f"{name} · ")


def _nested(entries: list[TableEntry], before: str = "") -> Iterator[TableEntry]:
    """Yield the lists of records within these entries, at any depth."""
    for entry in entries:
        name = f"{before}{entry.name}"
        if _is_single(entry.value):
            continue
        if isinstance(entry.value, Sequence):
            yield TableEntry(name, entry.value, entry.note)
        else:
            yield from _nested(_entries(entry.value), f"{name} · ")


def _entries(value: Any) -> list[TableEntry]:
    """Return the named entries of a value. Field names become words. Dictionary keys stay
    unchanged."""
    if _is_single(value):
        return [TableEntry("value", value)]
    if isinstance(value, Message):
        return [
            TableEntry(
                name.replace("_", " "),
                with_language_names(name, getattr(value, name)),
                field.description or "",
            )
            for name, field in type(value).model_fields.items()
            if name not in LINKED
        ]
    if isinstance(value, Mapping):
        return [
            TableEntry(str(name), with_language_names(name, inside))
            for name, inside in value.items()
        ]
    return [TableEntry(str(place), inside) for place, inside in enumerate(value, 1)]


def _is_uniform(entries: list[TableEntry]) -> bool:
    if len(entries) < 2 or any(
        _is_single(entry.value) or isinstance(entry.value, Sequence) for entry in entries
    ):
        return False
    return len({tuple(inner.name for inner in _entries(entry.value)) for entry in entries}) == 1


def _is_single(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_interval(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(isinstance(item, SINGLE) for item in value)
    return isinstance(value, (*SINGLE, Interval))


def _to_value(value: Any) -> ReportValue:
    if isinstance(value, Mapping):
        return Interval.model_validate(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    single: ReportValue = value
    return single


def _label(entry: TableEntry, row: Mapping[str, Any]) -> str:
    """Return a record's position and its first texts, which help readers to recognise it."""
    words = [value for value in row.values() if isinstance(value, str)][:2]
    return f"{entry.name} ({', '.join(words)})" if words else entry.name


@dataclass(frozen=True)
class PlotImage:
    """A plot of the report. `source` and `dark` are its addresses for light and dark pages."""

    title: str
    source: str
    dark: str


@dataclass(frozen=True)
class ReportSummary:
    """A finished report. `range` and `direction` describe the metric's score, if known."""

    finding: str
    score: Interval | None
    range: tuple[float, float] | None
    direction: str
    facts: list[tuple[str, Any]]
    warnings: list[str]
    tables: list[ReportTable]
    pictures: list[PlotImage]


def summary_of(batch: Batch, report: dict[str, Any], *, inside: bool) -> ReportSummary:
    """Return the report for its page. With `inside`, plots are embedded in the page, otherwise
    linked. A report of an unknown form is shown unchanged."""
    metric, contract = metrics().get(batch.metric), reported().get(batch.metric)
    score: Interval | None = None
    whole: Message | Record = report
    with suppress(ValidationError):
        score = Interval.model_validate(report.get("score"))
    with suppress(ValidationError):
        whole = report if contract is None else contract.batch_report.model_validate(report)
    fields = {} if metric is None else metric.report.model_fields
    named = {
        "results": "scored",
        "without a score": "undefined",
        "confidence level of intervals": "confidence",
        "repeated results, counted once": "duplicates",
        "bootstrap resamples": "resamples",
        "version of the statistics": "statistics_version",
        "seed": "seed",
        "version of the service": "service_version",
    }
    facts = [(words, report[name]) for words, name in named.items() if name in report]
    if (looks := report.get("sequence")) is not None:
        ends = f"{significant(looks['low'])} to {significant(looks['high'])}"
        facts.append(
            (
                "mean score, with an interval that stays valid when you check it repeatedly",
                f"{ends}, {looks['of']} texts",
            )
        )
    pictures = []
    for plot in report.get("plots", ()):
        url = f"/batches/{batch.id}/plots/{plot['name']}.svg"
        urls = (url, f"{url}?theme=dark")
        if inside:
            urls = _data_url(plot["svg"]), _data_url(in_the_dark(plot["svg"]))
        pictures.append(PlotImage(plot["title"], *urls))
    return ReportSummary(
        finding=str(report.get("finding", "")),
        score=score,
        range=None if metric is None else metric.score_range,
        direction=str(fields["direction"].default) if "direction" in fields else "",
        facts=facts,
        warnings=fold_alike(str(warning) for warning in report.get("warnings", ())),
        tables=tables_of(whole),
        pictures=pictures,
    )


@dataclass(frozen=True)
class FileLines:
    """The batch lines in an HTML file. `rows` holds the first of the chosen lines. `counts`
    and `provenance` describe all chosen lines."""

    rows: Sequence[ResultRow]
    counts: ResultCounts
    provenance: Record


@dataclass(frozen=True)
class FileSelection:
    """How the lines of an HTML file were selected. `filters` says it in words. A shared link has a
    `name`, and `until`, the Unix time when it expires."""

    filters: Sequence[str] = ()
    name: str = ""
    until: float | None = None


WORST_LINES = FileSelection()


def file_of(
    batch: Batch, report: dict[str, Any], lines: FileLines, selection: FileSelection
) -> str:
    """Return the report as one HTML file without scripts, external content or users' texts. An
    empty report leaves only the lines."""
    contract = reported().get(batch.metric)
    sheets = "\n".join((STATIC / name).read_text("utf-8") for name in SHEETS)
    return render(
        "batch_file.html",
        batch=batch_json(batch),
        contract=metrics().get(batch.metric),
        summary=summary_of(batch, report, inside=True),
        finding=outcome_of(contract, lines.counts, report),
        is_metric=batch.metric in metrics(),
        selection=selection,
        whole=bool(report),
        items=lines.rows,
        reasons=lines.counts.card.problems,
        provenance=lines.provenance,
        blocks=design_of(batch.metric, report),
        gold=gold_section(report),
        words=surprising_words(batch.metric),
        policy=FILE_POLICY,
        sheets=Markup(sheets),  # noqa: S704 (our own files)
    )


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
