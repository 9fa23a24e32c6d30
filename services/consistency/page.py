"""The page of a `consistency` job: what the explanation cites, and what both rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.consistency.contract import ConsistencyRequest
from services.consistency.report import (
    CitedBy,
    ConsistencyEditRow,
    ConsistencyNull,
    ConsistencyResult,
    ConsistencyWordValue,
)
from services.consistency.verdict import chance, nulls_of
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import histogram
from shared.reports.pages.page_text import (
    Mark,
    MarkedText,
    TokenRun,
    Warm,
    level,
    pieces,
    runs,
)
from shared.reports.pages.report_design import Block, Record, count_bars, forest, record

TEMPLATE = "consistency/page.html"
MOST_WORDS = 2_000  # that are shaded
BY: dict[CitedBy, str] = {
    "quotations": "quotations in it that stand in the text",
    "shared words": "content words that it shares with the text: it quotes nothing",
    "request": "the request named them",
}
EDITS = {
    "cited": "what is cited is gone",
    "random": "as much elsewhere is gone",
    "sent": "edited texts of the request",
}
OPERATORS = {"delete": "deleted", "mask": "masked", None: ""}
TITLES = {
    "simulatability": "Does it predict the answers to edited texts?",
    "attribution": "Does it rest on the same words as the answer?",
}


@dataclass(frozen=True, slots=True)
class EditLine:
    """Edits of one kind."""

    name: str
    row: ConsistencyEditRow


@dataclass(frozen=True, slots=True)
class NullBlock:
    """A test beside its rivals."""

    title: str
    null: ConsistencyNull
    chart: Chart | None


@dataclass(frozen=True, slots=True)
class ConsistencyView:
    """All that the template shows beside the report."""

    chance: str | None
    kept: bool
    text: list[MarkedText]
    explanation: str
    cited_by: str
    lines: tuple[EditLine, ...]
    answer_heat: tuple[TokenRun, ...]
    explanation_heat: tuple[TokenRun, ...]
    nulls: tuple[NullBlock, ...]


def view(request: ConsistencyRequest | None, report: ConsistencyResult) -> ConsistencyView:
    """What the page says of this report; without texts where they are gone."""
    text = "" if request is None else request.text
    shown = report.word_values if len(report.word_values) <= MOST_WORDS else ()
    return ConsistencyView(
        chance=chance(report),
        kept=request is not None,
        text=pieces(text, _cited(report)) if request else [],
        explanation="" if request is None else request.explanation,
        cited_by="nothing of the text" if report.cited_by is None else BY[report.cited_by],
        lines=tuple(_lines(report)),
        answer_heat=_heat(text, [(one, one.answer) for one in shown]) if request else (),
        explanation_heat=_heat(text, [(one, one.explanation) for one in shown]) if request else (),
        nulls=tuple(_nulls(report)),
    )


def _cited(report: ConsistencyResult) -> list[Mark]:
    return [
        Mark(one.start, one.end, "cited", "cited by the explanation")
        for one in report.evidence
        if one.kind == "cited" and one.start is not None and one.end is not None
    ]


def _lines(report: ConsistencyResult) -> Iterator[EditLine]:
    for row in report.edit_rows:
        how = OPERATORS[row.operator]
        yield EditLine(f"{EDITS[row.of]}{f' ({how})' if how else ''}", row)


def _heat(text: str, values: list[tuple[ConsistencyWordValue, float]]) -> tuple[TokenRun, ...]:
    largest = max((abs(value) for _, value in values), default=0.0)
    return runs(text, [Warm(one.start, one.end, level(value, largest)) for one, value in values])


def _nulls(report: ConsistencyResult) -> Iterator[NullBlock]:
    parts = report.components
    observed = {"simulatability": parts.simulatability, "attribution": parts.cosine}
    units = {"simulatability": "precision", "attribution": "cosine"}
    for name, null in nulls_of(report).items():
        own = observed[name]
        yield NullBlock(TITLES[name], null, _chart(TITLES[name], null, own, units[name]))


def _chart(title: str, null: ConsistencyNull, observed: float | None, unit: str) -> Chart | None:
    if null.histogram is None or null.mean is None or observed is None:
        return None
    caption = Caption(
        title=title,
        summary=f"The explanation has {observed:.2f}, {null.draws} random rivals "
        f"{null.mean:.2f} on average.",
        unit=unit,
    )
    return histogram(null.histogram, observed, caption)


def design(report: Record) -> Iterator[Block]:
    """The charts of a batch report."""
    parts = {
        "predict the model's answers": record(report, "simulatability"),
        "rest on the same words": record(report, "attribution_agreement"),
    }
    yield forest("What the explanations do", parts, level=0.5)
    rivals = {
        "random citations that predict less": record(report, "beats_random_citations"),
        "permuted words that agree less": record(report, "beats_permuted_words"),
    }
    yield forest("Against chance", rivals, level=0.5)
    tests = {
        "predictions": record(report, "simulatability_significant"),
        "agreement": record(report, "attribution_significant"),
    }
    yield forest("Single tests with p <= 0.05", tests, level=0.05)
    yield count_bars("How citations were found", record(report, "cited_by"))
