"""A result of a room without a view of its own: everything in it, as facts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from services.gateway.pages.metrics.tabulating import Section, Tabulating
from services.inference.contract import InferenceReport, InferenceRequest
from services.similarity.contract import SimilarityReport, SimilarityRequest
from shared.calls import Example, Prompt
from shared.contracts import BatchReport, BatchReportRequest, JobRequest, Message, Report

TEMPLATE = "metrics/general.html"

ON_THE_PAGE = {
    "metric",
    "score",
    "range",
    "direction",
    "warnings",
    "provenance",
}  # shown around every view
SUMS = {"metric", "plots", "warnings"}
BY_LABEL = {"judge", "probabilities"}  # operations that answer a row of label probabilities each


@dataclass(frozen=True, slots=True)
class GeneralView:
    """All that the template shows beside the report."""

    lead: str
    batch: str | None  # whose results are summed up
    sections: tuple[Section, ...]
    plots: tuple[str, ...]  # titles: the batch's page shows the pictures


def view(request: JobRequest | None, report: Message) -> GeneralView:
    """What the page says of this report."""
    summed = isinstance(report, BatchReport)
    left_out = SUMS if summed else ON_THE_PAGE if isinstance(report, Report) else set()
    shown = report.model_dump(mode="json", exclude=left_out)
    how = Tabulating(ours=summed, subjects=_subjects(request), columns=_columns(report))
    return GeneralView(
        lead=_lead(report),
        batch=request.batch if isinstance(request, BatchReportRequest) else None,
        sections=_sections(how, shown),
        plots=tuple(plot.title for plot in report.plots) if isinstance(report, BatchReport) else (),
    )


def _sections(how: Tabulating, shown: dict[str, Any]) -> tuple[Section, ...]:
    """Single values together first, then a section for each of the others."""
    whole = how.section("result", shown)
    plain = Section(whole.title, whole.path, facts=whole.facts, table=whole.table)
    return (*((plain,) if plain.facts or plain.table else ()), *whole.sections)


def _lead(report: Message) -> str:
    match report:
        case BatchReport():
            return _mean(report)
        case InferenceReport():
            return f"What {report.model.name} answered to the operation {report.operation}."
        case SimilarityReport():
            return (
                f"How similar the texts of {_counted(len(report.similarities), 'pair')} are, "
                f"by {report.model.name}: 0 to 1."
            )
        case Report() if report.score is None:
            return "The score is undefined: the warnings say why."
    return "What the room answered."


def _mean(report: BatchReport) -> str:
    mean = report.score
    if mean.value is None:
        return f"No mean score: none of {_counted(report.scored, 'result')} has one."
    said = f"The mean score of {_counted(mean.of, 'result')} is {mean.value:.3g}"
    if mean.low is None or mean.high is None:
        return f"{said}."
    return f"{said}, {report.confidence:.0%} interval {mean.low:.3g} to {mean.high:.3g}."


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _columns(report: Message) -> tuple[str, ...]:
    """A classifier's labels name the columns of its probabilities."""
    if isinstance(report, InferenceReport) and report.operation in BY_LABEL:
        return report.labels
    return ()


def _subjects(request: JobRequest | None) -> list[str]:
    """What the rows of the answer are about, where a row is asked for each."""
    match request:
        case SimilarityRequest():
            return [f"{pair.a} · {pair.b}" for pair in request.pairs]
        case InferenceRequest():
            asked = request.ask
            for name in ("examples", "texts", "prompts"):
                if (given := getattr(asked, name, None)) is not None:
                    return [_said(one) for one in _listed(given)]
    return []


def _listed(given: object) -> Sequence[object]:
    return given if isinstance(given, Sequence) else ()


def _said(one: object) -> str:
    match one:
        case Example(text=text, text_pair=None):
            return text
        case Example(text=text, text_pair=pair):
            return f"{text} · {pair}"
        case Prompt(text=str(text)):
            return text
        case Prompt(turns=turns):
            return " · ".join(turn.content for turn in turns or ())
    return str(one)
