"""What several results rest on, in lanes under one text, so that one sees where they agree.

A lane is a result's marks, or how much each token counted, as a strip of heat. The text is cut
where any lane changes; each stretch says by its classes what lies in which lane. Lanes are told
apart by their place, colours only follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from shared.reports.pages.page_text import LEVELS, Mark, TokenRun, pieces

MOST_LANES = 8  # under one text; lanes.css has as many
STEPS = 4  # of a lane's heat
MOST_PASSAGES = 20  # of a lane, in its table


@dataclass(frozen=True)
class TextLane:
    """One result. marks: its stretches of the text; level: -9 to 9 of heat, 0: marked. said: what
    it rests on that is not of the text, such as a model's reasons."""

    name: str
    marks: Sequence[tuple[int, int, int]]
    said: Sequence[str] = ()


@dataclass(frozen=True)
class LaneStretch:
    """Characters that no lane cuts. classes: empty where nothing is marked."""

    text: str
    classes: str


@dataclass(frozen=True)
class StackedText:
    """A text with its lanes, the uppermost first. passages: of each lane, the strongest first.
    left_out: lanes for which there is no room."""

    text: str
    lanes: Sequence[TextLane]
    stretches: Sequence[LaneStretch]
    passages: Sequence[Sequence[str]]
    left_out: int = 0


def stacked(lanes: Iterable[tuple[str, TextLane]]) -> list[StackedText]:
    """(text, lane) of each result; results of the same characters share their text."""
    found: dict[str, list[TextLane]] = {}
    for text, lane in lanes:
        found.setdefault(text, []).append(lane)
    return [
        replace(_stack(text, own[:MOST_LANES]), left_out=max(0, len(own) - MOST_LANES))
        for text, own in found.items()
    ]


def heat_marks(runs: Iterable[TokenRun]) -> Iterator[tuple[int, int, int]]:
    """Tokens by their weight as a lane has them."""
    end = 0
    for run in runs:
        for stretch in run.stretches:
            start, end = end, end + len(stretch.text)
            if stretch.level:
                yield start, end, stretch.level


def _stack(text: str, lanes: Sequence[TextLane]) -> StackedText:
    marks, passages = [], []
    for place, lane in enumerate(lanes):
        for start, end, level in lane.marks:  # the kind is a class of lanes.css
            step = math.ceil(STEPS * abs(level) / LEVELS)
            kind = f"lane{place}-{'p' if level > 0 else 'n'}{step}" if level else f"lane{place}"
            marks.append(Mark(start, end, kind))
        # of a strip of heat the upper half of its range
        strong = [one for one in lane.marks if not one[2] or 2 * abs(one[2]) > LEVELS]
        strong.sort(key=lambda one: (-abs(one[2]), one[0]))
        words = (text[start:end].strip() for start, end, _ in strong)
        passages.append([*dict.fromkeys(filter(None, words)), *lane.said][:MOST_PASSAGES])
    stretches = [
        LaneStretch(one.text, " ".join(dict.fromkeys(mark.kind for mark in one.marks)))
        for one in pieces(text, marks)
    ]
    return StackedText(text, lanes, stretches, passages)
