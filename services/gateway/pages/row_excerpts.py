"""Excerpts of long texts, so that a page of 50 lines stays below 150 kB. A row shows two lines of a
text: the part that matches a filter, or the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from unicodedata import east_asian_width

from services.gateway.pages.result_query import ResultQuery
from services.gateway.results.result_pages import ResultRow

SNIPPET = 100  # columns of a row's text: two lines of it
CUSTOM_ID = 40
MODEL = 40
METADATA = 160  # columns of all metadata of a row together
BEFORE = 30  # of what a filter has found
OFFERED = 1_500  # characters of the values that a filter offers, the most frequent first
WIDE = frozenset("WF")
CUT = "…"


def fitted_rows(rows: Sequence[ResultRow], view: ResultQuery) -> list[ResultRow]:
    """Return the rows with their long values replaced by excerpts."""
    room = METADATA // max(1, len(view.columns))
    return [
        row._replace(
            custom_id=excerpt(row.custom_id or "", CUSTOM_ID, view.filter.contains),
            snippet=row.snippet and excerpt(row.snippet, SNIPPET, view.filter.text),
            model=row.model and excerpt(row.model, MODEL),
            metadata={
                name: excerpt(row.metadata[name], room)
                for name in view.columns
                if name in row.metadata
            },
        )
        for row in rows
    ]


def excerpt(text: str, columns: int, sought: str = "") -> str:
    """Return an excerpt of a text, `columns` wide, around the match with `sought`. East Asian
    letters are two columns wide."""
    match = text.lower().find(sought.lower()) if sought else 0
    start = max(0, match - BEFORE) if match + len(sought) > columns // 2 else 0
    end, left = start, columns
    while end < len(text) and left > 0:
        left -= 2 if east_asian_width(text[end]) in WIDE else 1
        end += 1
    return f"{CUT if start else ''}{text[start:end]}{CUT if end < len(text) else ''}"


def offered(
    values: Mapping[str, int], kept: str | None = None, room: int = OFFERED
) -> dict[str, int]:
    """Return the filter values to offer on a page, with their counts, in at most `room` characters.
    The selected value `kept` is always included."""
    shown, left = {}, room
    for value, count in values.items():
        left -= len(value)
        if left >= 0 or value == kept:
            shown[value] = count
    return shown
