"""From a Vega-Lite specification to SVG, on the server: no script reaches the browser.

Colours are CSS variables of the page, so that the same picture is right in light and dark.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from services.gateway.pages.charts.painter import VEGA_LITE, NotDrawn, painter
from shared import log

INK, MUTED, LINE = "var(--ink)", "var(--muted)", "var(--line)"
BLUE, ORANGE, GREY = "var(--blue)", "var(--orange)", "var(--grey)"  # Okabe and Ito's: told apart
FONT = "sans-serif"

CONFIG: dict[str, Any] = {
    "background": None,
    "aria": False,  # the picture is hidden from readers that get its summary
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": LINE,
        "tickColor": LINE,
        "gridColor": LINE,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12},
    "header": {"labelColor": INK, "titleColor": INK},
    "text": {"color": INK, "fontSize": 12},
    "rule": {"color": INK},
    "bar": {"color": GREY},
    "point": {"color": GREY, "filled": True},
}
SIZE = re.compile(r'^<svg ([^>]*?) width="(\d+)" height="(\d+)"')

logger = log.logger(__name__)


@dataclass(frozen=True, slots=True)
class Caption:
    """What a picture is called, what it says in words, and the unit along its axis."""

    title: str
    summary: str
    unit: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and the same in words for whoever does not see it. svg: empty: words alone."""

    title: str
    summary: str
    svg: Markup


def drawn(spec: dict[str, Any], *, title: str, summary: str) -> Chart:
    """The chart of this specification; house colours where it names none.

    Waits for a process that draws: not for the event loop. A picture that fails is left out.
    """
    whole = {"$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json", **spec}
    whole["config"] = CONFIG | spec.get("config", {})
    try:
        svg = painter().draw(json.dumps(whole, sort_keys=True, separators=(",", ":")))
    except NotDrawn as error:
        logger.warning("chart.not_drawn", detail=str(error))
        return Chart(title, summary, Markup())
    return Chart(title, summary, Markup(_shrinking(svg)))  # noqa: S704 (vl-convert escapes texts)


def _shrinking(svg: str) -> str:
    """The picture hidden from readers that get its summary, no wider than its place."""
    whole = SIZE.sub(r'<svg aria-hidden="true" \1 width="\2"', svg, count=1)
    return whole.replace('class="marks"', 'class="chart"', 1)
