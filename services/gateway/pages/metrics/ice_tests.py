"""What each test of an ICE report says, in words, and its null as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.gateway.pages.charts.drawing import Caption, Chart
from services.gateway.pages.charts.histogram import histogram
from services.gateway.pages.templating import significant
from services.ice.report import IceReport, Test, TestedOperator, Verdict

MOST_CHARTS = 8  # pictures of a page; the numbers of all other tests are in its tables

Tone = Literal["good", "bad", "neutral"]

OPERATORS: dict[TestedOperator, str] = {
    "delete": "the other tokens deleted",
    "mask": "the other tokens masked",
    "mask_unk": "the other tokens made unknown",
    "mask_pad": "the other tokens made padding",
    "infill": "the other tokens replaced by tokens of other texts",
    "mean": "the mean over the operators",
}
SENTENCES: dict[Verdict | None, tuple[str, Tone, str]] = {
    "faithful": (
        "Faithful",
        "good",
        "The rationale alone keeps the target label better than as many random tokens do.",
    ),
    "inconclusive": (
        "Inconclusive",
        "neutral",
        "The rationale keeps the target label neither clearly better nor clearly worse than as "
        "many random tokens do.",
    ),
    "anti-faithful": (
        "Anti-faithful",
        "bad",
        "As many random tokens keep the target label better than the rationale does.",
    ),
    None: ("Undefined", "neutral", "There is nothing to compare the rationale with."),
}


@dataclass(frozen=True)
class Told:
    """One test in words."""

    test: Test
    word: str
    tone: Tone
    sentence: str
    rivals: str  # what the rationale was compared with
    chance_sd: float | None  # of the win rate; None where it is not known
    reasons: tuple[str, ...]  # why something is null, out of the report's warnings
    chart: Chart | None = None

    @property
    def name(self) -> str:
        """Explanation and budget."""
        return trial_name(self.test.explanation, self.test.k)

    @property
    def operator(self) -> str:
        """What was done to the other tokens."""
        return OPERATORS[self.test.operator]


def trial_name(explanation: str, k: float | None) -> str:
    """How an explanation at a budget is called."""
    return explanation if k is None else f"{explanation}, k {k:g}"


def told(report: IceReport) -> tuple[Told, ...]:
    """Every test in the report's order; the first of them with pictures."""
    return tuple(_told(report, test, place) for place, test in enumerate(report.components.tests))


def _told(report: IceReport, test: Test, place: int) -> Told:
    word, tone, sentence = SENTENCES[test.verdict]
    return Told(
        test=test,
        word=word,
        tone=tone,
        sentence=sentence,
        rivals=_rivals(test),
        chance_sd=_chance_sd(report, test),
        reasons=tuple(_reasons(report, test)),
        chart=_chart(report, test) if place < MOST_CHARTS else None,
    )


def _rivals(test: Test) -> str:
    tokens = "1 token" if test.tokens == 1 else f"{test.tokens} tokens"
    if test.null.exact:
        return f"all {test.null.draws} other rationales of {tokens}: an exact test"
    ending = ", enough to tell: drawing stopped early" if test.stopped_early else ""
    return f"{test.null.draws} random rationales of {tokens}{ending}"


def _chance_sd(report: IceReport, test: Test) -> float | None:
    """The report says it for the number of draws of its first test."""
    chance = report.control
    same = chance is not None and chance.draws == test.null.draws and not test.null.sequential
    return chance.sd if chance is not None and same else None


def _reasons(report: IceReport, test: Test) -> Iterator[str]:
    start = f"{test.explanation}, k {test.k}, {test.operator}: "
    for warning in report.warnings:
        if warning.startswith(start):
            yield warning.removeprefix(start)


def observed(report: IceReport, test: Test) -> float | None:
    """What the test compares with its null, in the null's unit."""
    if report.provenance.variant == "robust":
        return None if test.scores is None else test.scores.rationale
    return test.nsr


def _chart(report: IceReport, test: Test) -> Chart | None:
    """None without a null, and in results of before nulls were counted."""
    counted, score = test.null.histogram, observed(report, test)
    if counted is None or score is None:
        return None
    robust = report.provenance.variant == "robust"
    caption = Caption(
        title=f"{trial_name(test.explanation, test.k)}: {OPERATORS[test.operator]}",
        summary=_summary(test, score),
        unit="probability of the target label" if robust else "NSR",
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
