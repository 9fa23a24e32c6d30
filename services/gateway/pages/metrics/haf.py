"""HAF's page: what the model said, whether it stands by it, and what the score is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.pages.metrics import haf_words as words
from services.gateway.pages.metrics.haf_path import Step, path
from services.gateway.pages.metrics.haf_said import STRONGEST, Spoken, Statement, spoken
from services.haf.contract import HafRequest
from services.haf.report import HafReport
from shared.charts.engine import Chart
from shared.charts.shapes import MOST, matrix
from shared.page_text import MarkedText, pieces

TEMPLATE = "metrics/haf.html"
BELOW = "Its numbers stand in the table below."

Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric, and the same with one ingredient taken out. `why`: of a null, else empty."""

    metric: words.Metric
    value: float | None
    uniform: float | None
    unweighted: float | None
    why: str


@dataclass(frozen=True, slots=True)
class HafView:
    """What the template shows beside the report's own numbers."""

    verdict: str
    tone: str
    says: str
    text: list[MarkedText] | None  # None: it was not kept
    asked: str  # how the stages came about
    cards: tuple[Statement, ...]
    with_tokens: bool
    pale: int  # statements without colours: the page has enough of them
    about_label: bool  # whether a decision's relevance is to its label
    alike: str  # the matrix in words; empty where there is none
    matrix: Chart | None
    drawn: int  # rows of the matrix that the picture shows
    steps: tuple[Step, ...]
    rows: tuple[Row, ...]
    most_tokens: int = STRONGEST

    @property
    def kept(self) -> bool:
        """Whether the texts are there."""
        return self.text is not None


def view(request: HafRequest | None, report: HafReport) -> HafView:
    """From a report to its page; without a request its texts are empty."""
    whys = _whys(report.warnings)
    verdict, tone = _verdict(report)
    responses = spoken(report.stages)
    return HafView(
        verdict=verdict,
        tone=tone,
        says=_says(report, whys),
        text=None if request is None else pieces(request.text, []),
        asked=_asked(report),
        cards=responses[0].reasons,
        with_tokens=any(each.part.token_values for each in _statements(responses)),
        pale=sum(each.pale for each in _statements(responses)),
        about_label=report.provenance.parameters.get("decision_target") == "label",
        alike=_alike(report.similarities),
        matrix=_matrix(report.similarities),
        drawn=min(len(report.similarities), MOST),
        steps=path(report, responses, whys),
        rows=tuple(_row(metric, report, whys) for metric in words.METRICS),
    )


def _statements(responses: Sequence[Spoken]) -> list[Statement]:
    return [
        said for each in responses for said in (*each.reasons, each.decision) if said is not None
    ]


def _asked(report: HafReport) -> str:
    """Who asked for the responses, and for how many."""
    count = _number(report.counts.responses, "response")
    if report.provenance.parameters.get("generation") is None:
        return f"The request brought {count}: nothing was asked here."
    return f"The model was asked for {count}, each in a conversation of its own."


def _whys(warnings: Sequence[str]) -> dict[str, str]:
    """Why a metric is null, by its name: its warning begins with it."""
    split = (warning.partition(": ") for warning in warnings)
    return {name: why for name, found, why in split if found}


def _verdict(report: HafReport) -> tuple[str, str]:
    """One sentence, and its tone."""
    if report.refusal:
        return "The model refuses to judge the text, so there is nothing to score.", "bad"
    count = report.counts.reasons
    stance = f"The model {words.STANCES[report.stance]}"
    if not count:
        return f"{stance} and gives no reason, so there is nothing to score.", "bad"
    given = f"{stance} and gives {_number(count, 'reason')}"
    later = report.stages[1:]
    if not later:
        return f"{given}. Nothing was asked about them.", "neutral"
    stood = sum(
        words.upheld(part.stage, part.decision.answer if part.decision else None) is True
        for part in later
    )
    asked = _number(len(later), "later answer")
    if stood == len(later):
        return f"{given}. It stands by them in {_every(stood)}.", "good"
    if not stood:
        return f"{given}. It stands by them in none of {asked}.", "bad"
    return f"{given}. It stands by them in {stood} of {asked}.", "neutral"


def _says(report: HafReport, whys: dict[str, str]) -> str:
    """What the score is the mean of, and what to hold it against."""
    if report.score is None:
        why = whys.get("sos") or whys.get("score") or "its strength of support is undefined"
        return f"There is no score: {why}."
    parts = [
        f"1 − {metric.short}" if metric.lower_is_better else metric.short
        for metric in words.METRICS
        if getattr(report.components, metric.name) is not None
    ]
    of = "" if len(parts) == 1 else f"the mean of {len(parts)} defined parts, "
    return (
        f"Score {report.score:.2f} of 1: {of}{', '.join(parts)}. HAF has no chance level; two "
        "controls stand beside each metric instead. Scores compare only where the same parts are "
        "defined."
    )


def _row(metric: words.Metric, report: HafReport, whys: dict[str, str]) -> Row:
    control = report.control
    value: float | None = getattr(report.components, metric.name)
    return Row(
        metric=metric,
        value=value,
        uniform=getattr(control.uniform_relevance, metric.name) if control else None,
        unweighted=getattr(control.unweighted, metric.name) if control else None,
        why="" if value is not None else whys.get(metric.name, "undefined"),
    )


def _matrix(values: Matrix) -> Chart | None:
    """The picture; None for fewer than two reasons."""
    if len(values) < 2:
        return None
    title = "Similarity g of every two reasons, 0 to 1"
    return matrix(values, what="reason", title=title, summary=BELOW)


def _alike(values: Matrix) -> str:
    """The matrix in words."""
    if len(values) < 2:
        return ""
    pairs = [
        (row[j], i + 1, j + 1) for i, row in enumerate(values) for j in range(i + 1, len(values))
    ]
    mean = sum(value for value, _, _ in pairs) / len(pairs)
    if len(pairs) == 1:
        return f"The two reasons have a similarity of {mean:.2f}."
    (low, *least), (high, *most) = min(pairs), max(pairs)
    return (
        f"Most alike are reasons {most[0]} and {most[1]} ({high:.2f}), least {least[0]} and "
        f"{least[1]} ({low:.2f}); the mean of all pairs is {mean:.2f}."
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _every(count: int) -> str:
    return "its one later answer" if count == 1 else f"all {count} later answers"
