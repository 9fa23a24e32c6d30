"""The charts that a batch report shows first; all numbers follow them.

A metric's own are the `design` of its `page.py`. Metrics without one show their tables only. Of
charts of many of a kind, as ICE's configurations, a page draws a few at once; a file has all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.registry import page
from shared.contracts.language_names import language_name
from shared.ledger.batch_lines import STATUSES
from shared.reports.pages.report_design import (
    AT_ONCE,
    Block,
    Forest,
    Pair,
    Record,
    count_bars,
    forest,
    is_shown,
    record,
)


def design_of(metric: str, report: Record | None) -> list[Block]:
    """The charts of this report, in their order; without one none."""
    design = getattr(page(metric), "design", None)
    if design is None or report is None:
        return []
    blocks = [*design(report), *_common(report)]
    return [one for one in blocks if not one.is_empty]


@dataclass(frozen=True)
class ChartsAtOnce:
    """What a page draws of a report's charts. others: those that it does not draw, a few at once:
    (first, last, address), numbered from 1. shown: of those that it draws."""

    blocks: Sequence[Block]
    shown: tuple[int, int] = (0, 0)
    others: Sequence[tuple[int, int, str]] = ()
    count: int = 0


def charts_at_once(
    blocks: Sequence[Block], first: int, address: Callable[[int], str]
) -> ChartsAtOnce:
    """first: the number of the first one to draw. address: of the page that begins with one."""
    count = max((number + 1 for one in blocks if (number := _number(one)) is not None), default=0)
    if count <= AT_ONCE:
        return ChartsAtOnce(blocks)
    start = first // AT_ONCE * AT_ONCE if first < count else 0
    drawn = range(start, min(start + AT_ONCE, count))
    kept = [one for one in blocks if (number := _number(one)) is None or number in drawn]
    others = [
        (low + 1, min(low + AT_ONCE, count), address(low))
        for low in range(0, count, AT_ONCE)
        if low != start
    ]
    return ChartsAtOnce(kept, (drawn.start + 1, drawn.stop), others, count)


def _number(block: Block) -> int | None:
    return None if isinstance(block, Forest) else block.number


def _common(report: Record) -> Iterator[Block]:
    by_language = record(report, "by_language").items()
    scores = {language_name(code): record(one, "score") for code, one in by_language}
    languages = {name: one for name, one in scores.items() if is_shown(one)}
    if len(languages) > 1:
        yield forest("Mean score by language of the text", languages)
    left_out = record(report, "left_out")
    filters: dict[str, Pair] = {one: ("status", one) for one in STATUSES if one in left_out}
    yield count_bars("Left out, by state", left_out, filters=filters)
