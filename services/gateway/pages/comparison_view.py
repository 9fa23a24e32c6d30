"""A finished comparison as its page shows it: one sentence, pictures as data, pairs in words.

Nothing is computed that is not the report's. Every difference is, as over the API and on the
command line, the new one minus the baseline: right - left, since the right batch is the report's
own and the left one its `against`. "Better" is said only where the interval excludes 0, and
"smaller than 0.02" even then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from services.gateway.pages.result_query import value_name
from services.gateway.pages.terms import Term, terms
from services.gateway.results.result_pairs import ComparedJob
from shared.contracts.service import MetricContract
from shared.reports.pages.page_text import MarkedText, counted, significant
from shared.reports.pages.report_design import Forest, ForestRow
from shared.reports.pages.word_changes import WordChange, changes

Json = Mapping[str, Any]
SMALL = 0.02  # of a score: a difference below it is said to be small
GRID = 40
GRIDS = (GRID, GRID // 2, GRID // 4)
MOST_CELLS = 120  # links of a page, which has 150 kB; where more are filled, four are joined
SIDE = 400  # of the scatter, in units of its picture
SHADES = 8
MOST_DIFFERENCES = 12_000  # characters of a page about what changed in explanations
AROUND = 60  # characters that stay before and after a change

PartChange = tuple[str, float | None, float | None]  # its name, before or left, after or right


@dataclass(frozen=True)
class ComparedPart:
    """A number of the report under both systems."""

    name: str
    term: Term | None
    found: Json

    @property
    def title(self) -> str:
        return self.name if self.term is None else self.term.name

    def place(self, value: float | None) -> float | None:
        """Where a mean lies on the part's range, [0, 1]."""
        bounds = (0.0, 1.0) if self.term is None or self.term.range is None else self.term.range
        if value is None:
            return None
        return min(max((value - bounds[0]) / (bounds[1] - bounds[0]), 0.0), 1.0)


@dataclass(frozen=True)
class GridCell:
    """What of the scatter leads to its pairs; x from the left, y from the top, in units of the
    picture. left, right: scores."""

    x: int
    y: int
    size: int
    pairs: int
    address: str
    left: str
    right: str


@dataclass(frozen=True)
class Shade:
    """The cells of the finest grid with about as many pairs. path: as SVG draws them."""

    opacity: float
    path: str


@dataclass(frozen=True)
class DifferenceBar:
    """Pairs by their difference. share: of the largest bar, [0, 1]."""

    name: str
    pairs: int
    share: float


@dataclass(frozen=True)
class PairRow:
    """A pair, with what is different in it. line: of the right batch."""

    custom_id: str | None
    line: int | None
    left: ComparedJob
    right: ComparedJob
    words: Sequence[WordChange]
    parts: Sequence[PartChange]


@dataclass(frozen=True)
class CompareContext:
    """address: of this page, without what chooses pairs."""

    sentences: Sequence[str]
    parts: Sequence[ComparedPart]
    verdicts: Mapping[tuple[str, str], int]
    cells: Sequence[GridCell]
    shades: Sequence[Shade]
    dots: str  # of the pairs that differ most, as SVG draws them
    bars: Sequence[DifferenceBar]
    slices: Forest
    found: Json
    address: str

    @property
    def untested(self) -> tuple[int, int]:
        """Count the pairs whose left result, and whose right one, is `not_tested`."""
        words = [(left, right, pairs) for (left, right), pairs in self.verdicts.items()]
        return (
            sum(pairs for left, _, pairs in words if left == "not_tested"),
            sum(pairs for _, right, pairs in words if right == "not_tested"),
        )

    def of_verdicts(self, left: str, right: str) -> str:
        """The address of the pairs with these verdicts."""
        return f"{self.address}&{urlencode({'verdicts': f'{left},{right}'})}#pairs"


def compare_context(
    metric: MetricContract, found: Json, names: tuple[str, str], address: str
) -> CompareContext:
    """found: a `SystemComparison` whose first system is the right one. names: left, right."""
    known = terms().of(metric.name)
    bounds = metric.score_range
    return CompareContext(
        sentences=_sentences(found, names, metric),
        parts=[
            ComparedPart(one["component"], known.get(one["component"]), one)
            for one in found["differences"]
        ],
        verdicts={(one["second"], one["first"]): one["pairs"] for one in found["verdicts"]},
        cells=_cells(found["density"], bounds, address) if bounds else (),
        shades=_shades(found["density"]) if bounds else (),
        dots=_dots(found["changes"], bounds) if bounds else "",
        bars=_bars(found["histogram"]),
        slices=_slices(found["slices"], bounds),
        found=found,
        address=address,
    )


