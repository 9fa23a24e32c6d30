"""Pictures from Vega-Lite specifications, drawn on the server: no script reaches the browser.

On a page colours are CSS variables, so that the same picture is right in light and dark; a `Plot`
of a batch report stands alone, and its colours are those of a light page, or of a dark one.

A process of its own draws, since the engine holds Python's lock meanwhile. It starts with the first
picture and ends with its caller. A process, not a pool: a pool cannot end a worker that hangs, and
its workers import the program that runs. SVGs are kept for a while, so that a page that is looked
at again costs nothing.
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
LIGHT = {  # the variables where there is no page
    INK: "#1c1c22", MUTED: "#5a5a66", LINE: "#c9c9d2",
    BLUE: "#0072b2", ORANGE: "#d55e00", GREY: "#6e6e6e",
}  # fmt: skip
DARK = {  # the same in the dark
    INK: "#ececf1", MUTED: "#b0b0bc", LINE: "#4a4a55",
    BLUE: "#6cb8ec", ORANGE: "#f5a15a", GREY: "#8f8f9c",
}  # fmt: skip
PAPER, DARK_PAPER = "white", "#17171c"
IN_THE_DARK = {LIGHT[one]: DARK[one] for one in LIGHT} | {
    PAPER: DARK_PAPER, "#ffffff": DARK_PAPER, "#fff": DARK_PAPER, "#000": DARK[INK],
    "#000000": DARK[INK],
}  # fmt: skip
COLOUR = re.compile(r'(?<=[":; ])(?:white\b|#[0-9A-Fa-f]{3,6}\b)')
POINTS_PER_INCH = 72
NOT_DRAWN = "a picture is missing: it could not be drawn"
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
TAG = re.compile(r"<[^<>]*>")
NEEDLESS = re.compile(  # of a picture that is hidden from readers: what has no effect in a page
    r' (?:opacity="1"|pointer-events="none"|(?:aria-[a-z]+|role)="[^"]*"'
    r'|class="(?:mark-(?!symbol)|background|foreground)[^"]*")'
)
SIZE = re.compile(r'^<svg ([^>]*?) width="([\d.]+)" height="([\d.]+)"')

PROGRAM = Path(__file__).with_name("process.py")
VEGA_LITE = "5.21"  # of those that vl-convert carries
SECONDS = 10.0  # for a picture of a page; the first one takes about one
REPORT_SECONDS = 300.0  # of a report that is stored: beside a load the first one takes ten
GRACE_SECONDS = 2  # then an orphan ends by itself
TRIES = 2  # a process may have died since the last picture
KEPT_BYTES = 8_000_000  # some hundred pictures
KEPT_SECONDS = 3_600.0  # no text that is purged stays longer, not even a name on an axis
DRAWN = b"+"

logger = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class Caption:
    """A picture's title, its content in words, and the unit along its axis."""

    title: str
    summary: str
    unit: str


Cell = str | float | None


@dataclass(frozen=True, slots=True)
class ChartTable:
    """A chart's marks as numbers: names of columns, and rows; the first cell names its row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and the same in words and as a table for whoever does not see it.

    svg: empty: words and table alone.
    """

    title: str
    summary: str
    svg: Markup
    table: ChartTable


def render(spec: dict[str, Any], table: ChartTable, *, title: str, summary: str) -> Chart:
    """The chart of this specification; the page's colours where it names none.

    Waits for a process that draws: not for the event loop. A picture that fails is left out.
    """
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
    """A picture of exactly this width and height, in both formats; None where drawing fails."""
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
    """A plot's picture in the colours of a dark page; colours that no plot of ours has stay."""

    def darker(colour: re.Match[str]) -> str:
        return IN_THE_DARK.get(colour[0].lower(), colour[0])

    return TAG.sub(lambda tag: COLOUR.sub(darker, tag[0]), svg)


def _with_defaults(spec: dict[str, Any], **config: Any) -> str:
    schema = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.json"
    configured = CONFIG | config | spec.get("config", {})
    whole = {"$schema": schema, **sanitize(spec), "config": configured}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"))


def sanitize(value: Any) -> Any:
    """The same with no character that XML forbids: it would abort the process that draws."""
    if isinstance(value, str):
        return NOT_XML.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {key: sanitize(one) for key, one in value.items()}
    return [sanitize(one) for one in value] if isinstance(value, list | tuple) else value


class DrawError(Exception):
    """There is no picture; the words must do."""


class Engine:
    """A running drawing process. Methods raise OSError or EOFError where it has died."""

    def __init__(self, program: Path, seconds: float) -> None:
        self._seconds = seconds
        self._here, there = Pipe()
        with there:
            limit = math.ceil(seconds) + GRACE_SECONDS
            self._process = subprocess.Popen(  # noqa: S603 (our own program)
                [sys.executable, "-P", program, str(there.fileno()), VEGA_LITE, str(limit)],
                pass_fds=(there.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    @property
    def number(self) -> int:
        return self._process.pid

    def draw(self, request: str) -> bytes:
        """`+` and the picture, or `-` and why not. Raises NotDrawn where it takes too long."""
        self._here.send_bytes(request.encode())
        if not self._here.poll(self._seconds):
            raise DrawError("it took too long")
        return self._here.recv_bytes()

    def stop(self) -> None:
        self._here.close()
        self._process.kill()
        self._process.wait()


class Painter:
    """Draws for all threads, one picture at a time, and remembers."""

    def __init__(self, program: Path = PROGRAM, seconds: float = SECONDS) -> None:
        self._program, self._seconds = program, seconds
        self._turn, self._shelf = Lock(), Lock()
        self._engine: Engine | None = None
        self._kept: TTLCache[bytes, str] = TTLCache(
            KEPT_BYTES, KEPT_SECONDS, getsizeof=sys.getsizeof
        )

    @property
    def number(self) -> int | None:
        engine = self._engine
        return None if engine is None else engine.number

    def draw(self, spec: str) -> str:
        """The SVG of a Vega-Lite specification in JSON. Raises NotDrawn."""
        key = hashlib.sha256(spec.encode()).digest()
        found = self._get_cached(key)
        if found is None:
            with self._turn:
                found = self._get_cached(key) or self._draw(spec).decode()
                with self._shelf:
                    if sys.getsizeof(found) <= KEPT_BYTES:
                        self._kept[key] = found
        return found

    def rasterize(self, svg: str) -> bytes:
        """The PNG of an SVG, not kept. Raises NotDrawn."""
        with self._turn:
            return self._draw(svg[svg.index("<svg") :])

    def close(self) -> None:
        """End the process; the next picture starts another."""
        with self._turn:
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
                if answer is None:  # lest the next picture get the late answer
                    self._stop()
            if answer.startswith(DRAWN):
                return answer[1:]
            raise DrawError("the engine refuses the specification")
        raise DrawError("the process that draws has died")

    def _stop(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.stop()

    def _get_cached(self, key: bytes) -> str | None:
        with self._shelf:
            return self._kept.get(key)


@lru_cache(maxsize=1)
def painter() -> Painter:
    """This process's painter."""
    return Painter()


@lru_cache(maxsize=1)
def report_painter() -> Painter:
    """The painter of a worker's batch reports: nobody waits at a page, a busy machine has time."""
    return Painter(seconds=REPORT_SECONDS)
