"""What each test of an ICE report says, in words, and its null as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.gateway.pages.metrics.ice_sentences import by_probability, sentence, verdict
from services.gateway.pages.templates import significant
from services.ice.report import IceReport, Test, TestedOperator
from shared.charts.engine import Caption, Chart
from shared.charts.shapes import histogram
from shared.page_text import Verdict

MOST_CHARTS = 8  # pictures of a page; the numbers of all other tests are in its tables

OPERATORS: dict[TestedOperator, str] = {
    "delete": "the other tokens deleted",
    "mask": "the other tokens masked",
    "mask_unk": "the other tokens made unknown",
    "mask_pad": "the other tokens made padding",
    "infill": "the other tokens replaced by tokens of other texts",
    "mean": "the mean over the operators",
}


@dataclass(frozen=True)
class Told:
    """One test in words."""

    test: Test
    verdict: Verdict
    sentence: str
    rivals: str  # what the rationale was compared with
    reasons: tuple[str, ...]  # why something is null, out of the report's warnings
    chart: Chart | None = None

    @property
    def operator(self) -> str:
        """What was done to the other tokens."""
        return OPERATORS[self.test.operator]


def told(report: IceReport) -> tuple[Told, ...]:
    """Every test in the report's order; the first of them with pictures."""
    return tuple(_told(report, test, place) for place, test in enumerate(report.components.tests))


def _told(report: IceReport, test: Test, place: int) -> Told:
    return Told(
        test=test,
        verdict=verdict(report, test),
        sentence=sentence(report, test),
        rivals=_rivals(test),
        reasons=tuple(_reasons(report, test)),
        chart=_chart(report, test) if place < MOST_CHARTS else None,
    )


def _rivals(test: Test) -> str:
    tokens = "1 token" if test.tokens == 1 else f"{test.tokens} tokens"
    if test.null.exact:
        return f"all {test.null.draws} other rationales of {tokens}: an exact test"
    ending = ", enough to tell: drawing stopped early" if test.stopped_early else ""
    return f"{test.null.draws} random rationales of {tokens}{ending}"


def _reasons(report: IceReport, test: Test) -> Iterator[str]:
    start = f"{test.explanation}, k {test.k}, {test.operator}: "
    for warning in report.warnings:
        if warning.startswith(start):
            yield warning.removeprefix(start)


def observed(report: IceReport, test: Test) -> float | None:
    """What the test compares with its null, in the null's unit."""
    if by_probability(report):
        return None if test.scores is None else test.scores.rationale
    return test.nsr


def _chart(report: IceReport, test: Test) -> Chart | None:
    """None without a null, and in results of before nulls were counted."""
    counted, score = test.null.histogram, observed(report, test)
    if counted is None or score is None:
        return None
    caption = Caption(
        title=f"Random rationales, {OPERATORS[test.operator]}",
        summary=_summary(test, score),
        unit="probability of the target label" if by_probability(report) else "NSR",
    )
    return histogram(counted, score, caption)


def _summary(test: Test, score: float) -> str:
    null = test.null
    if null.histogram is None:
        return ""
    low, high = significant(null.histogram.low), significant(null.histogram.high)
    return (
        f"{_rivals(test)} score from {low} to {high}, {significant(null.mean)} on average; the "
        f"rationale scores {significant(score)}. Win rate {significant(test.win_rate)}, where "
        "chance is 0.5."
    )
