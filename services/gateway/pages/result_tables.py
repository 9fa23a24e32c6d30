"""Display of any result as facts and tables, for services without a page of their own. Single
values are shown as facts, and lists as tables. A text is blurred unless the service itself wrote
it, since it may come from the caller or a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from services import registry
from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.language_names import language_name
from shared.contracts.messages import JobRequest, Message, Report
from shared.contracts.reports import Interval
from shared.reports.pages.page_text import ResponseTable, counted, significant
from shared.reports.pages.report_summary import is_interval

TEMPLATE = "result_tables.html"
ON_THE_PAGE = {  # shown around every view
    "metric", "score", "range", "direction", "warnings", "provenance",
}  # fmt: skip
SUMS = {"metric", "finding", "plots", "warnings"}
OURS = frozenset(  # fields whose strings are our own
    {"model", "use", "provenance", "operation", "metric", "service_version", "labels", "languages"}
    | {"kind", "finish"}
)
OF_LANGUAGES = frozenset({"languages", "by_language"})  # their keys, or what they hold, are codes
MOST_ROWS, MOST_COLUMNS, MOST_DEPTH = 200, 30, 5
FEW = 12  # values that a list may have to be written in one line
MOST_CARDS, WIDE = 60, 16  # so many items with more columns than that are sections, not rows
MOST_CHARACTERS = 300  # of a text in a cell
NO_ANSWER = ResponseTable("")

Json = Any
Kind = Literal["number", "interval", "ours", "text"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value with its display form. Texts are blurred."""

    kind: Kind
    value: Json


NO_NUMBER = Cell("number", None)
Value = TypeVar("Value")


def _is_number(value: object) -> bool:
    if isinstance(value, Cell):
        return value.kind in ("number", "interval")
    return isinstance(value, int | float | Interval) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Generic[Value]):
    """A table with column names. The first cell of a row is the row's name. `caption` and
    `note` are for tables without a title above them. `left_out` and `columns_left_out` count
    the rows and columns that do not fit."""

    columns: Sequence[Value]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    note: str = ""
    left_out: int = 0
    columns_left_out: int = 0

    def is_numeric(self, column: int) -> bool:
        """Return True if a column has only numbers, which are aligned to the right."""
        cells = [row[column] for row in self.rows if column < len(row)]
        values = [cell for cell in cells if cell is not None and cell != NO_NUMBER]
        return bool(values) and all(map(_is_number, values))


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a result. `path` is its id, unique in the page."""

    title: Cell
    path: str
    facts: tuple[tuple[Cell, Cell], ...] = ()
    table: Table[Cell] | None = None
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultContext:
    """The data that the page needs in addition to the result. `plots` holds the titles of plots
    that the batch's page shows."""

    lead: str
    batch: str | None  # whose results are summed up
    sections: tuple[Section, ...]
    plots: tuple[str, ...]


def view(request: JobRequest | None, report: Message) -> ResultContext:
    """Return a whole result as facts and tables, without the parts that the page shows
    elsewhere."""
    summed = isinstance(report, BatchReport)
    left_out = SUMS if summed else ON_THE_PAGE if isinstance(report, Report) else set()
    answer = _answer(request, report)
    whole = TableFormatter(ours=summed, answer=answer).section(
        "result", report.model_dump(mode="json", exclude=left_out)
    )
    plain = Section(whole.title, whole.path, facts=whole.facts, table=whole.table)
    return ResultContext(
        lead=answer.lead,
        batch=request.batch if isinstance(request, BatchReportRequest) else None,
        sections=(*((plain,) if plain.facts or plain.table else ()), *whole.sections),
        plots=tuple(plot.title for plot in report.plots) if isinstance(report, BatchReport) else (),
    )


def _answer(request: JobRequest | None, report: Message) -> ResponseTable:
    """Return the summary of a result for the page, from the function `answer` of the service's
    `page.py`. Without this function, return a general summary."""
    contracts = registry.contracts().items()
    name = next((name for name, contract in contracts if contract.report is type(report)), "")
    page = registry.page(name)
    if page is not None and hasattr(page, "answer"):
        answer: ResponseTable = page.answer(request, report)
        return answer
    if isinstance(report, BatchReport):
        return ResponseTable(_mean(report))
    if isinstance(report, Report) and report.score is None:
        return ResponseTable("There is no score. The warnings say why.")
    return ResponseTable("The service returned this answer.")


def _mean(report: BatchReport) -> str:
    mean = report.score
    if mean.value is None:
        return f"There is no mean score: none of {counted(report.scored, 'result')} has a score."
    sentence = f"The mean score of {counted(mean.of, 'result')} is {mean.value:.3g}"
    if mean.low is None or mean.high is None:
        return f"{sentence}."
    sentence += f", {report.confidence:.0%} interval {mean.low:.3g} to {mean.high:.3g}"
    if mean.se is None or mean.detectable is None:
        return f"{sentence}."
    return (
        f"{sentence}, and the standard error is {significant(mean.se)}. These results can detect a "
        f"true distance of {significant(mean.detectable)} with power 0.8."
    )


