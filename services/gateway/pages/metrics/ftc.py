"""FTC: what the explanation demands of a rewritten hypothesis, and what the model answered."""

from __future__ import annotations

from dataclasses import dataclass

from services.ftc.contract import FtcRequest
from services.ftc.report import FtcReport
from services.gateway.pages.marks import Piece, pieces
from services.gateway.pages.metrics.ftc_made import Line, Made, made_of, marks_of

TEMPLATE = "metrics/ftc.html"
UNUSUAL = 0.05  # a p-value above it is what chance does too


@dataclass(frozen=True, slots=True)
class FtcView:
    """All that the template shows beside the report."""

    verdict: str
    tone: str
    chance: str | None
    kept: bool  # whether the texts were
    premise: list[Piece]
    hypothesis: list[Piece]
    explanation: list[Piece]
    made: tuple[Made, ...]
    lines: tuple[Line, ...]


def view(request: FtcRequest | None, report: FtcReport) -> FtcView:
    """What the page says of this report."""
    verdict, tone = _verdict(report)
    return FtcView(
        verdict=verdict,
        tone=tone,
        chance=_chance(report),
        kept=request is not None,
        premise=pieces(request.premise, ()) if request else [],
        hypothesis=pieces(request.hypothesis, marks_of(report, "hypothesis")) if request else [],
        explanation=pieces(request.explanation, marks_of(report, "explanation")) if request else [],
        made=tuple(made_of(request, report, one) for one in report.counterfactuals),
        lines=_lines(report),
    )


def _verdict(report: FtcReport) -> tuple[str, str]:
    made = report.counterfactuals
    if report.abstained is not None or not made:
        return "No score: nothing could be tested. That is an abstention, not a zero.", "neutral"
    borne_out = sum(one.satisfaction.delta == 1 for one in made)
    if borne_out == 0:
        return "The model does not answer as the explanation demands.", "bad"
    if borne_out < len(made):
        return "The model answers one of two counterfactuals as the explanation demands.", "neutral"
    p_value = report.control.null_p_value if report.control else None
    if p_value is None:
        return "The model answers as the explanation demands; chance is not known.", "neutral"
    if p_value > UNUSUAL:
        return (
            "The model answers as the explanation demands, but random phrases do about as well.",
            "neutral",
        )
    return "The model answers as the explanation demands, and random phrases do worse.", "good"


def _chance(report: FtcReport) -> str | None:
    control = report.control
    if control is None or control.null_win_rate is None or control.null_p_value is None:
        return None
    return (
        f"Against random phrases of the same type in the same place it wins "
        f"{control.null_win_rate:.0%} (chance: 50%), p = {control.null_p_value:.2g}."
    )


def _lines(report: FtcReport) -> tuple[Line, ...]:
    control = report.control
    if control is None:
        return ()
    return (
        Line("this explanation", "mean over the counterfactuals", report.components),
        Line("always entailment", "a model that says entailment to all", control.always_entailment),
        Line("uniform", "a model that says one third each", control.uniform),
        Line("unedited", "the model's answer to the hypothesis as sent", control.unedited),
        Line("blank premise", "the counterfactuals without the premise", control.blank_premise),
    )
