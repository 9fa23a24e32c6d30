"""Bars in groups: the same quantity of several sources, option by option.

Every bar is named at its foot and numbered at its end, so that no colour has to be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.gateway.pages.charts.drawing import BLUE, GREY, INK, ORANGE, Chart, drawn

WIDTH, STEP = 220, 18  # pixels: the longest bar, one bar's height
LETTER = 7.5  # pixels of room for each letter of a name: browsers' fonts differ in width
COLOURS = (GREY, BLUE, ORANGE)

Values = Mapping[str, float]  # group → value


def bars(
    series: Sequence[tuple[str, Values]],
    *,
    title: str,
    summary: str,
    unit: str,
    top: float | None = None,
) -> Chart:
    """series: at most three sources and their values; groups stand in the first one's order.

    top: where the axis ends; None: where the data do. A value that is missing has no bar.
    """
    rows: list[dict[str, Any]] = [
        {"group": group, "series": name, "value": value, "says": f"{value:.2f}"}
        for name, values in series
        for group, value in values.items()
    ]
    across: dict[str, Any] = {"field": "value", "type": "quantitative", "title": unit}
    if top is not None:
        across["scale"] = {"domain": [min([0.0, *(row["value"] for row in rows)]), top]}
    names = [name for name, _ in series]
    down = {
        "field": "series",
        "type": "nominal",
        "sort": names,
        "title": None,
        "axis": {"minExtent": LETTER * max(map(len, names))},
    }
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": list(COLOURS[: len(names)])},
        "legend": None,
    }
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
        "spec": {
            "width": WIDTH,
            "height": {"step": STEP},
            "layer": [
                {"mark": "bar", "encoding": {"x": across, "y": down, "color": colour}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
                    "encoding": {"x": across, "y": down, "text": {"field": "says"}},
                },
            ],
        },
        "spacing": 8,
    }
    return drawn(spec, title=title, summary=summary)
