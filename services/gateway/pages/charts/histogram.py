"""A null distribution as bars, and where the observed value stands."""

from __future__ import annotations

from collections.abc import Sequence

from services.gateway.pages.charts.drawing import BLUE, GREY, INK, Chart, drawn

WIDTH, HEIGHT = 320, 130


def histogram(
    counts: Sequence[int],
    low: float,
    high: float,
    observed: float,
    *,
    title: str,
    summary: str,
    unit: str,
) -> Chart:
    """counts: of equal bins from low to high. observed: marked by a line in the same unit."""
    step = (high - low) / len(counts) if counts and high > low else 0.0
    bars = [
        {"from": low + place * step, "to": low + (place + 1) * step, "count": count}
        for place, count in enumerate(counts)
    ]
    if not step:  # every value the same: one bar of a visible width
        bars = [{"from": low - 0.005, "to": low + 0.005, "count": sum(counts)}]
    across = {"type": "quantitative", "scale": {"zero": False, "nice": True}, "title": unit}
    spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "bar", "color": GREY, "binSpacing": 1},
                "encoding": {
                    "x": {"field": "from", "bin": {"binned": True}, **across},
                    "x2": {"field": "to"},
                    "y": {"field": "count", "type": "quantitative", "title": "random draws"},
                    "y2": {"datum": 0},  # else a bar with two ends across has no height
                },
            },
            {
                "data": {"values": [{"at": observed, "says": "observed"}]},
                "mark": {"type": "rule", "color": BLUE, "strokeWidth": 3},
                "encoding": {"x": {"field": "at", **across}},
            },
            {
                "data": {"values": [{"at": observed, "says": "observed"}]},
                "mark": {"type": "text", "color": INK, "dy": -6, "baseline": "bottom"},
                "encoding": {
                    "x": {"field": "at", **across},
                    "y": {"value": 0},
                    "text": {"field": "says"},
                },
            },
        ],
    }
    return drawn(spec, title=title, summary=summary)
