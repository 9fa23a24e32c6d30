"""HLV: how humans and a judge see the options, and what the explanations change about that."""

from __future__ import annotations

from dataclasses import dataclass

from services.gateway.pages.metrics.choices import Choice, choices
from services.gateway.pages.metrics.hlv_method import MEASURES, Asked, asked_by
from services.gateway.pages.metrics.hlv_sentences import verdict
from services.hlv.contract import HlvRequest
from services.hlv.report import HlvReport
from shared.page_text import MarkedText, Verdict, pieces
from shared.questions import Explanation, asked

TEMPLATE = "metrics/hlv.html"


@dataclass(frozen=True, slots=True)
class Ranked(Choice):
    """An option and what humans said of it: by value and by rank."""

    value: float | None
    rank: float | None


@dataclass(frozen=True, slots=True)
class Control:
    """One measure of the two judges that read nothing."""

    name: str
    uniform: float | None
    majority: float | None


@dataclass(frozen=True, slots=True)
class HlvView:
    """All that the template shows beside the report."""

    verdict: Verdict
    question: list[MarkedText]
    rationale: list[MarkedText]
    explanations: tuple[Explanation, ...]
    options: tuple[Ranked, ...]
    methods: tuple[Asked, ...]
    controls: tuple[Control, ...]


def view(request: HlvRequest | None, report: HlvReport) -> HlvView:
    """What the page says of this report."""
    options = _options(request, report)
    keys = [option.key for option in options]
    return HlvView(
        verdict=verdict(report),
        question=pieces(asked(request.question), ()) if request else [],
        rationale=pieces(request.rationale, ()) if request and request.rationale else [],
        explanations=request.explanations if request else (),
        options=options,
        methods=tuple(asked_by(report.gold, keys, one) for one in report.components.methods),
        controls=_controls(report),
    )


def _options(request: HlvRequest | None, report: HlvReport) -> tuple[Ranked, ...]:
    values, ranks = report.gold.values or {}, report.gold.ranks
    return tuple(
        Ranked(choice.key, choice.text, values.get(choice.key), ranks.get(choice.key))
        for choice in choices(request, ranks)
    )


def _controls(report: HlvReport) -> tuple[Control, ...]:
    uniform, majority = report.control.uniform, report.control.majority
    return tuple(
        Control(measure.name, measure.of(uniform), measure.of(majority))
        for measure in MEASURES
        if measure.stands_in((uniform, majority))
    )
