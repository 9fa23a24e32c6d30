"""The plot of a batch report: win rates with their intervals against chance."""

from __future__ import annotations

from collections.abc import Sequence

from services.ice.batch_messages import ConfigurationResult
from services.ice.results import name
from shared.contracts import Plot
from shared.plotting import BLUE, GREY, ORANGE, drawn, figure

MOST_LINES = 40
TITLE = "Win rate against random rationales"
LEGEND = "blue: faithful, orange: worse than chance, grey: neither"
COLOURS = {"faithful": BLUE, "anti-faithful": ORANGE, "inconclusive": GREY, None: GREY}


def forest(results: Sequence[ConfigurationResult]) -> Plot:
    """One line a configuration, the first 40: mean win rate, interval, and the line of 50 %."""
    known = [result for result in results if result.win_rate.value is not None]
    shown = known[:MOST_LINES]
    picture = figure(7.5, 1.3 + 0.32 * len(shown))
    axes = picture.subplots()
    axes.axvline(50, color="black", linewidth=0.8, linestyle="--")
    for line, result in enumerate(shown):
        rate, colour = result.win_rate, COLOURS[result.verdict]
        if rate.low is not None and rate.high is not None:
            axes.plot([100 * rate.low, 100 * rate.high], [line, line], color=colour, linewidth=2)
        axes.plot([100 * (rate.value or 0)], [line], "o", color=colour, clip_on=False)
    names = [f"{name(r.configuration)} (n = {r.win_rate.of})" for r in shown]
    axes.set_yticks(range(len(shown)), names, parse_math=False, fontsize=8)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("mean win rate, %; 50 is chance")
    left_out = f" (the first {MOST_LINES} of {len(known)})" if len(shown) < len(known) else ""
    axes.set_title(f"{TITLE}{left_out}\n{LEGEND}", fontsize=9)
    return drawn(picture, "win-rates", TITLE)
