"""The part of a batch's page that compares the system's decisions with the correct labels (gold
labels). It uses the stored report. Numbers that the report lacks are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shared.reports.pages.page_text import percent
from shared.reports.pages.report_design import Record, integer, is_shown, record, records

MOST_SHOWN = 8  # labels of the confusion table; the others are one row and one column
UNREAD, OTHERS = "not read", "all others"


@dataclass(frozen=True)
class GoldFigure:
    """A number with its interval. `chance` is its expected value for random decisions, or None if
    undefined."""

    name: str
    interval: Record
    chance: float | None = None
    help: str = ""


@dataclass(frozen=True)
class ConfusionRow:
    """A row of the confusion table: the results whose correct label is `gold`. `counts` holds a
    pair for each decision: the number of results, and True if the decision is correct."""

    gold: str
    counts: Sequence[tuple[int, bool]]


@dataclass(frozen=True)
class GoldSection:
    """The comparison with the correct labels, as the page shows it. `decided` holds the column
    names of the confusion table."""

    sentence: str
    figures: Sequence[GoldFigure]
    decided: Sequence[str]
    confusion: Sequence[ConfusionRow]
    warnings: Sequence[str]


def gold_section(report: Record | None) -> GoldSection | None:
    """Return the comparison with the correct labels, or None if no line has one."""
    gold = record(report or {}, "gold")
    labels = record(gold, "labels")
    if not integer(labels, "results"):
        return None
    cells: Cells = Counter()
    for row in records(labels, "confusion"):
        answer = row.get("decided")
        pair = str(row.get("gold")), None if answer is None else str(answer)
        cells[pair] = integer(row, "results")
    decided, confusion = _table(cells)
    warnings = gold.get("warnings")
    return GoldSection(
        sentence=_sentence(labels, cells),
        figures=list(_figures(labels)),
        decided=decided,
        confusion=confusion,
        warnings=[str(text) for text in warnings] if isinstance(warnings, list | tuple) else [],
    )


Cells = Counter[tuple[str, str | None]]  # (gold label, decision or None) → results


def _sentence(labels: Record, cells: Cells) -> str:
    results = integer(labels, "results")
    read = sum(count for (_, decided), count in cells.items() if decided is not None)
    right = sum(count for (gold, decided), count in cells.items() if gold == decided)
    text = f"{right:,} of {read:,} decisions agree with the gold label"
    chance = labels.get("chance")
    if isinstance(chance, int | float):
        by_chance = percent(chance)
        text += f". Always choosing the most frequent label would be right in {by_chance} of cases"
    if (left := results - read) > 0:
        text += f". For {left:,} more results with a gold label, no decision could be read"
    return f"{text}."


def _figures(labels: Record) -> Iterator[GoldFigure]:
    missing = integer(labels, "unread") + integer(labels, "refused")
    chance = _number(labels.get("chance"))
    yield from _figure("Agrees with the gold label", record(labels, "accuracy"), chance)
    if missing:
        of_all = record(labels, "accuracy_of_all")
        name = "Agrees, with undecided results counted as wrong"
        yield from _figure(name, of_all, _number(labels.get("chance_of_all")))
    yield from _figure("Cohen's kappa", record(labels, "kappa"), 0.0, "kappa")
    yield from _figure("Macro-F1, the mean over labels", record(labels, "macro_f1"))


def _figure(
    name: str, interval: Record, chance: float | None = None, help: str = ""
) -> Iterator[GoldFigure]:
    if is_shown(interval):
        yield GoldFigure(name, interval, chance, help)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _table(cells: Cells) -> tuple[list[str], list[ConfusionRow]]:
    """Return (column labels, rows) of the confusion table, by frequency, with the rarest labels
    combined."""
    totals: Counter[str] = Counter()
    for both, count in cells.items():
        totals.update({label: count for label in both if label is not None})
    ordered = sorted(totals, key=lambda one: (-totals[one], one))
    most = MOST_SHOWN if len(ordered) > MOST_SHOWN + 1 else len(ordered)
    shown: list[tuple[str, set[str | None]]] = [(label, {label}) for label in ordered[:most]]
    if rest := set[str | None](ordered[most:]):
        shown.append((OTHERS, rest))
    given = [group for group in shown if any(gold in group[1] for gold, _ in cells)]
    unread: tuple[str, set[str | None]] = (UNREAD, {None})
    columns = [group for group in (*shown, unread) if any(own in group[1] for _, own in cells)]
    rows = []
    for name, golds in given:
        counts = []
        for _, labels in columns:
            count = sum(
                n for (gold, label), n in cells.items() if gold in golds and label in labels
            )
            counts.append((count, golds == labels and len(golds) == 1))
        rows.append(ConfusionRow(name, counts))
    return [name for name, _ in columns], rows