@dataclass(frozen=True)
class TableFormatter:
    """Converts results to titled sections. `ours` means that no text comes from a caller or model.
    `answer` names one field, and the row and column names for its table."""

    ours: bool = False
    answer: ResponseTable = NO_ANSWER

    def section(self, name: str, value: Json, path: str = "part", *, ours: bool = False) -> Section:
        """Return part of a result as a titled section. `path` must be unique in the page. `ours` is
        True if the service wrote all strings of the value, so that none is blurred."""
        ours = ours or self.ours or name in OURS
        title = self._name(name)
        value = with_language_names(name, value)
        if isinstance(value, list):
            if _needs_sections(value):
                return Section(title, path, sections=self._item_sections(name, value, path, ours))
            names = [Cell("ours", str(place)) for place in range(1, len(value) + 1)]
            answers = name == self.answer.field
            if answers and len(value) == len(self.answer.subjects):
                names = [cell(subject, self.ours) for subject in self.answer.subjects]
            columns = self.answer.columns if answers else ()
            return Section(
                title, path, table=self._table(list(zip(names, value, strict=True)), ours, columns)
            )
        if not isinstance(value, Mapping):
            return Section(title, path, facts=((title, cell(value, ours)),))
        if _has_same_keys(list(value.values())):
            rows = [(self._name(key), held) for key, held in value.items()]
            return Section(title, path, table=self._table(rows, ours))
        deep = path.count("-") >= MOST_DEPTH
        plain = [name for name in value if deep or self._is_plain(name, value[name])]
        rest = [name for name in value if name not in plain]
        return Section(
            title,
            path,
            facts=tuple(
                (self._name(name), cell(value[name], ours or self.ours or name in OURS))
                for name in plain
            ),
            sections=tuple(
                self.section(name, value[name], f"{path}-{place}", ours=ours)
                for place, name in enumerate(rest)
            ),
        )

    def _item_sections(
        self, name: str, values: list[Json], path: str, ours: bool
    ) -> tuple[Section, ...]:
        return tuple(
            self.section(f"{name} {place}", value, f"{path}-{place}", ours=ours)
            for place, value in enumerate(values, 1)
        )

    def _table(
        self, rows: list[tuple[Cell, Json]], ours: bool, columns: Sequence[str] = ()
    ) -> Table[Cell]:
        flat = [(name, _flatten(value)) for name, value in rows[:MOST_ROWS]]
        every = list(dict.fromkeys(key for _, row in flat for key in row))
        keys = every[:MOST_COLUMNS]
        named = columns if len(columns) == len(keys) else keys
        return Table(
            columns=(Cell("ours", "Row"), *(self._name(key) for key in named)),
            rows=tuple(
                (name, *(cell(row.get(key), ours or key in OURS) for key in keys))
                for name, row in flat
            ),
            left_out=len(rows) - len(flat),
            columns_left_out=len(every) - len(keys),
        )

    def _is_plain(self, name: str, value: Json) -> bool:
        """Return True if the value can be shown on one line of the section, without a table or
        section."""
        if isinstance(value, list):
            short = len(value) <= FEW and not any(isinstance(item, list | dict) for item in value)
            return not value or (short and name != self.answer.field)
        return not isinstance(value, Mapping) or is_interval(value) or not value

    def _name(self, name: str) -> Cell:
        """Return a field's name as words. A key that cannot be a field name comes from the caller
        and is blurred."""
        bare = name.replace(" ", "_")
        ours = self.ours or (bare.isascii() and (bare.isidentifier() or bare.isdigit()))
        return Cell("ours" if ours else "text", name.replace("_", " "))


def with_language_names(name: str, value: Json) -> Json:
    """Return the value of the field `name`, with language codes replaced by display names."""
    if name not in OF_LANGUAGES or not isinstance(value, Mapping):
        return value
    return {language_name(key): _with_language(held) for key, held in value.items()}


def _with_language(held: Json) -> Json:
    if not isinstance(held, Mapping) or not isinstance(held.get("code"), str):
        return held
    return {**held, "code": language_name(held["code"])}


def _has_same_keys(values: list[Json]) -> bool:
    """Return True if the values can be rows of one table: mappings with the same keys."""
    mappings = [value for value in values if isinstance(value, Mapping)]
    return (
        len(values) > 1 and len(mappings) == len(values) and len(set(map(frozenset, values))) == 1
    )


def _needs_sections(values: list[Json]) -> bool:
    """Return True if the values are too wide for table rows and few enough for sections."""
    mappings = [value for value in values if isinstance(value, Mapping)]
    wide = any(len(_flatten(value)) > WIDE for value in mappings)
    return wide and len(mappings) == len(values) <= MOST_CARDS


def _flatten(value: Json) -> dict[str, Json]:
    """Return the cells of a row by column name. Nested values are named by path."""
    if isinstance(value, list) and len(value) <= MOST_COLUMNS:
        return {str(place): held for place, held in enumerate(value, 1)}
    if not isinstance(value, Mapping) or is_interval(value):
        return {"value": value}
    cells: dict[str, Json] = {}
    for name, held in value.items():
        if isinstance(held, Mapping) and held and not is_interval(held):
            cells |= {f"{name} {inner}": deep for inner, deep in _flatten(held).items()}
        else:
            cells[name] = held
    return cells


def cell(value: Json, ours: bool) -> Cell:
    """Return a value for display. `ours` is True if strings in the value come from the service, and
    False if they come from the caller. Lists and objects are shown as shortened text."""
    if isinstance(value, bool):
        return Cell("ours", "yes" if value else "no")
    if value is None or isinstance(value, int | float):
        return Cell("number", value)
    if is_interval(value):
        return Cell("interval", value)
    if not isinstance(value, str) and not value:
        return Cell("ours", "none")
    text = value if isinstance(value, str) else _to_text(value)
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS] + "…"
    return Cell("ours" if ours or _is_numeric(value) else "text", text)


def _is_numeric(value: Json) -> bool:
    """Return True for a number, or for nested lists that contain only numbers."""
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return value is None or isinstance(value, bool | int | float)


def _to_text(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
