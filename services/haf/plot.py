"""The six means of every model and data set, with their intervals: one panel a metric."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from threading import Lock

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from services.haf.batch_messages import HafGroup, Means
from shared.batch_reports import Interval, Plot

PANELS = {
    "sos": "SoS (higher is better)",
    "dis": "DiS (higher is better)",
    "uii": "UII (lower is better)",
    "uei": "UEI (lower is better)",
    "rs": "RS (higher is better)",
    "rn": "RN (higher is better)",
}
COLUMNS = 3
LONGEST_NAME = 40
MOST_GROUPS = 40  # more would not be readable
DOTS_PER_INCH = 120

_drawing = Lock()  # matplotlib's fonts are not for two threads at a time


def means_plot(groups: Sequence[HafGroup]) -> Plot:
    """A picture in both formats, the same bytes for the same numbers."""
    shown = groups[:MOST_GROUPS]
    with _drawing, rc_context({"svg.hashsalt": "touchstone"}):
        figure = Figure(figsize=(12, 2.6 + 0.5 * len(shown)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(PANELS) // COLUMNS, COLUMNS, sharey=True)
        for panel, name in zip(axes.flat, Means.model_fields, strict=True):
            _draw(panel, [getattr(group.means, name) for group in shown])
            panel.set_title(PANELS[name], fontsize=9)
        labels = [_short(f"{group.model} · {group.dataset}") for group in shown]
        for row in axes:
            row[0].set_yticks(range(len(shown)), labels, fontsize=8)
        svg = _bytes(figure, "svg", {"Date": None, "Creator": None})
        png = _bytes(figure, "png", {"Software": None})
    return Plot(
        name="means",
        title="HAF by model and data set: means with bootstrap intervals",
        svg=svg.decode(),
        png_base64=base64.b64encode(png).decode(),
    )


def _draw(panel: Axes, intervals: Sequence[Interval]) -> None:
    """One metric: a dot a group, its interval as a line, its sample size beside it."""
    panel.set_xlim(0, 1)
    panel.set_ylim(len(intervals) - 0.5, -0.5)
    panel.grid(axis="x", linewidth=0.4)
    for place, each in enumerate(intervals):
        if each.value is None:
            panel.text(0.5, place, "undefined", ha="center", va="center", fontsize=7, color="grey")
            continue
        if each.low is not None and each.high is not None:
            panel.plot([each.low, each.high], [place, place], color="#0072b2", linewidth=1.5)
        panel.plot([each.value], [place], "o", color="#0072b2", markersize=5)
        panel.annotate(
            f"n={each.of}",
            (each.value, place),
            (0, 6),
            textcoords="offset points",
            ha="center",
            fontsize=6,
        )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _bytes(figure: Figure, kind: str, metadata: dict[str, str | None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
    return buffer.getvalue()
