"""Draws charts from Vega-Lite specifications on the server, so no script reaches the browser.

On a page colours are CSS variables, for light and dark mode. A `Plot` of a batch report is a
separate file and has the colours of a light or a dark page.

A separate process draws, because the engine holds Python's interpreter lock. It starts with the
first chart and ends with its caller. A process pool is not used: it cannot end a worker that hangs,
and its workers import the caller's program. SVGs are cached for a while.
"""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import Pipe
from pathlib import Path
from threading import Lock
from typing import Any

from cachetools import TTLCache
from markupsafe import Markup

from shared.contracts.batches import Plot
from shared.process import telemetry

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

INK, MUTED, LINE = "var(--ink)", "var(--muted)", "var(--line)"
BLUE, ORANGE, GREY = "var(--blue)", "var(--orange)", "var(--grey)"  # Okabe and Ito's
LIGHT = {  # the variables outside a page
    INK: "#1c1c22", MUTED: "#5a5a66", LINE: "#c9c9d2",
    BLUE: "#0072b2", ORANGE: "#d55e00", GREY: "#6e6e6e",
}  # fmt: skip
DARK = {  # the same for a dark page
    INK: "#ececf1", MUTED: "#b0b0bc", LINE: "#4a4a55",
    BLUE: "#6cb8ec", ORANGE: "#f5a15a", GREY: "#8f8f9c",
}  # fmt: skip
PAPER, DARK_PAPER = "white", "#17171c"
IN_THE_DARK = {LIGHT[name]: DARK[name] for name in LIGHT} | {
    PAPER: DARK_PAPER, "#ffffff": DARK_PAPER, "#fff": DARK_PAPER, "#000": DARK[INK],
    "#000000": DARK[INK],
}  # fmt: skip
COLOUR = re.compile(r'(?<=[":; ])(?:white\b|#[0-9A-Fa-f]{3,6}\b)')
POINTS_PER_INCH = 72
NOT_DRAWN = "a chart is missing, because it could not be drawn"
FONT = "sans-serif"

