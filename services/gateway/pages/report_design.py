"""The charts that a batch report shows first; all numbers follow them.

A metric's own are the `design` of its `page.py`. Metrics without one show their tables only.
"""

from __future__ import annotations

from collections.abc import Iterator

from services.registry import page
from shared.language_names import language_name
from shared.ledger.batch_lines import STATUSES
from shared.report_design import Block, Pair, Record, count_bars, forest, record


def design_of(metric: str, report: Record | None) -> list[Block]:
    """The charts of this report, in their order; without one none."""
    design = getattr(page(metric), "design", None)
    if design is None or report is None:
        return []
    blocks = [*design(report), *_common(report)]
    return [one for one in blocks if not one.is_empty]


def _common(report: Record) -> Iterator[Block]:
    by_language = record(report, "by_language").items()
    languages = {language_name(code): record(one, "score") for code, one in by_language}
    if len(languages) > 1:
        yield forest("Mean score by language of the text", languages)
    left_out = record(report, "left_out")
    filters: dict[str, Pair] = {one: ("status", one) for one in STATUSES if one in left_out}
    yield count_bars("Left out, by state", left_out, filters=filters)
