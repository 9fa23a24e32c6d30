"""Bars in groups: the same quantity of several sources, option by option.

Every bar is named at its foot and numbered at its end, so that no colour has to be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.gateway.pages.charts.drawing import BLUE, GREY, INK, ORANGE, Caption, Chart, drawn

WIDTH, STEP = 220, 18  # pixels: the longest bar, one bar's height
LETTER = 7.5  # pixels of room for each letter of a name: browsers' fonts differ in width
COLOURS = (GREY, BLUE, ORANGE)

Values = Mapping[str, float]  # group → value
Part = dict[str, Any]


def bars(
    series: Sequence[tuple[str, Values]], caption: Caption, *, top: float | None = None
) -> Chart:
    """series: at most three sources and their values; groups stand in the first one's order.

    top: where the axis ends; None: where the data do. A value that is missing has no bar.
    """
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
        "facet": {"row": _groups(rows)},
        "spec": _group(across, [name for name, _ in series]),
        "spacing": 8,
    }
    return drawn(spec, title=caption.title, summary=caption.summary)


def _groups(rows: list[Part]) -> Part:
    return {
        "field": "group",
        "type": "nominal",
        "sort": list(dict.fromkeys(row["group"] for row in rows)),
        "title": None,
        "header": {"labelOrient": "top", "labelAnchor": "start", "labelFontWeight": "bold"},
    }


def _group(across: Part, names: list[str]) -> Part:
    """The bars of one group, a source each, and their numbers."""
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
        "width": WIDTH,
        "height": {"step": STEP},
        "layer": [
            {"mark": "bar", "encoding": {"x": across, "y": down, "color": colour}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
                "encoding": {"x": across, "y": down, "text": {"field": "says"}},
            },
        ],
    }
