"""How alike things are, two by two: a heat map with the number in every cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.gateway.pages.charts.drawing import BLUE, INK, LINE, Chart, drawn

MOST = 24  # rows: more could not be read
WIDE = 10  # up to so many rows the cells are large
FAINTEST, DARKEST = 0.04, 0.5  # of the colour: the number must stay readable on it


def matrix(values: Sequence[Sequence[float]], *, what: str, title: str, summary: str) -> Chart:
    """values: (n, n) in [0, 1], darker = larger; the first 24 rows. what: a row's name, numbered
    from 1."""
    shown = [row[:MOST] for row in values[:MOST]]
    axis: dict[str, Any] = {"title": what, "labelAngle": 0, "domain": False, "ticks": False}
    spec = {
        "data": {"values": _cells(shown)},
        "width": {"step": 46 if len(shown) <= WIDE else 36},
        "height": {"step": 34 if len(shown) <= WIDE else 26},
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "axis": {**axis, "orient": "top"}},
            "y": {"field": "row", "type": "ordinal", "axis": axis},
        },
        "layer": [
            {
                "mark": {"type": "rect", "color": BLUE, "stroke": LINE, "aria": False},
                "encoding": {"fillOpacity": _shade()},
            },
            {
                "mark": {"type": "text", "color": INK, "aria": False},
                "encoding": {"text": {"field": "says", "type": "nominal"}},
            },
        ],
    }
    return drawn(spec, title=title, summary=summary)


def _cells(values: Sequence[Sequence[float]]) -> list[dict[str, Any]]:
    return [
        {"row": i + 1, "column": j + 1, "value": value, "says": f"{value:.2f}"}
        for i, row in enumerate(values)
        for j, value in enumerate(row)
    ]


def _shade() -> dict[str, Any]:
    """A share of one colour: it mixes with the page's own ground, light or dark."""
    scale = {"domain": [0, 1], "range": [FAINTEST, DARKEST]}
    return {"field": "value", "type": "quantitative", "scale": scale, "legend": None}