def _sentences(found: Json, names: tuple[str, str], metric: MetricContract) -> list[str]:
    score = found["differences"][0]
    gap = score["difference"]
    higher_is_better = metric.report.model_fields["direction"].default != "lower_is_better"
    said = [_first(score, gap, names, higher_is_better)]
    gone = found["undefined_a"], found["undefined_b"]
    if gone[0] or gone[1]:
        lines = " and ".join(
            f"{counted(count, 'pair')} {'is' if count == 1 else 'are'} {how}"
            for count, how in zip(
                gone, ("undefined on the right only", "undefined on the left only"), strict=True
            )
            if count
        )
        said.append(f"{lines}.")
    bounds = found["bounds"]
    if bounds is not None and (gone[0] or gone[1]):
        said.append(
            "Had every undefined one a score, whatever it were, the mean difference over these "
            f"{counted(bounds['pairs'], 'pair')} would lie between {significant(bounds['low'])} "
            f"and {significant(bounds['high'])}. That is of these pairs alone: it leaves out "
            "chance, so it does not tell whether other texts would show a difference."
        )
    return said


def _first(score: Json, gap: Json, names: tuple[str, str], higher_is_better: bool) -> str:
    if gap["value"] is None:
        return "There is no line that both scored."
    low, high = gap["low"], gap["high"]
    ends = "" if low is None else f" (95 % interval {significant(low)} to {significant(high)})"
    texts = gap.get("clusters")
    of = "" if texts is None else f" of {counted(texts, 'text')}"
    lead = f"On {counted(score['pairs'], 'line')}{of} that both scored, "
    moved = f": {score['better']:,} up, {score['worse']:,} down."
    old, new = (f"“{name}”" for name in names)
    if low is None or low <= 0 <= high:
        said = f"it cannot be told whether {new} or {old} explains better"
        size = significant(gap["value"])
        return f"{lead}{said}: {new} differs by {size}{ends}{moved}"
    way, size = "higher" if gap["value"] > 0 else "lower", significant(abs(gap["value"]))
    better, other = (new, old) if (gap["value"] > 0) == higher_is_better else (old, new)
    small = ", which is smaller than 0.02" if abs(gap["value"]) < SMALL else ""
    judged = f"{better} explains better than {other} by {size}{small}."
    return f"{lead}{new} is {size} {way}{ends}{moved} {judged}"


