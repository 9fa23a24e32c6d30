"""Plots of means with intervals for batch reports: a single plot, or one panel per measure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shared.contracts.batches import Plot
from shared.contracts.reports import Interval
from shared.reports.charts.engine import BLUE, GREY, INK, POINTS_PER_INCH, render_plot, sanitize

LABEL_LETTER = 5.6  # pixels per letter of a row's name
PANEL_EDGES, BETWEEN = 32, 22  # pixels: a panel's title and axis, and the gap between panels

Part = dict[str, Any]


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A named mean with its interval, in the unit of the axis; `note` is shown above the dot."""

    name: str
    mean: Interval
    colour: str = BLUE
    note: str = ""


def interval_plot(
    rows: Sequence[IntervalRow],
    *,
    name: str,
    titles: tuple[str, str],
    unit: str,
    chance: float,
    inches: tuple[float, float],
) -> Plot | None:
    """Draw one row per interval on an axis from 0 to 1 in percent, with a dashed line at `chance`.
    `titles` holds the plot's title and the lines of text above it."""
    panel = _panel(rows, unit=unit)
    at_chance = {"x": {"datum": chance, "type": "quantitative"}}
    panel["layer"].insert(
        0, {"mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]}, "encoding": at_chance}
    )
    width, height = (POINTS_PER_INCH * side for side in inches)
    heading = {"text": titles[1].split("\n"), "fontSize": 10, "fontWeight": "normal"}
    fit = {"type": "fit", "contains": "padding"}
    spec = {**panel, "width": width, "height": height, "autosize": fit, "title": heading}
    return render_plot(spec, name=name, title=titles[0], inches=inches)


def interval_panels(
    panels: Sequence[tuple[str, Sequence[IntervalRow]]],
    *,
    columns: int,
    name: str,
    title: str,
    inches: tuple[float, float],
) -> Plot | None:
    """Draw titled panels with the same rows, on axes from 0 to 1. Only the leftmost panels show row
    names."""
    width, height = (POINTS_PER_INCH * side for side in inches)
    left = LABEL_LETTER * max((len(row.name) for _, rows in panels for row in rows), default=0)
    lines = -(-len(panels) // columns)
    size = {
        "width": (width - left) / columns - BETWEEN,
        "height": (height - BETWEEN) / lines - PANEL_EDGES,
    }
    cells = [
        {
            **_panel(rows, with_names=index % columns == 0),
            **size,
            "title": {"text": heading, "fontSize": 10, "fontWeight": "normal"},
        }
        for index, (heading, rows) in enumerate(panels)
    ]
    spec = {
        "vconcat": [
            {"hconcat": cells[first : first + columns], "spacing": BETWEEN}
            for first in range(0, len(cells), columns)
        ],
        "spacing": BETWEEN / 2,
    }
    return render_plot(spec, name=name, title=title, inches=inches)


def _panel(
    rows: Sequence[IntervalRow], *, unit: str | None = None, with_names: bool = True
) -> Part:
    """Return a panel. `unit` is the title of an axis in percent. With None the axis has no title
    and runs from 0 to 1."""
    along: Part = {
        "type": "quantitative",
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {"title": unit, "grid": True, "tickCount": 5},
    }
    if unit is not None:
        along["axis"]["labelExpr"] = "round(100 * datum.value)"
    labels = (
        f"{json.dumps([sanitize(row.name) for row in rows])}[datum.value]" if with_names else "''"
    )
    down: Part = {
        "field": "place",
        "type": "ordinal",
        "scale": {"domain": list(range(len(rows)))},
        "axis": {"title": None, "labelExpr": labels, "labelLimit": 0, "labelFontSize": 10},
    }
    values = [
        {"place": index, "colour": row.colour, "note": row.note, **row.mean.model_dump()}
        for index, row in enumerate(rows)
    ]
    return {"data": {"values": values}, "layer": _panel_layers(along, down)}


def _panel_layers(along: Part, down: Part) -> list[Part]:
    colour = {"field": "colour", "type": "nominal", "scale": None}
    at = {"x": {"field": "value", **along}, "y": down}
    ends = {"x": {"field": "low", **along}, "x2": {"field": "high"}, "y": down, "color": colour}
    note: Part = {"type": "text", "fontSize": 8, "color": INK}
    return [
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": ends,
        },
        {
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {**at, "color": colour},
        },
        {
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": {**note, "dy": -9},
            "encoding": {**at, "text": {"field": "note"}},
        },
        {
            "transform": [{"filter": "!isValid(datum.value)"}],
            "mark": {**note, "color": GREY, "text": "no value"},
            "encoding": {"x": {"datum": 0.5, **along}, "y": down},
        },
    ]
