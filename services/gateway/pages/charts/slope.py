"""Ranks as slopes: a line an option, from its place in one ranking to its place in the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from services.gateway.pages.charts.drawing import GREY, INK, ORANGE, Chart, drawn

COLUMN, ROW, LEAST = 150, 34, 90  # pixels: between two rankings, between two places, height

Ranks = Mapping[str, float]  # option → place, 1 = best
Column = tuple[str, Ranks]
Part = dict[str, Any]


def slope(columns: Sequence[Column], *, title: str, summary: str) -> Chart:
    """columns: rankings with their names, left to right, of the same options.

    An option that moves has a thick orange line, one that stays a thin grey one; options that tie
    share a point and its label.
    """
    worst = max((rank for _, ranks in columns for rank in ranks.values()), default=1.0)
    place = {"x": _rankings([name for name, _ in columns]), "y": _places(worst)}
    spec = {
        "width": COLUMN * len(columns),
        "height": max(LEAST, int(ROW * worst)),
        "layer": [
            _lines([row for pair in pairwise(columns) for row in _moves(*pair)], place),
            _points([point for column in columns for point in _labelled(column)], place),
        ],
    }
    return drawn(spec, title=title, summary=summary)


def _rankings(names: list[str]) -> Part:
    return {
        "field": "ranking",
        "type": "nominal",
        "sort": names,
        "title": None,
        "scale": {"type": "point", "padding": 0.4},
        "axis": {"orient": "top", "labelAngle": 0, "grid": True, "domain": False, "ticks": False},
    }


def _places(worst: float) -> Part:
    return {
        "field": "rank",
        "type": "quantitative",
        "title": "rank, 1 = best",
        "scale": {"domain": [0.5, worst + 0.5], "reverse": True, "zero": False, "nice": False},
        "axis": {"tickMinStep": 1, "grid": False},
    }


def _moves(left: Column, right: Column) -> list[Part]:
    """Both ends of every line between two rankings."""
    found = []
    for option in (key for key in left[1] if key in right[1]):
        moved = "moved" if left[1][option] != right[1][option] else "stayed"
        line = f"{option} {left[0]}"
        found += [
            {"line": line, "ranking": name, "rank": ranks[option], "moved": moved}
            for name, ranks in (left, right)
        ]
    return found


def _labelled(column: Column) -> list[Part]:
    """A point a place, with the keys of all options that share it."""
    name, ranks = column
    return [
        {
            "ranking": name,
            "rank": rank,
            "keys": ", ".join(option for option in ranks if ranks[option] == rank),
        }
        for rank in sorted(set(ranks.values()))
    ]


def _lines(rows: list[Part], place: Part) -> Part:
    kinds = {"field": "moved", "type": "nominal", "legend": None}
    domain = ["moved", "stayed"]
    return {
        "data": {"values": rows},
        "mark": "line",
        "encoding": {
            **place,
            "detail": {"field": "line", "type": "nominal"},
            "color": {**kinds, "scale": {"domain": domain, "range": [ORANGE, GREY]}},
            "strokeWidth": {**kinds, "scale": {"domain": domain, "range": [3, 1.5]}},
        },
    }


def _points(rows: list[Part], place: Part) -> Part:
    return {
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "point", "size": 60, "color": INK}, "encoding": place},
            {
                "mark": {"type": "text", "dy": -12, "fontWeight": "bold", "color": INK},
                "encoding": {**place, "text": {"field": "keys"}},
            },
        ],
    }