CONFIG: dict[str, Any] = {
    "background": None,
    "aria": False,  # screen readers get the summary instead
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
TAG = re.compile(r"<[^<>]*>")
NEEDLESS = re.compile(  # attributes without effect in a page
    r' (?:opacity="1"|pointer-events="none"|(?:aria-[a-z]+|role)="[^"]*"'
    r'|class="(?:mark-(?!symbol)|background|foreground)[^"]*")'
)
SIZE = re.compile(r'^<svg ([^>]*?) width="([\d.]+)" height="([\d.]+)"')

PROGRAM = Path(__file__).with_name("process.py")
VEGA_LITE = "5.21"  # a version included in vl-convert
SECONDS = 10.0  # for a chart of a page; the first takes about one second
REPORT_SECONDS = (
    300.0  # for a chart of a stored report; on a busy machine the first takes ten seconds
)
GRACE_SECONDS = 2  # after which an orphan ends
TRIES = 2  # a process may have died since the last chart
KEPT_BYTES = 8_000_000  # a few hundred charts
KEPT_SECONDS = 3_600.0  # limit for purged texts, such as a name on an axis
DRAWN = b"+"

logger = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class Caption:
    """A chart's title, a description of its content in words, and the unit of its axis."""

    title: str
    summary: str
    unit: str


Cell = str | float | None


@dataclass(frozen=True, slots=True)
class ChartTable:
    """A chart's values as a table. The first cell of a row is its name."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, with the same content in words and as a table. If `svg` is empty, only these two are
    shown."""

    title: str
    summary: str
    svg: Markup
    table: ChartTable


def render(spec: dict[str, Any], table: ChartTable, *, title: str, summary: str) -> Chart:
    """Return the chart of a specification, in the page's colours unless the specification sets
    colours. This waits for the drawing process, so call it outside the event loop. A chart that
    fails has no SVG."""
    try:
        svg = painter().draw(_with_defaults(spec))
    except DrawError as error:
        logger.warning("chart.not_drawn", detail=str(error))
        return Chart(title, summary, Markup(), table)
    svg = TAG.sub(lambda tag: NEEDLESS.sub("", tag[0]), svg)
    svg = SIZE.sub(r'<svg aria-hidden="true" \1 width="\2"', svg, count=1)
    svg = svg.replace('class="marks"', 'class="chart"', 1)
    return Chart(title, summary, Markup(svg), table)  # noqa: S704 (vl-convert escapes texts)


def render_plot(
    spec: dict[str, Any], *, name: str, title: str, inches: tuple[float, float]
) -> Plot | None:
    """Return a plot of exactly this size as SVG and PNG, or None if drawing fails."""
    try:
        svg = report_painter().draw(_with_defaults(spec, background=PAPER))
        for variable, colour in LIGHT.items():
            svg = svg.replace(variable, colour)
        width, height = (round(POINTS_PER_INCH * side, 2) for side in inches)
        svg = SIZE.sub(rf'<svg \1 width="{width:g}pt" height="{height:g}pt"', svg, count=1)
        svg = f'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n{svg}'
        png = report_painter().rasterize(svg)
    except DrawError as error:
        logger.warning("chart.not_drawn", detail=str(error))
        return None
    return Plot(name=name, title=title, svg=svg, png_base64=base64.b64encode(png).decode())


def in_the_dark(svg: str) -> str:
    """Return a plot's SVG in the colours of a dark page. Unknown colours stay unchanged."""

    def darker(colour: re.Match[str]) -> str:
        return IN_THE_DARK.get(colour[0].lower(), colour[0])

    return TAG.sub(lambda tag: COLOUR.sub(darker, tag[0]), svg)


def _with_defaults(spec: dict[str, Any], **config: Any) -> str:
    schema = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json"
    configured = CONFIG | config | spec.get("config", {})
    full = {"$schema": schema, **sanitize(spec), "config": configured}
    return json.dumps(full, sort_keys=True, separators=(",", ":"))


def sanitize(value: Any) -> Any:
    """Replace characters that XML forbids, which would abort the drawing process."""
    if isinstance(value, str):
        return NOT_XML.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {key: sanitize(item) for key, item in value.items()}
    return [sanitize(item) for item in value] if isinstance(value, list | tuple) else value


class DrawError(Exception):
    """A chart could not be drawn."""


class Engine:
    """A running drawing process. Methods raise OSError or EOFError if it has died."""

    def __init__(self, program: Path, seconds: float) -> None:
        self._seconds = seconds
        self._pipe, child_pipe = Pipe()
        with child_pipe:
            limit = math.ceil(seconds) + GRACE_SECONDS
            self._process = subprocess.Popen(  # noqa: S603 (our own program)
                [sys.executable, "-P", program, str(child_pipe.fileno()), VEGA_LITE, str(limit)],
                pass_fds=(child_pipe.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    @property
    def number(self) -> int:
        return self._process.pid

    def draw(self, request: str) -> bytes:
        """Return `+` and the chart, or `-` and the error. Raises DrawError after the time limit."""
        self._pipe.send_bytes(request.encode())
        if not self._pipe.poll(self._seconds):
            raise DrawError("drawing the chart took too long")
        return self._pipe.recv_bytes()

    def stop(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.wait()


class Painter:
    """Draws charts for all threads, one at a time, and caches them."""

    def __init__(self, program: Path = PROGRAM, seconds: float = SECONDS) -> None:
        self._program, self._seconds = program, seconds
        self._drawing, self._caching = Lock(), Lock()
        self._engine: Engine | None = None
        self._cache: TTLCache[bytes, str] = TTLCache(
            KEPT_BYTES, KEPT_SECONDS, getsizeof=sys.getsizeof
        )

    @property
    def number(self) -> int | None:
        engine = self._engine
        return None if engine is None else engine.number

    def draw(self, spec: str) -> str:
        """Return the SVG of a Vega-Lite specification in JSON. Raises DrawError."""
        key = hashlib.sha256(spec.encode()).digest()
        svg = self._get_cached(key)
        if svg is None:
            with self._drawing:
                svg = self._get_cached(key) or self._draw(spec).decode()
                with self._caching:
                    if sys.getsizeof(svg) <= KEPT_BYTES:
                        self._cache[key] = svg
        return svg

    def rasterize(self, svg: str) -> bytes:
        """Return the PNG of an SVG, without caching. Raises DrawError."""
        with self._drawing:
            return self._draw(svg[svg.index("<svg") :])

    def close(self) -> None:
        """End the drawing process. The next chart starts a new process."""
        with self._drawing:
            self._stop()
        atexit.unregister(self.close)

    def _draw(self, request: str) -> bytes:
        for _ in range(TRIES):
            answer = None
            try:
                if self._engine is None:
                    self._engine = Engine(self._program, self._seconds)
                    atexit.register(self.close)
                answer = self._engine.draw(request)
            except (EOFError, OSError):
                continue
            finally:
                if answer is None:  # otherwise the next chart would get the late answer
                    self._stop()
            if answer.startswith(DRAWN):
                return answer[1:]
            raise DrawError("the drawing engine rejected the specification of the chart")
        raise DrawError("the drawing process ended before the chart was done")

    def _stop(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.stop()

    def _get_cached(self, key: bytes) -> str | None:
        with self._caching:
            return self._cache.get(key)


@lru_cache(maxsize=1)
def painter() -> Painter:
    return Painter()


@lru_cache(maxsize=1)
def report_painter() -> Painter:
    """Return the object that draws the charts of batch reports. Its time limit is longer, because
    no page waits for it."""
    return Painter(seconds=REPORT_SECONDS)
