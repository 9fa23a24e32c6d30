"""Pictures for batch reports: the same bytes for the same numbers, from any thread.

Loaded by workers only. The figure interface of matplotlib without its global state.
"""

from __future__ import annotations

import base64
import io
from threading import Lock

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shared.contracts import Plot

mpl.rcParams["svg.hashsalt"] = "touchstone"  # else ids in an SVG are random

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6e6e6e"  # told apart by colour-blind readers too
DOTS_PER_INCH = 150

_drawing = Lock()  # matplotlib's fonts are not for two threads at a time


def figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, with a canvas of its own."""
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def drawn(picture: Figure, name: str, title: str) -> Plot:
    """The figure in both formats, without a date."""
    with _drawing:
        svg = _bytes(picture, "svg", {"Date": None, "Creator": None})
        png = _bytes(picture, "png", {"Software": None})
    return Plot(
        name=name,
        title=title,
        svg=svg.decode(),
        png_base64=base64.b64encode(png).decode(),
    )


def _bytes(picture: Figure, format_: str, metadata: dict[str, str | None]) -> bytes:
    buffer = io.BytesIO()
    picture.savefig(buffer, format=format_, dpi=DOTS_PER_INCH, metadata=metadata)
    return buffer.getvalue()
