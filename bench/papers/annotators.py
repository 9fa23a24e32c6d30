"""Reads labels given by people, and reports labels that the run does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow, spelled

MOST_NAMED = 10  # labels that nobody knows


def before(row: DataRow) -> list[str]:
    """Return one label per person who read only the text."""
    return [spelled(label) for label in row.list_of("annotators")]


def after(row: DataRow, model: str) -> list[str]:
    """Return one label per person who also read this model's explanation."""
    return [spelled(label) for label in row.list_of("adjudications", model)]


def unknown_labels(labels: Sequence[tuple[str, bool]]) -> Iterator[str]:
    """Yield a sentence with the number of ignored labels, and the labels. `labels` holds each
    label, and True if it is known."""
    unknown = Counter(label for label, is_known in labels if not is_known)
    if not unknown:
        return
    ranked = sorted(unknown.items(), key=lambda one: (-one[1], one[0]))
    named = ", ".join(f"{label!r} ({count})" for label, count in ranked[:MOST_NAMED])
    more = len(ranked) - MOST_NAMED
    named += f" and {more} others" if more > 0 else ""
    yield (
        f"{unknown.total()} of the {len(labels)} labels that people gave are not known and count "
        f"for nothing: {named}; say what one means by --label LABEL={ranked[0][0]}"
    )


def rows_once(some: Sequence[Observation]) -> list[DataRow]:
    """Return the rows, each once even if several models judged it."""
    return list({one.row.key: one.row for one in some}.values())
