"""A result of a room without a view of its own: everything in it, as facts and tables.

Any message as facts and tables: what a result looks like that has no view of its own.

Facts are single values; lists, and mappings of alike messages, are tables; the rest is a section of
its own. A string is shown as the caller's or a model's unless it is known to be ours.

One value of a result as a page shows it: a number, an interval, our own word, or a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from services.inference.contract import InferenceReport, InferenceRequest
from services.similarity.contract import SimilarityReport, SimilarityRequest
from shared.contracts import BatchReport, BatchReportRequest, JobRequest, Message, Report
from shared.models.calls import Example, Prompt

TEMPLATE = "metrics/general.html"


ON_THE_PAGE = {
    "metric",
    "score",
    "range",
    "direction",
    "warnings",
    "provenance",
}  # shown around every view


SUMS = {"metric", "plots", "warnings"}


BY_LABEL = {"judge", "probabilities"}  # operations that answer a row of label probabilities each


Json = Any


Kind = Literal["number", "interval", "ours", "text"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value, and how it is to be shown; numbers may be None, texts are blurred."""

    kind: Kind
    value: Json


Row = tuple[Cell, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; what is left out is in the JSON only."""

    columns: tuple[Cell, ...]
    rows: tuple[Row, ...]
    left_out: int = 0
    columns_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a result. path: unique in the page."""

    title: Cell
    path: str
    facts: tuple[tuple[Cell, Cell], ...] = ()
    table: Table | None = None
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneralView:
    """All that the template shows beside the report."""

    lead: str
    batch: str | None  # whose results are summed up
    sections: tuple[Section, ...]
    plots: tuple[str, ...]  # titles: the batch's page shows the pictures


def view(request: JobRequest | None, report: Message) -> GeneralView:
    """What the page says of this report."""
    summed = isinstance(report, BatchReport)
    left_out = SUMS if summed else ON_THE_PAGE if isinstance(report, Report) else set()
    shown = report.model_dump(mode="json", exclude=left_out)
    how = Tabulating(ours=summed, subjects=_subjects(request), columns=_columns(report))
    return GeneralView(
        lead=_lead(report),
        batch=request.batch if isinstance(request, BatchReportRequest) else None,
        sections=_sections(how, shown),
        plots=tuple(plot.title for plot in report.plots) if isinstance(report, BatchReport) else (),
    )


def _sections(how: Tabulating, shown: dict[str, Any]) -> tuple[Section, ...]:
    """Single values together first, then a section for each of the others."""
    whole = how.section("result", shown)
    plain = Section(whole.title, whole.path, facts=whole.facts, table=whole.table)
    return (*((plain,) if plain.facts or plain.table else ()), *whole.sections)


def _lead(report: Message) -> str:
    match report:
        case BatchReport():
            return _mean(report)
        case InferenceReport():
            return f"What {report.model.name} answered to the operation {report.operation}."
        case SimilarityReport():
            return (
                f"How similar the texts of {_counted(len(report.similarities), 'pair')} are, "
                f"by {report.model.name}: 0 to 1."
            )
        case Report() if report.score is None:
            return "The score is undefined: the warnings say why."
    return "What the room answered."


def _mean(report: BatchReport) -> str:
    mean = report.score
    if mean.value is None:
        return f"No mean score: none of {_counted(report.scored, 'result')} has one."
    said = f"The mean score of {_counted(mean.of, 'result')} is {mean.value:.3g}"
    if mean.low is None or mean.high is None:
        return f"{said}."
    return f"{said}, {report.confidence:.0%} interval {mean.low:.3g} to {mean.high:.3g}."


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _columns(report: Message) -> tuple[str, ...]:
    """A classifier's labels name the columns of its probabilities."""
    if isinstance(report, InferenceReport) and report.operation in BY_LABEL:
        return report.labels
    return ()


def _subjects(request: JobRequest | None) -> list[str]:
    """What the rows of the answer are about, where a row is asked for each."""
    match request:
        case SimilarityRequest():
            return [f"{pair.a} · {pair.b}" for pair in request.pairs]
        case InferenceRequest():
            asked = request.ask
            for name in ("examples", "texts", "prompts"):
                if (given := getattr(asked, name, None)) is not None:
                    return [_said(one) for one in _listed(given)]
    return []


def _listed(given: object) -> Sequence[object]:
    return given if isinstance(given, Sequence) else ()


def _said(one: object) -> str:
    match one:
        case Example(text=text, text_pair=None):
            return text
        case Example(text=text, text_pair=pair):
            return f"{text} · {pair}"
        case Prompt(text=str(text)):
            return text
        case Prompt(turns=turns):
            return " · ".join(turn.content for turn in turns or ())
    return str(one)


MOST_ROWS, MOST_COLUMNS, MOST_DEPTH = 200, 30, 5


FEW = 12  # values that a list may have to be written in one line


MOST_CARDS, WIDE = 60, 16  # so many items with more columns than that are sections, not rows


OURS = frozenset(
    {"model", "use", "provenance", "operation", "metric", "service_version", "labels", "languages"}
    | {"kind", "finish"}
)


ANSWERS = frozenset({"answer", "similarities"})  # lists of a row for each that was asked


@dataclass(frozen=True)
class Tabulating:
    """How results become sections.

    ours: whether every string is our own, as in sums over many results.
    subjects: what the rows of an answer are about, where it has just so many.
    columns: what the numbers of a row of an answer are, where it has just so many.
    """

    ours: bool = False
    subjects: Sequence[str] = ()
    columns: Sequence[str] = ()

    def section(self, name: str, value: Json, path: str = "part", *, ours: bool = False) -> Section:
        """A part of a result by its name, with all that is in it."""
        ours = ours or self.ours or name in OURS
        title = self._name(name)
        if isinstance(value, list):
            if _are_cards(value):
                return Section(title, path, sections=self._cards(name, value, path, ours))
            return Section(title, path, table=self._listed(name, value, ours))
        if not isinstance(value, Mapping):
            return Section(title, path, facts=((title, cell(value, ours)),))
        if _alike(list(value.values())):
            rows = [(self._name(key), held) for key, held in value.items()]
            return Section(title, path, table=self._table(rows, ours))
        return self._mixed(title, value, path, ours)

    def _mixed(self, title: Cell, value: Mapping[str, Json], path: str, ours: bool) -> Section:
        deep = path.count("-") >= MOST_DEPTH
        plain = [name for name in value if deep or _is_plain(name, value[name])]
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

    def _cards(self, name: str, values: list[Json], path: str, ours: bool) -> tuple[Section, ...]:
        return tuple(
            self.section(f"{name} {place}", value, f"{path}-{place}", ours=ours)
            for place, value in enumerate(values, 1)
        )

    def _listed(self, name: str, values: list[Json], ours: bool) -> Table:
        names = [Cell("ours", str(place)) for place in range(1, len(values) + 1)]
        answers = name in ANSWERS
        if answers and len(values) == len(self.subjects):
            names = [cell(subject, self.ours) for subject in self.subjects]
        columns = self.columns if answers else ()
        return self._table(list(zip(names, values, strict=True)), ours, columns)

    def _table(
        self, rows: list[tuple[Cell, Json]], ours: bool, columns: Sequence[str] = ()
    ) -> Table:
        flat = [(name, _flat(value)) for name, value in rows[:MOST_ROWS]]
        every = list(dict.fromkeys(key for _, row in flat for key in row))
        keys = every[:MOST_COLUMNS]
        named = columns if len(columns) == len(keys) else keys
        return Table(
            tuple(self._name(key) for key in named),
            tuple(
                (name, tuple(cell(row.get(key), ours or key in OURS) for key in keys))
                for name, row in flat
            ),
            left_out=len(rows) - len(flat),
            columns_left_out=len(every) - len(keys),
        )

    def _name(self, name: str) -> Cell:
        """A field's name as people write it; a key that is no such name is the caller's."""
        bare = name.replace(" ", "_")
        ours = self.ours or (bare.isascii() and (bare.isidentifier() or bare.isdigit()))
        return Cell("ours" if ours else "text", name.replace("_", " "))


def _is_plain(name: str, value: Json) -> bool:
    """Whether one line says it."""
    if isinstance(value, list):
        short = len(value) <= FEW and not any(isinstance(one, list | dict) for one in value)
        return not value or (short and name not in ANSWERS)
    return not isinstance(value, Mapping) or is_interval(value) or not value


def _alike(values: list[Json]) -> bool:
    """Whether these are rows of one table: mappings with the same keys."""
    mappings = [value for value in values if isinstance(value, Mapping)]
    return (
        len(values) > 1 and len(mappings) == len(values) and len(set(map(frozenset, values))) == 1
    )


def _are_cards(values: list[Json]) -> bool:
    """Whether these are too wide for rows, and few enough for sections."""
    mappings = [value for value in values if isinstance(value, Mapping)]
    wide = any(len(_flat(value)) > WIDE for value in mappings)
    return wide and len(mappings) == len(values) <= MOST_CARDS


def _flat(value: Json) -> dict[str, Json]:
    """A row's cells by column; what is nested in it by its path."""
    if isinstance(value, list) and len(value) <= MOST_COLUMNS:
        return {str(place): held for place, held in enumerate(value, 1)}
    if not isinstance(value, Mapping) or is_interval(value):
        return {"value": value}
    found: dict[str, Json] = {}
    for name, held in value.items():
        if isinstance(held, Mapping) and held and not is_interval(held):
            found |= {f"{name} {inner}": deep for inner, deep in _flat(held).items()}
        else:
            found[name] = held
    return found


MOST_CHARACTERS = 300


INTERVAL = {"value", "low", "high", "of"}  # the fields of `shared.batch_reports.Interval`


def cell(value: Json, ours: bool) -> Cell:
    """ours: whether strings in it are our own words. What is nested is JSON, and cut short."""
    if isinstance(value, bool):
        return Cell("ours", "yes" if value else "no")
    if value is None or isinstance(value, int | float):
        return Cell("number", value)
    if is_interval(value):
        return Cell("interval", value)
    if not isinstance(value, str) and not value:
        return Cell("ours", "none")
    said = value if isinstance(value, str) else _written(value)
    if len(said) > MOST_CHARACTERS:
        said = said[:MOST_CHARACTERS] + "…"
    return Cell("ours" if ours or _is_wordless(value) else "text", said)


def is_interval(value: Json) -> bool:
    """Whether this is an estimate with its interval."""
    return isinstance(value, Mapping) and set(value) == INTERVAL


def _is_wordless(value: Json) -> bool:
    """Numbers within lists hold no text."""
    if isinstance(value, list):
        return all(map(_is_wordless, value))
    return value is None or isinstance(value, bool | int | float)


def _written(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
