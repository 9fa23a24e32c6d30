"""From a Vega-Lite specification to SVG, by `vl-convert`: no script reaches the browser.

Colours are CSS variables of the page, so that the same picture is right in light and dark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from threading import Lock
from typing import Any

import vl_convert
from markupsafe import Markup

VEGA_LITE = "5.21"  # of those that vl-convert carries
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

_converter = Lock()  # one engine a process


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and the same in words for whoever does not see it."""

    title: str
    summary: str
    svg: Markup


def drawn(spec: dict[str, Any], *, title: str, summary: str) -> Chart:
    """The chart of this specification; house colours where it names none."""
    whole = {"$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json", **spec}
    whole["config"] = CONFIG | spec.get("config", {})
    with _converter:
        svg = vl_convert.vegalite_to_svg(whole, vl_version=VEGA_LITE)
    return Chart(title, summary, Markup(_shrinking(svg)))  # noqa: S704 (vl-convert escapes texts)


def _shrinking(svg: str) -> str:
    """The picture hidden from readers that get its summary, no wider than its place."""
    whole = SIZE.sub(r'<svg aria-hidden="true" \1 width="\2"', svg, count=1)
    return whole.replace('class="marks"', 'class="chart"', 1)
