"""Computes the papers' tables from observations: lines of cells with intervals, and differences
between lines that differ in one name.

The differences of a table are corrected together (Holm), and so are its tests against chance. The
order of rows and models does not change any number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import get_args

from bench.papers.columns import (
    ColumnTest,
    MeanColumn,
    Observation,
    Outcome,
    TableColumn,
)
from shared.statistics.bootstrap import Resampling
from shared.statistics.families import holm
from shared.statistics.intervals import IntervalEstimate

Place = tuple[str, ...]  # a line's names, as `key_names` calls them
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Remarks = Callable[[Sequence[Observation]], Iterable[str]]


def _no_remarks(_: Sequence[Observation]) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class TablePlan:
    """The plan of a paper's table.

    `key_names` names the parts of a line's key, as in ("data set", "model"). `places` returns the
    lines of an observation. `compared` is the key by which lines are compared, or None. `contrasts`
    are columns compared as two samples, for lines without common rows. If `counts`, cells are only
    numbers of rows. `remarks` yields sentences about the observations, such as those left out.
    """

    name: str
    title: str
    key_names: Place
    places: Callable[[Observation], Iterable[Place]]
    columns: tuple[TableColumn, ...]
    compared: str | None = "model"
    counts: bool = False
    notes: tuple[str, ...] = ()
    contrasts: tuple[MeanColumn, ...] = ()
    remarks: Remarks = _no_remarks


@dataclass(frozen=True)
class TableCell:
    """A cell of a table. `jobs` are those of its observations. `p` is from the test against chance,
    or None."""

    column: str
    found: IntervalEstimate
    jobs: tuple[str, ...]
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True)
class Line:
    """A line of a table. `outcomes` counts observations by outcome."""

    place: Place
    cells: tuple[TableCell, ...]
    outcomes: dict[Outcome, int]
    errors: tuple[str, ...]


@dataclass(frozen=True)
class LineDifference:
    """The difference first - second of two lines, on the rows that both have. `p_adjusted` is
    corrected by Holm over the table."""

    first: Place
    second: Place
    column: str
    found: IntervalEstimate
    p: float | None
    p_adjusted: float | None = None


@dataclass(frozen=True)
class PaperTable:
    """A computed table. `notes` has the plan's fixed notes, then its remarks on the data."""

    plan: TablePlan
    lines: tuple[Line, ...]
    differences: tuple[LineDifference, ...]
    notes: tuple[str, ...]


def table_of(
    plan: TablePlan,
    observations: Iterable[Observation],
    how: Resampling,
    order: Sequence[str] = (),
) -> PaperTable:
    """Return the table of a plan. `order` lists names of lines that come first; other names follow
    in their own order."""
    found: dict[Place, list[Observation]] = {}
    every = sorted(observations, key=_key)
    for one in every:
        for place in plan.places(one):
            found.setdefault(place, []).append(one)
    rank = {name: place for place, name in enumerate(order)}

    def position(place: Place) -> list[tuple[int, str]]:
        return [(rank.get(name, len(rank)), name) for name in place]

    in_order = {place: found[place] for place in sorted(found, key=position)}
    lines = [_line(plan, place, some, how) for place, some in in_order.items()]
    return PaperTable(
        plan,
        tuple(_corrected_lines(lines)),
        () if plan.compared is None else tuple(_differences(plan, in_order, how)),
        (*plan.notes, *plan.remarks(every)),
    )


def _key(one: Observation) -> tuple[str, str, str]:
    return one.row.key, one.model, one.setting


def _line(plan: TablePlan, place: Place, some: Sequence[Observation], how: Resampling) -> Line:
    return Line(
        place,
        tuple(_cell(plan, column, some, how) for column in plan.columns),
        {kind: sum(one.outcome == kind for one in some) for kind in OUTCOMES},
        tuple(sorted({one.error for one in some if one.error is not None})),
    )


def _cell(
    plan: TablePlan, column: TableColumn, some: Sequence[Observation], how: Resampling
) -> TableCell:
    used = [one for one in some if column.has(one)]
    jobs = tuple(sorted({job for one in used for job in one.jobs}))
    if plan.counts:
        count = IntervalEstimate(float(len(used)), rows=len(used))
        return TableCell(column.name, count, jobs)
    found = column.estimate(some, how)
    return TableCell(column.name, found, jobs, column.against_chance(some, how))


def _corrected_lines(lines: Sequence[Line]) -> Iterator[Line]:
    every = [cell.p for line in lines for cell in line.cells if cell.p is not None]
    adjusted = iter(holm(every))
    for line in lines:
        cells = [
            cell if cell.p is None else replace(cell, p_adjusted=next(adjusted))
            for cell in line.cells
        ]
        yield replace(line, cells=tuple(cells))


def _differences(
    plan: TablePlan, lines: dict[Place, list[Observation]], how: Resampling
) -> list[LineDifference]:
    rivals = list(_rivals(plan, list(lines)))
    found = [
        _difference(column, places, lines, how)
        for places in rivals
        for column in (() if plan.contrasts else plan.columns)
    ]
    found += [
        _contrast(column, places, lines, how) for places in rivals for column in plan.contrasts
    ]
    adjusted = iter(holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, p_adjusted=next(adjusted)) for one in found]


def _rivals(plan: TablePlan, places: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    """Yield pairs of lines that differ only in the compared key, in the order of names."""
    index = plan.key_names.index(plan.compared or "")

    def others(place: Place) -> Place:
        return place[:index] + place[index + 1 :]

    for _, alike in groupby(sorted(places, key=lambda one: (others(one), one)), others):
        yield from combinations(alike, 2)


def _contrast(
    column: MeanColumn,
    places: tuple[Place, Place],
    lines: dict[Place, list[Observation]],
    how: Resampling,
) -> LineDifference:
    test = column.contrast(lines[places[0]], lines[places[1]], how)
    return LineDifference(*places, column.name, test.difference, test.p)


def _difference(
    column: TableColumn,
    places: tuple[Place, Place],
    lines: dict[Place, list[Observation]],
    how: Resampling,
) -> LineDifference:
    first, second = ({one.row.key: one for one in lines[place]} for place in places)
    pairs = [(first[key], second[key]) for key in sorted(first.keys() & second.keys())]
    test: ColumnTest = column.compare(pairs, how)
    return LineDifference(*places, column.name, test.difference, test.p)
