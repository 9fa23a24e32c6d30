"""The pairs that the address of a comparison chooses: chips, fields of a form, and a query.

`verdicts=left,right` and `cell=x,y` are links of the page's table and picture; all else is its
form: what is true of the right line is named as in the address of a batch's table. What an address
says that cannot be read filters nothing, and is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from services.gateway.pages.comparison_view import GRID, GRIDS, grid_bounds
from services.gateway.pages.result_query import (
    NO_FILTER,
    VERDICTS,
    Chip,
    Pair,
    as_number,
    filter_label,
    ignored_pair,
    parse_query,
)
from services.gateway.results.result_pages import Bounds
from services.gateway.results.result_pairs import PairFilter
from shared.contracts.service import MetricContract
from shared.ledger.batches import Batch

OF_RIGHT = (
    "verdict", "reason", "custom_id", "text", "label_sent", "label_stated", "language", "meta",
    "judged", "judged_by",
)  # fmt: skip
PLACE = re.compile("[0-9]{1,2}")
HERE = {"judged_by": "by"}  # `by` of this page is what slices are made by
OF_PAGE = frozenset({"left", "right", "by", "show", "out"})
OWN = {
    "left_verdict": "left verdict",
    "left_from": "left score from",
    "left_to": "left score below",
    "right_from": "right score from",
    "right_to": "right score below",
    "change_from": "right minus left from",
    "change_to": "right minus left below",
}


@dataclass(frozen=True)
class PairQuery:
    """filter: of the pairs. query: what the address says of them, as it is understood. ignored:
    what it says besides, and why that filters nothing."""

    filter: PairFilter
    query: tuple[Pair, ...]
    chips: Sequence[Chip]
    ignored: Sequence[str] = ()

    @property
    def filter_values(self) -> dict[str, str]:
        """name → value, as a form shows it."""
        return {name: value for name, value in self.query if name not in ("meta", "cell")}

    @property
    def metadata(self) -> list[str]:
        """`key=value` of each."""
        return [value for name, value in self.query if name == "meta"]


def parse_pair_query(
    batches: tuple[Batch, Batch],
    metric: MetricContract,
    sent: Sequence[Pair],
    address: str,
) -> PairQuery:
    """sent: the pairs of the address; address: of this page without any filter."""
    left, right = batches
    named = ("chance", *metric.parts)
    ranges = frozenset(f"{name}_{end}" for name in named for end in ("from", "to"))
    own = [
        (HERE.get(name, name), value) for name, value in sent if name in OF_RIGHT or name in ranges
    ]
    rows = parse_query(right, right.tenant, own)
    bounds = metric.score_range
    there = {name: here for here, name in HERE.items()}
    of_right = [(there.get(name, name), value) for name, value in rows.filters]
    known = {name: value for name, value in sent if _is_known(name, value, bounds)}
    query = (*known.items(), *of_right)
    chips = []
    for pair in query:
        others = urlencode([one for one in query if one != pair])
        url = f"{address}{'&' if others else ''}{others}#pairs"
        chips.append(Chip(_filter_label(*pair, metric, bounds), url))
    found = replace(
        _filter(dict(query), (left, right), bounds),
        right=rows.filter if rows.filters else None,
        by_label=metric.explained is not None,
    )
    return PairQuery(found, query, chips, (*_ignored(sent, bounds, ranges), *rows.ignored))


def _ignored(
    sent: Sequence[Pair], bounds: tuple[float, float] | None, ranges: frozenset[str]
) -> list[str]:
    """What is neither of the page nor of the pairs nor of the right line."""
    told = []
    for name, value in sent:
        known = name in OF_PAGE or name in OF_RIGHT or name in ranges
        if not value or known or _is_known(name, value, bounds):
            continue
        own = name in (*OWN, "verdicts", "cell")
        told.append(ignored_pair(name, value, "it cannot be read" if own else NO_FILTER))
    return told


def _is_known(name: str, value: str, bounds: tuple[float, float] | None) -> bool:
    parts = value.split(",")
    if name == "verdicts":
        return len(parts) == 2 and set(parts) <= set(VERDICTS)
    if name == "cell":
        return bounds is not None and _cell(value) is not None
    if name == "left_verdict":
        return value in VERDICTS
    return name in OWN and as_number(value) is not None


def _cell(value: str) -> tuple[int, int, int] | None:
    """(column, row, cells of a side); None where it is none."""
    numbers = [int(one) for one in value.split(",") if PLACE.fullmatch(one)]
    if len(numbers) != value.count(",") + 1 or len(numbers) not in (2, 3):
        return None
    x, y, grid = (*numbers, GRID)[:3]
    return (x, y, grid) if grid in GRIDS and max(x, y) < grid else None


def _filter_label(
    name: str, value: str, metric: MetricContract, bounds: tuple[float, float] | None
) -> str:
    if name == "verdicts":
        return " → ".join(value.split(","))
    if name == "cell" and bounds is not None:
        x, y = _grid_bounds(value, bounds)
        return f"left {x[0]:.3f} to {x[1]:.3f}, right {y[0]:.3f} to {y[1]:.3f}"
    if name == "verdict":
        return f"right verdict: {value}"
    if name in OWN:
        return f"{OWN[name]} {value}"
    return filter_label(HERE.get(name, name), value, metric.name)


def _grid_bounds(value: str, bounds: tuple[float, float]) -> tuple[Bounds, Bounds]:
    *places, grid = _cell(value) or (0, 0, GRID)
    x, y = (grid_bounds(place, bounds, grid) for place in places)
    return x, y


def _filter(
    chosen: Mapping[str, str],
    batches: tuple[Batch, Batch],
    bounds: tuple[float, float] | None,
) -> PairFilter:
    """A cell goes before numbers, and `verdicts` before `left_verdict`."""
    scores = _between(chosen, "left"), _between(chosen, "right")
    if "cell" in chosen and bounds is not None:
        scores = _grid_bounds(chosen["cell"], bounds)
    verdicts: tuple[str | None, str | None] = (chosen.get("left_verdict"), None)
    if "verdicts" in chosen:
        first, second = chosen["verdicts"].split(",")
        verdicts = (first, second)
    return PairFilter(
        batches[0].tenant,
        (batches[0].id, batches[1].id),
        verdicts=verdicts,
        scores=scores,
        differences=_between(chosen, "change"),
        top=None if bounds is None else float(bounds[1]),
    )


def _between(chosen: Mapping[str, str], name: str) -> Bounds:
    return as_number(chosen.get(f"{name}_from")), as_number(chosen.get(f"{name}_to"))
