"""A null distribution as bars, and where the observed value stands."""

from __future__ import annotations

from typing import Any

from services.gateway.pages.charts.drawing import BLUE, GREY, INK, Caption, Chart, drawn
from shared.contracts import Histogram

WIDTH, HEIGHT = 320, 130
HALF = 0.005  # of a single bar's width

Part = dict[str, Any]


def histogram(counted: Histogram, observed: float, caption: Caption) -> Chart:
    """observed: marked by a line, in the unit of the bins."""
    across = {
        "type": "quantitative",
        "scale": {"zero": False, "nice": True},
        "title": caption.unit,
    }
    spec = {
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [_counts(_bins(counted), across), *_mark(observed, across)],
    }
    return drawn(spec, title=caption.title, summary=caption.summary)


def _bins(counted: Histogram) -> list[Part]:
    """Where every value is the same: one bar of a visible width."""
    low, high, counts = counted.low, counted.high, counted.counts
    step = (high - low) / len(counts) if high > low else 0.0
    if not step:
        return [{"from": low - HALF, "to": low + HALF, "count": sum(counts)}]
    return [
        {"from": low + place * step, "to": low + (place + 1) * step, "count": count}
        for place, count in enumerate(counts)
    ]


def _counts(bins: list[Part], across: Part) -> Part:
    return {
        "data": {"values": bins},
        "mark": {"type": "bar", "color": GREY, "binSpacing": 1},
        "encoding": {
            "x": {"field": "from", "bin": {"binned": True}, **across},
            "x2": {"field": "to"},
            "y": {"field": "count", "type": "quantitative", "title": "random draws"},
            "y2": {"datum": 0},  # else a bar with two ends across has no height
        },
    }


def _mark(observed: float, across: Part) -> list[Part]:
    data = {"values": [{"at": observed, "says": "observed"}]}
    at = {"field": "at", **across}
    return [
        {
            "data": data,
            "mark": {"type": "rule", "color": BLUE, "strokeWidth": 3},
            "encoding": {"x": at},
        },
        {
            "data": data,
            "mark": {"type": "text", "color": INK, "dy": -6, "baseline": "bottom"},
            "encoding": {"x": at, "y": {"value": 0}, "text": {"field": "says"}},
        },
    ]
