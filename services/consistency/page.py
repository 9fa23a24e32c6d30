"""The page of a `consistency` job: citations, predictions, and the words that drive answer and
explanation."""

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
from services.consistency.verdict import nulls_of
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
MOST_WORDS = 2_000  # words shaded at most
BY: dict[CitedBy, str] = {
    "quotations": "quotations that are in the text",
    "shared words": "content words that it shares with the text, because it contains no quotation",
    "request": "passages in the request",
}
EDITS = {
    "cited": "cited words were removed",
    "random": "the same number of other words was removed",
    "sent": "edited texts from the request",
}
OPERATORS = {"delete": " (deleted)", "mask": " (masked)", None: ""}
TITLES = {
    "simulatability": "Does the explanation predict the answers to edited texts?",
    "attribution": "Does the explanation rest on the same words as the answer?",
}


@dataclass(frozen=True, slots=True)
class EditLine:
    name: str
    row: ConsistencyEditRow


@dataclass(frozen=True, slots=True)
class NullBlock:
    """A test and its null distribution."""

    title: str
    null: ConsistencyNull
    chart: Chart | None


@dataclass(frozen=True, slots=True)
class ConsistencyView:
    """The values that the page's template shows in addition to the report."""

    kept: bool
    text: list[MarkedText]
    explanation: str
    cited_by: str
    lines: tuple[EditLine, ...]
    answer_heat: tuple[TokenRun, ...]
    explanation_heat: tuple[TokenRun, ...]
    nulls: tuple[NullBlock, ...]


def view(request: ConsistencyRequest | None, report: ConsistencyResult) -> ConsistencyView:
    """Return the data of the page. It has no texts if the request was erased."""
    text = "" if request is None else request.text
    shown = report.word_values if len(report.word_values) <= MOST_WORDS else ()
    marks = [
        Mark(row.start, row.end, "cited", "cited by the explanation")
        for row in report.evidence
        if row.kind == "cited" and row.start is not None and row.end is not None
    ]
    return ConsistencyView(
        kept=request is not None,
        text=pieces(text, marks) if request else [],
        explanation="" if request is None else request.explanation,
        cited_by="no words of the text" if report.cited_by is None else BY[report.cited_by],
        lines=tuple(
            EditLine(f"{EDITS[row.of]}{OPERATORS[row.operator]}", row) for row in report.edit_rows
        ),
        answer_heat=_heat(text, [(word, word.answer) for word in shown]) if request else (),
        explanation_heat=_heat(text, [(word, word.explanation) for word in shown])
        if request
        else (),
        nulls=tuple(_nulls(report)),
    )


def _heat(text: str, values: list[tuple[ConsistencyWordValue, float]]) -> tuple[TokenRun, ...]:
    largest = max((abs(value) for _, value in values), default=0.0)
    return runs(text, [Warm(word.start, word.end, level(value, largest)) for word, value in values])


def _nulls(report: ConsistencyResult) -> Iterator[NullBlock]:
    components = report.components
    scores = {"simulatability": components.simulatability, "attribution": components.cosine}
    units = {"simulatability": "precision", "attribution": "cosine"}
    for name, null in nulls_of(report).items():
        score, chart = scores[name], None
        if null.histogram is not None and null.mean is not None and score is not None:
            summary = f"The explanation scores {score:.2f}. The {null.draws} random "
            summary += f"alternatives score {null.mean:.2f} on average."
            caption = Caption(title=TITLES[name], summary=summary, unit=units[name])
            chart = histogram(null.histogram, score, caption)
        yield NullBlock(TITLES[name], null, chart)


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    parts = {
        "predict the model's answers": record(report, "simulatability"),
        "rest on the same words": record(report, "attribution_agreement"),
    }
    yield forest("Scores of the explanations", parts, level=0.5)
    rivals = {
        "random citations that predict less well": record(report, "beats_random_citations"),
        "permuted words that agree less well": record(report, "beats_permuted_words"),
    }
    yield forest("Against chance", rivals, level=0.5)
    tests = {
        "predictions": record(report, "simulatability_significant"),
        "agreement": record(report, "attribution_significant"),
    }
    yield forest("Single tests with p <= 0.05", tests, level=0.05)
    yield count_bars("How citations were found", record(report, "cited_by"))