def _cells(density: Sequence[Json], bounds: tuple[float, float], address: str) -> list[GridCell]:
    for grid in GRIDS:  # the finest of which a page has room for every link
        counts: Counter[tuple[int, int]] = Counter()
        for one in density:
            counts[one["second"] * grid // GRID, one["first"] * grid // GRID] += one["pairs"]
        if len(counts) <= MOST_CELLS:
            break
    size, joined = SIDE // grid, "" if grid == GRID else f",{grid}"
    found = []
    for (left, right), pairs in counts.items():
        ends = [grid_bounds(place, bounds, grid) for place in (left, right)]
        said = [f"{significant(low)} to {significant(high)}" for low, high in ends]
        found.append(
            GridCell(
                x=size * left,
                y=SIDE - size * (right + 1),
                size=size,
                pairs=pairs,
                address=f"{address}&cell={left},{right}{joined}#pairs",
                left=said[0],
                right=said[1],
            )
        )
    return found


def _shades(density: Sequence[Json]) -> list[Shade]:
    """The picture, as fine as the report: cells side by side are drawn in one stroke."""
    most = max((one["pairs"] for one in density), default=1)
    size, paths = SIDE // GRID, [""] * (SHADES + 1)
    places = {
        (one["first"], one["second"]): math.ceil(SHADES * one["pairs"] / most) for one in density
    }
    for (right, left), shade in sorted(places.items()):
        if places.get((right, left - 1)) == shade:
            continue
        end = left + 1
        while places.get((right, end)) == shade:
            end += 1
        width = size * (end - left)
        paths[shade] += f"M{size * left} {SIDE - size * (right + 1)}h{width}v{size}h-{width}z"
    return [
        Shade(round(0.25 + 0.75 * shade / SHADES, 2), path)
        for shade, path in enumerate(paths)
        if path
    ]


def grid_bounds(place: int, bounds: tuple[float, float], grid: int = GRID) -> tuple[float, float]:
    """The scores of a row or column of the grid, as `comparison_details` finds their cells."""
    step, high = GRID // grid, bounds[1]
    end = high if place == grid - 1 else _least_score(step * (place + 1), bounds)
    return _least_score(step * place, bounds), end


def _least_score(place: int, bounds: tuple[float, float]) -> float:
    """Of this place in the finest grid: products of floats may be a little beside the border."""
    low, high = bounds

    def place_of(score: float) -> int:
        return math.floor((score - low) / (high - low) * GRID)

    if not place:
        return low
    border, near = low + (high - low) * place / GRID, (high - low) * 1e-9
    below, found = border - near, border + near
    while below < (middle := (below + found) / 2) < found:
        if place_of(middle) < place:
            below = middle
        else:
            found = middle
    return found


def _dots(largest: Sequence[Json], bounds: tuple[float, float]) -> str:
    low, high = bounds

    def place(score: float) -> float:
        return round(SIDE * (score - low) / (high - low), 1)

    return "".join(f"M{place(one['second']):g} {SIDE - place(one['first']):g}h0" for one in largest)


def _bars(histogram: Json | None) -> list[DifferenceBar]:
    if histogram is None:
        return []
    counts = histogram["counts"]
    low, width = histogram["low"], (histogram["high"] - histogram["low"]) / len(counts)
    most = max(counts)
    return [
        DifferenceBar(
            f"{significant(low + width * place)} to {significant(low + width * (place + 1))}",
            count,
            count / most if most else 0.0,
        )
        for place, count in enumerate(counts)
    ]


def _slices(found: Sequence[Json], bounds: tuple[float, float] | None) -> Forest:
    """The scale is as wide as the widest interval, and holds no difference in its middle."""
    ends = [
        abs(end)
        for one in found
        for name in ("value", "low", "high")
        if (end := one["difference"][name]) is not None
    ]
    most = max(ends, default=0.0) or (1.0 if bounds is None else bounds[1] - bounds[0])
    named = [value_name(one["by"], one["value"]) for one in found]
    gaps = zip(named, found, strict=True)
    rows = [ForestRow(name, one["difference"], level=0.0) for name, one in gaps]
    return Forest(
        "Right minus left, the lowest first; the line: no difference", rows, (-most, most)
    )


def pair_rows(
    pairs: Sequence[tuple[str | None, str, str]],
    found: Mapping[str, ComparedJob],
    lines: Mapping[str, int],
    paths: Mapping[str, str],
) -> list[PairRow]:
    """pairs: custom id, left job, right job. lines: right job → its line. paths: of the parts, by
    their names. The fewer pairs, the more of their explanations is shown."""
    return [
        PairRow(
            custom_id,
            lines.get(right),
            found[left],
            found[right],
            _excerpt(_words(found[left], found[right]), MOST_DIFFERENCES // len(pairs)),
            part_changes(paths, found[left].result, found[right].result),
        )
        for custom_id, left, right in pairs
        if left in found and right in found
    ]


def part_changes(
    paths: Mapping[str, str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[PartChange]:
    """In the order of the paths, which are those of `MetricContract.parts`."""
    return [(name, _at(before, path), _at(after, path)) for name, path in paths.items()]


def _at(result: Mapping[str, Any], path: str) -> float | None:
    found: object = result
    for name in path.split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = found.get(name) if isinstance(found, Mapping) else None
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number else None  # type: ignore[arg-type]


def _words(left: ComparedJob, right: ComparedJob) -> tuple[WordChange, ...]:
    """How the explanations differ; nothing where one of them was not kept."""
    texts = [one.request.get("explanation") for one in (left, right)]
    if not all(isinstance(text, str) for text in texts):
        return ()
    return changes(str(texts[0]), str(texts[1]))


def _excerpt(found: Sequence[WordChange], most: int) -> list[WordChange]:
    """What changed with some words around it, so many characters of it; empty: nothing did."""
    shown, left = [], most
    if all(one.how == "same" for one in found):
        return []
    for place, one in enumerate(found):
        text = one.text
        if one.how == "same" and len(text) > 3 * AROUND:
            head, tail = text[: AROUND if place else 0], text[-AROUND:]
            text = f"{head} … {tail}" if place < len(found) - 1 else f"{head} …"
        if len(text) > left:
            text = f"{text[:left]} …"
        shown.append(WordChange(one.how, (MarkedText(text),)))
        left -= len(text)
        if left <= 0:
            break
    return shown
