"""The six means of every model and data set, with their intervals: one panel a metric."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from services.haf.batch_messages import HafGroup, Means
from shared.contracts import Interval, Plot
from shared.plotting import BLUE, GREY, drawn, figure

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


def means_plot(groups: Sequence[HafGroup]) -> Plot:
    """The first 40 groups: a dot a mean, its interval, and its sample size."""
    shown = groups[:MOST_GROUPS]
    picture = figure(12, 2.6 + 0.5 * len(shown))
    axes = picture.subplots(len(PANELS) // COLUMNS, COLUMNS, sharey=True)
    for panel, name in zip(axes.flat, Means.model_fields, strict=True):
        _draw(panel, [getattr(group.means, name) for group in shown])
        panel.set_title(PANELS[name], fontsize=9)
    labels = [_short(f"{group.model} · {group.dataset}") for group in shown]
    for row in axes:
        row[0].set_yticks(range(len(shown)), labels, parse_math=False, fontsize=8)
    return drawn(picture, "means", "HAF by model and data set: means with bootstrap intervals")


def _draw(panel: Axes, intervals: Sequence[Interval]) -> None:
    """One metric: a dot a group, its interval as a line, its sample size beside it."""
    panel.set_xlim(0, 1)
    panel.set_ylim(len(intervals) - 0.5, -0.5)
    panel.grid(axis="x", linewidth=0.4)
    for place, each in enumerate(intervals):
        if each.value is None:
            panel.text(0.5, place, "undefined", ha="center", va="center", fontsize=7, color=GREY)
            continue
        if each.low is not None and each.high is not None:
            panel.plot([each.low, each.high], [place, place], color=BLUE, linewidth=1.5)
        panel.plot([each.value], [place], "o", color=BLUE, markersize=5, clip_on=False)
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
