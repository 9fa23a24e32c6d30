"""The page of an FTC job: each counterfactual, its target, the model's answer, and the chance
level."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from services.ftc.contract import FtcRequest
from services.ftc.report import (
    LABELS,
    FtcComponents,
    FtcCounterfactual,
    FtcDistribution,
    FtcNull,
    FtcResult,
    FtcSatisfaction,
    FtcSpanEvidence,
)
from shared.reports.charts.engine import Caption, Chart
from shared.reports.charts.shapes import bars, histogram
from shared.reports.pages.page_text import Mark, MarkedText, percent, pieces
from shared.reports.pages.report_design import (
    Block,
    Forest,
    ForestRow,
    Record,
    count_bars,
    facet_filters,
    forest,
    is_shown,
    point,
    record,
    records,
)
from shared.reports.pages.word_changes import WordChange, changes

TEMPLATE = "ftc/page.html"


@dataclass(frozen=True, slots=True)
class FtcView:
    """The data of the page in addition to the report."""

    kept: bool  # whether the texts were
    premise: list[MarkedText]
    hypothesis: list[MarkedText]
    explanation: list[MarkedText]
    made: tuple[CounterfactualCard, ...]
    lines: tuple[ScoreLine, ...]


def view(request: FtcRequest | None, report: FtcResult) -> FtcView:
    return FtcView(
        kept=request is not None,
        premise=pieces(request.premise, ()) if request else [],
        hypothesis=pieces(request.hypothesis, marks_of(report, "hypothesis")) if request else [],
        explanation=pieces(request.explanation_text, marks_of(report, "explanation"))
        if request
        else [],
        made=tuple(
            counterfactual_card(request, report, edited) for edited in report.counterfactuals
        ),
        lines=_lines(report),
    )


def _lines(report: FtcResult) -> tuple[ScoreLine, ...]:
    control = report.control
    if control is None:
        return ()
    return (
        ScoreLine("this explanation", "mean score over the counterfactuals", report.components),
        ScoreLine(
            "always entailment", "a model that always answers entailment", control.always_entailment
        ),
        ScoreLine(
            "uniform", "a model that gives each label a probability of one third", control.uniform
        ),
        ScoreLine("unedited", "the model's answer to the original hypothesis", control.unedited),
        ScoreLine(
            "blank premise",
            "the model's answers to the counterfactuals without the premise",
            control.blank_premise,
        ),
    )


KINDS = {
    "substituted": "The hypothesis with side A replaced by side B, or B by A",
    "a": "The hypothesis that states A without B",
    "b": "The hypothesis that states B",
}
SPANS = {
    "a": "A, one side of the relation",
    "b": "B, the other side of the relation",
    "replaced": "the words that were replaced",
}


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One row of a table: its name, its description, and the five measures."""

    name: str
    about: str
    found: FtcSatisfaction | FtcComponents | None


@dataclass(frozen=True, slots=True)
class CounterfactualCard:
    """One counterfactual as the page shows it."""

    title: str
    demanded: str
    answered: str
    item: FtcCounterfactual
    changes: tuple[WordChange, ...]  # empty where the text was not kept
    answers: Chart
    lines: tuple[ScoreLine, ...]
    null: Chart | None
    no_null: str | None  # why there is no null


def counterfactual_card(
    request: FtcRequest | None, report: FtcResult, item: FtcCounterfactual
) -> CounterfactualCard:
    """Return the data that the page shows for a counterfactual. If the request is no longer stored,
    there is no diff."""
    doubt = f"no null for {item.kind}: "
    reasons = [w.removeprefix(doubt) for w in report.warnings if w.startswith(doubt)]
    shares = _as_dict(item.target)
    certain = [label for label, share in shares.items() if share == 1]
    return CounterfactualCard(
        title=KINDS[item.kind],
        demanded=certain[0] if certain else _share_list(shares),
        answered=item.predicted or "no single label, because two are tied",
        item=item,
        changes=_changes(request, report, item),
        answers=_distribution_plot(report.original, item),
        lines=_score_lines(item),
        null=_null(item.null) if item.null else None,
        no_null=None if item.null else (reasons[0] if reasons else "no random phrase was drawn"),
    )


def _score_lines(item: FtcCounterfactual) -> tuple[ScoreLine, ...]:
    lines = (
        ScoreLine("with the premise", "used for the score", item.satisfaction),
        ScoreLine("without the premise", "from the hypothesis alone", item.blank_premise),
    )
    if item.null is None:
        return lines
    return (*lines, ScoreLine("random phrases", "expected by chance", item.null.satisfaction))


def _changes(
    request: FtcRequest | None, report: FtcResult, item: FtcCounterfactual
) -> tuple[WordChange, ...]:
    if request is None:
        return ()
    old, new = marks_of(report, "hypothesis"), _marked_spans(item.text, report.evidence)
    return changes(request.hypothesis, item.text, old, new)


def _as_dict(distribution: FtcDistribution) -> dict[str, float]:
    return {label: getattr(distribution, label) for label in LABELS}


