"""Chart shapes as Vega-Lite specifications. No statistics are computed here.

The shapes are: grouped bars, a histogram with a marked value, a heat map, lines between rankings,
and a strip of random draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from shared.contracts.null_report import Histogram
from shared.reports.charts.engine import (
    BLUE,
    GREY,
    INK,
    LINE,
    ORANGE,
    Caption,
    Cell,
    Chart,
    ChartTable,
    render,
)
from shared.reports.pages.page_text import significant

BARS_WIDTH, BAR_HEIGHT = 220, 18  # pixels: length of the longest bar, height of a bar
LETTER = 7.5  # pixels per letter of a name; fonts of browsers differ
COLOURS = (GREY, BLUE, ORANGE)

Values = Mapping[str, float]  # group → value
Part = dict[str, Any]


def bars(
    series: Sequence[tuple[str, Values]], caption: Caption, *, top: float | None = None
) -> Chart:
    """Draw bars of at most three series. Groups have the order of the first series. `top` is the
    end of the axis; None fits it to the data. A missing value has no bar."""
    rows: list[Part] = [
        {"group": group, "series": name, "value": value, "says": f"{value:.2f}"}
        for name, values in series
        for group, value in values.items()
    ]
    across: Part = {"field": "value", "type": "quantitative", "title": caption.unit}
    if top is not None:
        across["scale"] = {"domain": [min([0.0, *(row["value"] for row in rows)]), top]}
    spec = {
        "data": {"values": rows},
        "facet": {
            "row": {
                "field": "group",
                "type": "nominal",
                "sort": list(dict.fromkeys(row["group"] for row in rows)),
                "title": None,
                "header": {"labelOrient": "top", "labelAnchor": "start", "labelFontWeight": "bold"},
            }
        },
        "spec": _group(across, [name for name, _ in series]),
        "spacing": 8,
    }
    groups = dict.fromkeys(group for _, values in series for group in values)
    numbers = ((group, *(values.get(group) for _, values in series)) for group in groups)
    table = ChartTable(("Of", *(name for name, _ in series)), tuple(numbers))
    return render(spec, table, title=caption.title, summary=caption.summary)


def _group(across: Part, names: list[str]) -> Part:
    source: Part = {"field": "series", "type": "nominal"}
    down = {
        **source,
        "sort": names,
        "title": None,
        "axis": {"minExtent": LETTER * max(map(len, names))},
    }
    colours = {"domain": names, "range": list(COLOURS[: len(names)])}
    colour = {**source, "scale": colours, "legend": None}
    return {
        "width": BARS_WIDTH,
        "height": {"step": BAR_HEIGHT},
        "layer": [
            {"mark": "bar", "encoding": {"x": across, "y": down, "color": colour}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
                "encoding": {"x": across, "y": down, "text": {"field": "says"}},
            },
        ],
    }


HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT = 320, 130
DRAWS = "random draws"
HALF = 0.005  # half the width of a single bar


def histogram(counts: Histogram, observed: float, caption: Caption) -> Chart:
    """Draw a histogram with a line at `observed`, in the unit of the bins."""
    across = {
        "type": "quantitative",
        "scale": {"zero": False, "nice": True},
        "title": caption.unit,
    }
    bins = _bins(counts)
    spec = {
        "width": HISTOGRAM_WIDTH,
        "height": HISTOGRAM_HEIGHT,
        "layer": [
            {
                "data": {"values": bins},
                "mark": {"type": "bar", "color": GREY, "binSpacing": 1},
                "encoding": {
                    "x": {"field": "from", "bin": {"binned": True}, **across},
                    "x2": {"field": "to"},
                    "y": {"field": "count", "type": "quantitative", "title": DRAWS},
                    "y2": {"datum": 0},  # otherwise a bar with two x values has no height
                },
            },
            *_mark(observed, "observed", across, BLUE, dy=-6, baseline="bottom"),
        ],
    }
    rows = (
        (f"{significant(row['from'])} to {significant(row['to'])}", row["count"])
        for row in bins
        if row["count"]
    )
    table = ChartTable((caption.unit, DRAWS), tuple(rows))
    return render(spec, table, title=caption.title, summary=caption.summary)


def _bins(histogram: Histogram) -> list[Part]:
    low, high, counts = histogram.low, histogram.high, histogram.counts
    step = (high - low) / len(counts) if high > low else 0.0
    if not step:  # equal values make one bar of a visible width
        return [{"from": low - HALF, "to": low + HALF, "count": sum(counts)}]
    return [
        {"from": low + index * step, "to": low + (index + 1) * step, "count": count}
        for index, count in enumerate(counts)
    ]


def _mark(value: float, says: str, across: Part, color: str, **label: Any) -> list[Part]:
    """Return a vertical line at the value, and its name. `label` holds properties of the name's
    mark."""
    data = {"values": [{"at": value, "says": says}]}
    at = {"field": "at", **across}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "color": color, "strokeWidth": 3},
            "encoding": {"x": at},
        },
        {
            "data": data,
            "mark": {"type": "text", "color": INK, **label},
            "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "says"}},
        },
    ]


MOST = 24  # rows; more would be unreadable
WIDE = 10  # up to this many rows cells are large
FAINTEST, DARKEST = 0.04, 0.5  # opacity of the colour; the number must stay readable


def matrix(values: Sequence[Sequence[float]], *, name: str, title: str, summary: str) -> Chart:
    """Draw the first 24 rows and columns of a square matrix with values in [0, 1]. Larger values
    are darker. `name` is the name of a row; rows are numbered from 1."""
    shown = [row[:MOST] for row in values[:MOST]]
    axis: dict[str, Any] = {"title": name, "labelAngle": 0, "domain": False, "ticks": False}
    cells = [
        {"row": i, "column": j, "value": value, "says": f"{value:.2f}"}
        for i, row in enumerate(shown, 1)
        for j, value in enumerate(row, 1)
    ]
    # transparency mixes the colour with the page's background, light or dark
    shades = {"domain": [0, 1], "range": [FAINTEST, DARKEST]}
    opacity = {"field": "value", "type": "quantitative", "scale": shades, "legend": None}
    spec = {
        "data": {"values": cells},
        "width": {"step": 46 if len(shown) <= WIDE else 36},
        "height": {"step": 34 if len(shown) <= WIDE else 26},
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": {**axis, "orient": "top"}},
            "y": {"field": "row", "type": "ordinal", "axis": axis},
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": BLUE, "stroke": LINE, "aria": False},
                "encoding": {"fillOpacity": opacity},
            },
            {
                "mark": {"type": "text", "color": INK, "aria": False},
                "encoding": {"text": {"field": "says", "type": "nominal"}},
            },
        ],
    }
    rows: list[tuple[Cell, ...]] = [
        (f"{name} {number}", *row) for number, row in enumerate(shown, 1)
    ]
    table = ChartTable((name, *(str(number) for number in range(1, len(shown) + 1))), tuple(rows))
    return render(spec, table, title=title, summary=summary)


COLUMN, ROW, LEAST = 150, 34, 90  # pixels: between two rankings, between two ranks, least height

Ranks = Mapping[str, float]  # option → rank, 1 = best
Column = tuple[str, Ranks]


def slope(columns: Sequence[Column], *, title: str, summary: str) -> Chart:
    """Draw rankings of the same options from left to right, with their names. An option that
    changes its rank has a thick orange line, and other options have a thin grey line. Tied options
    share a point and its label."""
    worst = max((rank for _, ranks in columns for rank in ranks.values()), default=1.0)
    axis = {"orient": "top", "labelAngle": 0, "grid": True, "domain": False, "ticks": False}
    encoding: Part = {
        "x": {
            "field": "ranking",
            "type": "nominal",
            "sort": [name for name, _ in columns],
            "title": None,
            "scale": {"type": "point", "padding": 0.4},
            "axis": axis,
        },
        "y": {
            "field": "rank",
            "type": "quantitative",
            "title": "rank, 1 = best",
            "scale": {"domain": [0.5, worst + 0.5], "reverse": True, "zero": False, "nice": False},
            "axis": {"tickMinStep": 1, "grid": False},
        },
    }
    labels = {"type": "text", "dy": -12, "fontWeight": "bold", "color": INK}
    spec = {
        "width": COLUMN * len(columns),
        "height": max(LEAST, int(ROW * worst)),
        "layer": [
            _lines([row for pair in pairwise(columns) for row in _line_ends(*pair)], encoding),
            {
                "data": {"values": [point for column in columns for point in _add_labels(column)]},
                "layer": [
                    {"mark": {"type": "point", "size": 60, "color": INK}, "encoding": encoding},
                    {"mark": labels, "encoding": {**encoding, "text": {"field": "keys"}}},
                ],
            },
        ],
    }
    options = dict.fromkeys(option for _, ranks in columns for option in ranks)
    rows = ((option, *(ranks.get(option) for _, ranks in columns)) for option in options)
    table = ChartTable(("option", *(name for name, _ in columns)), tuple(rows))
    return render(spec, table, title=title, summary=summary)


def _line_ends(left: Column, right: Column) -> list[Part]:
    ends = []
    for option in (key for key in left[1] if key in right[1]):
        moved = "moved" if left[1][option] != right[1][option] else "stayed"
        line = f"{option} {left[0]}"
        ends += [
            {"line": line, "ranking": name, "rank": ranks[option], "moved": moved}
            for name, ranks in (left, right)
        ]
    return ends


def _add_labels(column: Column) -> list[Part]:
    name, ranks = column
    return [
        {
            "ranking": name,
            "rank": rank,
            "keys": ", ".join(option for option in ranks if ranks[option] == rank),
        }
        for rank in sorted(set(ranks.values()))
    ]


def _lines(rows: list[Part], encoding: Part) -> Part:
    kinds = {"field": "moved", "type": "nominal", "legend": None}
    domain = ["moved", "stayed"]
    return {
        "data": {"values": rows},
        "mark": "line",
        "encoding": {
            **encoding,
            "detail": {"field": "line", "type": "nominal"},
            "color": {**kinds, "scale": {"domain": domain, "range": [ORANGE, GREY]}},
            "strokeWidth": {**kinds, "scale": {"domain": domain, "range": [3, 1.5]}},
        },
    }


STRIP_WIDTH, STRIP_HEIGHT = 420, 90
CELLS = 60  # across the strip; draws of one cell are stacked
FEWEST_ROWS = 8  # keeps a few dots small and at the bottom
NARROWEST = 0.01  # length of the axis if every value is zero
LABEL_TURNS = 0.7  # share of the axis beyond which the label is on the left


def strip(draws: Sequence[float], observed: float, caption: Caption, *, says: str) -> Chart:
    """Draw a strip plot of random values (`draws`) with a line at `observed`, labelled `says`. All
    values must be at least 0."""
    high = max(NARROWEST, observed, *draws)
    across = {
        "type": "quantitative",
        "scale": {"domain": [0, high], "nice": True},
        "axis": {"title": caption.unit, "grid": False, "tickCount": 6},
    }
    counts = Counter(significant(draw) for draw in sorted(draws))
    table = ChartTable((caption.unit, DRAWS), tuple(counts.items()))
    on_the_left = observed / high > LABEL_TURNS  # keeps the label inside the chart
    side = {"align": "right", "dx": -6} if on_the_left else {"align": "left", "dx": 6}
    heights: Counter[int] = Counter()
    dots = []
    for draw in draws:  # stack the dots of a cell
        cell = round(draw / high * CELLS)
        dots.append({"at": draw, "row": heights[cell]})
        heights[cell] += 1
    spec = {
        "width": STRIP_WIDTH,
        "height": STRIP_HEIGHT,
        "layer": [
            _dots(dots, across),
            *_mark(observed, says, across, ORANGE, baseline="top", **side),
        ],
    }
    return render(spec, table, title=caption.title, summary=caption.summary)


def _dots(dots: list[dict[str, float]], across: dict[str, Any]) -> dict[str, Any]:
    rows = max([FEWEST_ROWS, *(dot["row"] + 1 for dot in dots)])
    return {
        "data": {"values": dots},
        "mark": {"type": "point", "filled": True, "color": BLUE, "size": 50, "opacity": 0.8},
        "encoding": {
            "x": {"field": "at", **across},
            "y": {
                "field": "row",
                "type": "quantitative",
                "axis": None,
                "scale": {"domain": [-0.5, rows]},
            },
        },
    }
