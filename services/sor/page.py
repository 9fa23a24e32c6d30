"""The page of a `sor` job: the statement's items with their positions, and its missing items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.sor.contract import SorRequest
from services.sor.report import POINTS, SorItemName, SorPoint, SorResult, SorRoute
from services.sor.verdict import NAMES
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import histogram
from shared.reports.pages.page_text import Mark, MarkedText, pieces
from shared.reports.pages.report_design import Block, Record, forest, record

TEMPLATE = "sor/page.html"
OF_THE_POST = ("quote", "word")
MARKS = {
    "quote": "quoted from the post",
    "word": "a word of the post",
    "quote_not_found": "not found",
}
CLASSES = {"quote": "quote", "word": "word", "quote_not_found": "lost"}
POINT_NAMES: dict[SorPoint, str] = {
    "measure": "(a) the measure, its scope and duration",
    "automated_means": "(c) automated means",
    "grounds": "(d), (e) the ground and the reason",
    "redress": "(f) redress",
}
ROUTE_NAMES: dict[SorRoute, str] = {
    "internal_complaint": "internal complaint",
    "out_of_court_settlement": "out-of-court settlement",
    "court": "court",
}


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One item of Article 17(3)."""

    point: str
    name: str
    value: float | None
    missing: bool
    passages: tuple[str, ...]  # that state it; empty if texts are not kept


@dataclass(frozen=True, slots=True)
class MarkedField:
    """The statement or one of its fields, with the words from the post marked."""

    name: str
    text: list[MarkedText]


@dataclass(frozen=True, slots=True)
class SorView:
    """The values that the template shows in addition to the report."""

    kept: bool
    post: list[MarkedText]
    fields: tuple[MarkedField, ...]
    lines: tuple[ItemLine, ...]
    routes: str
    null: Chart | None


def view(request: SorRequest | None, report: SorResult) -> SorView:
    """Return the data of the page. It has no texts if the request was erased."""
    marks = [
        Mark(row.post_start, row.post_end, row.kind, "named in the statement")
        for row in report.evidence
        if row.kind in OF_THE_POST and row.post_start is not None and row.post_end is not None
    ]
    return SorView(
        kept=request is not None,
        post=pieces(request.text, marks) if request else [],
        fields=tuple(_fields(request, report)) if request else (),
        lines=tuple(_lines(report)),
        routes=", ".join(ROUTE_NAMES[route] for route in report.routes) or "none",
        null=_null(report),
    )


def _fields(request: SorRequest, report: SorResult) -> Iterator[MarkedField]:
    for name, text in request.documents().items():
        marks = [
            Mark(row.start, row.end, CLASSES[row.kind], MARKS[row.kind])
            for row in report.evidence
            if row.field == name and row.kind in MARKS
            if row.start is not None and row.end is not None
        ]
        yield MarkedField(name.replace("_", " "), pieces(text, marks))


def _lines(report: SorResult) -> Iterator[ItemLine]:
    values = {item.name: item.value for item in report.items}
    if not values:
        return
    yield _line(report, "facts", "(b) the facts", values["facts"])
    for point, names in POINTS.items():
        for name in names:
            yield _line(report, name, POINT_NAMES[point], values[name])


def _line(report: SorResult, name: SorItemName, point: str, value: float | None) -> ItemLine:
    kind = "quote" if name == "facts" else name
    texts = dict.fromkeys(row.text for row in report.evidence if row.kind == kind and row.text)
    return ItemLine(point, NAMES[name], value, name in report.missing, tuple(texts)[:3])


def _null(report: SorResult) -> Chart | None:
    control = report.control
    if control is None or control.histogram is None or control.mean is None:
        return None
    observed = report.components.post_words + 3 * report.components.quotes
    caption = Caption(
        title="The same statement for other posts",
        summary=f"The statement names {observed} words of this post and, on average, "
        f"{control.mean:.2f} words of each of {control.draws} other posts. A quotation counts as "
        "three words.",
        unit="words",
    )
    return histogram(control.histogram, observed, caption)


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    parts = {
        "has the required items": record(report, "completeness"),
        "is about its post": record(report, "specificity"),
    }
    yield forest("Scores of the statements", parts)
    missing = record(report, "missing")
    lacking = {str(item).replace("_", " "): record(missing, item) for item in missing}
    yield forest("Items that statements lack", lacking, note="Lower is better.")
    fits = {"other posts that the statement fits less well": record(report, "beats_other_posts")}
    yield forest("Against other posts", fits, level=0.5)
    copies = {
        "runs of three words that are also in another statement": record(report, "boilerplate"),
        "similarity to the most similar statement": record(report, "nearest_similarity"),
        "near copies (similarity of at least 0.8)": record(report, "copies"),
    }
    yield forest("Near copies among the statements", copies, note="Lower is better.")