def _share_list(shares: dict[str, float]) -> str:
    return ", ".join(f"{label} {share:.2f}" for label, share in shares.items())


def _distribution_plot(original: FtcDistribution | None, item: FtcCounterfactual) -> Chart:
    series = [("counterfactual", _as_dict(item.answer)), ("implied", _as_dict(item.target))]
    if original is not None:
        series.insert(0, ("original", _as_dict(original)))
    caption = Caption(
        title="The model's answer before and after",
        summary=". ".join(f"{name}: {_share_list(shares)}" for name, shares in series) + ".",
        unit="probability",
    )
    return bars(series, caption, top=1)


def _null(null: FtcNull) -> Chart | None:
    """Return a chart of the null distribution, or None without draws."""
    if null.histogram is None:
        return None
    caption = Caption(
        title="Random phrases in the same place",
        summary=f"{null.draws} random substitutions score {null.mean:.2f} on average, from "
        f"{null.histogram.low:.2f} to {null.histogram.high:.2f}. The counterfactual scores "
        f"{null.observed:.2f} and beats {percent(null.win_rate)} of them.",
        unit="W, normalized",
    )
    return histogram(null.histogram, null.observed, caption)


def marks_of(report: FtcResult, text: Literal["explanation", "hypothesis"]) -> list[Mark]:
    """Return highlights for the spans A and B, the two sides of the explanation's relation, and for
    replaced words. `text` selects the text in which the spans lie."""
    return [
        Mark(span.start, span.end, span.kind, SPANS[span.kind])
        for span in report.evidence
        if span.offsets_into == text and span.start is not None and span.end is not None
    ]


def _marked_spans(text: str, evidence: Sequence[FtcSpanEvidence]) -> list[Mark]:
    """Return the spans of A and B that a counterfactual repeats word for word."""
    return [
        Mark(*match.span(), span.kind, f"{span.kind.upper()}, word for word")
        for span in evidence
        if span.kind != "replaced" and span.text
        for match in re.finditer(rf"(?<!\w){re.escape(span.text)}(?!\w)", text, re.IGNORECASE)
    ]


STATISTICS = (
    ("delta", "Answers as implied (δ)"),
    ("k", "Closeness to the implied answer, by divergence (K)"),
    ("w", "Closeness to the implied answer, by distance (W)"),
)
BASELINES = {  # the two that the paper names first
    "always_entailment": "a model that always answers entailment",
    "majority": "always the most frequent target",
    "uniform": "a probability of one third for each label",
    "unedited": "the model's answer before the edit",
    "blank_premise": "the model's answer without the premise",
}


def design(report: Record) -> Iterator[Block]:
    """Yield the charts of a batch report."""
    micro = record(report, "micro")
    baselines = {entry.get("name"): entry for entry in records(report, "baselines")}
    for symbol, title in STATISTICS:
        rows = [ForestRow("explanations", record(micro, symbol))]
        rows += [
            ForestRow(words, point(record(baselines, name).get(symbol)))
            for name, words in BASELINES.items()
        ]
        note = "Means over results. All rows except the first show answers without the explanation."
        yield _on_one_scale(title, rows, note)
    yield from _against_random(report)
    for symbol, title in STATISTICS:
        cases = [
            ForestRow(str(entry.get("case")), record(record(entry, "scores"), symbol))
            for entry in records(report, "cases")
        ]
        yield _on_one_scale(f"{title}, by original label", cases)
    abstained = record(report, "abstentions")
    filters = facet_filters("abstention", {reason: reason for reason in abstained})
    yield count_bars("Abstentions, by reason", abstained, filters=filters)


def _against_random(report: Record) -> Iterator[Block]:
    """Yield charts that compare the explanation's phrases with random phrases."""
    comparison = record(report, "against_random")
    sides = {"explanations": "explanations", "random_phrases": "random phrases in the same place"}
    for symbol, title in STATISTICS:
        rows = [
            ForestRow(words, record(record(comparison, side), symbol))
            for side, words in sides.items()
        ]
        yield _on_one_scale(f"{title}, against random substitutions", rows)
    differences = record(comparison, "difference")
    beyond = {title: record(differences, symbol) for symbol, title in STATISTICS}
    note = "To the right of the dashed line, explanations score higher than random phrases."
    yield forest(
        "Score minus that of random substitutions", beyond, bounds=(-1.0, 1.0), level=0.0, note=note
    )
    beaten = {"random substitutions beaten": record(report, "null_win_rate")}
    yield forest("Random substitutions beaten (W)", beaten, level=0.5)


def _on_one_scale(title: str, rows: Sequence[ForestRow], note: str = "") -> Forest:
    """Return a chart with a scale from 0 to 1. The scale starts lower if a value is negative, which
    is possible for FTC-K."""
    kept = [row for row in rows if is_shown(row.interval)]
    ends = [row.interval[end] for row in kept for end in ("value", "low")]
    least = min([0.0, *(end_value for end_value in ends if end_value is not None)])
    return Forest(title, kept, (least, 1.0), note)
