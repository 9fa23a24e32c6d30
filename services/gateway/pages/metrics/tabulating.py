"""Any message as facts and tables: what a result looks like that has no view of its own.

Facts are single values; lists, and mappings of alike messages, are tables; the rest is a section of
its own. A string is shown as the caller's or a model's unless it is known to be ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.gateway.pages.metrics.cells import Cell, Json, cell, is_interval

MOST_ROWS, MOST_COLUMNS, MOST_DEPTH = 200, 30, 5
FEW = 12  # values that a list may have to be written in one line
MOST_CARDS, WIDE = 60, 16  # so many items with more columns than that are sections, not rows
OURS = frozenset(
    {"model", "use", "provenance", "operation", "metric", "service_version", "labels", "languages"}
    | {"kind", "finish"}
)
ANSWERS = frozenset({"answer", "similarities"})  # lists of a row for each that was asked

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
