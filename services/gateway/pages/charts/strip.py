"""Random draws as a strip of dots, and where the observed value stands among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from services.gateway.pages.charts.drawing import BLUE, INK, ORANGE, Caption, Chart, drawn

WIDTH, HEIGHT = 420, 90
CELLS = 60  # across the strip: draws of one cell stand on each other
FEWEST_ROWS = 8  # so that a few dots stay small and at the foot
NARROWEST = 0.01  # of the axis, where every value is zero
LABEL_TURNS = 0.7  # of the axis: beyond it the label stands on the left


def strip(draws: Sequence[float], observed: float, caption: Caption, *, says: str) -> Chart:
    """draws, observed: at least 0, in the same unit. says: the observed value's name."""
    high = max(NARROWEST, observed, *draws)
    across = {
        "type": "quantitative",
        "scale": {"domain": [0, high], "nice": True},
        "axis": {"title": caption.unit, "grid": False, "tickCount": 6},
    }
    data = {"values": [{"at": observed, "says": says}]}
    at = {"field": "at", **across}
    label = {"type": "text", "color": INK, "baseline": "top", **_side(observed / high)}
    spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            _dots(list(_stacked(draws, high)), across),
            {
                "data": data,
                "mark": {"type": "rule", "color": ORANGE, "strokeWidth": 3},
                "encoding": {"x": at},
            },
            {
                "data": data,
                "mark": label,
                "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "says"}},
            },
        ],
    }
    return drawn(spec, title=caption.title, summary=caption.summary)


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


def _stacked(draws: Sequence[float], high: float) -> Iterator[dict[str, float]]:
    """Every draw where it is, on top of those before it in the same cell."""
    heights: Counter[int] = Counter()
    for draw in draws:
        cell = round(draw / high * CELLS)
        yield {"at": draw, "row": heights[cell]}
        heights[cell] += 1


def _side(place: float) -> dict[str, Any]:
    """The label beside its line, inside the picture."""
    if place > LABEL_TURNS:
        return {"align": "right", "dx": -6}
    return {"align": "left", "dx": 6}
