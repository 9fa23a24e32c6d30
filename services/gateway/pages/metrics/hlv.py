"""HLV: how humans and a judge see the options, and what the explanations change about that."""

from __future__ import annotations

from dataclasses import dataclass

from services.gateway.pages.marks import Piece, pieces
from services.gateway.pages.metrics.hlv_method import MEASURES, Asked, asked_by
from services.hlv.contract import HlvRequest
from services.hlv.report import HlvReport
from shared.choices import Explanation, asked

TEMPLATE = "metrics/hlv.html"


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table of options: what humans said, by value and by rank."""

    key: str
    text: str  # "" where it was not kept
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

    verdict: str
    tone: str
    chance: str
    question: list[Piece]
    rationale: list[Piece]
    explanations: tuple[Explanation, ...]
    options: tuple[Option, ...]
    methods: tuple[Asked, ...]
    controls: tuple[Control, ...]


def view(request: HlvRequest | None, report: HlvReport) -> HlvView:
    """What the page says of this report."""
    verdict, tone = _verdict(report)
    options = _options(request, report)
    keys = [option.key for option in options]
    return HlvView(
        verdict=verdict,
        tone=tone,
        chance=_chance(report),
        question=pieces(asked(request.question), ()) if request else [],
        rationale=pieces(request.rationale, ()) if request and request.rationale else [],
        explanations=request.explanations if request else (),
        options=options,
        methods=tuple(asked_by(report.gold, keys, one) for one in report.components.methods),
        controls=_controls(report),
    )


def _verdict(report: HlvReport) -> tuple[str, str]:
    score, parts = report.score, report.components
    if score is None:
        return "The score is undefined: the warnings say why.", "neutral"
    if report.score_of == "agreement":
        return f"The judge agrees with humans at Kendall's tau {_signed(score)}.", "neutral"
    way = f"Kendall's tau goes from {_signed(parts.kendall_baseline)} to {_signed(parts.kendall)}"
    gain = f"{way}, a gain of {_signed(score)}."
    if score > 0:
        return f"The explanations bring the judge closer to humans: {gain}", "good"
    if score < 0:
        return f"The explanations lead the judge away from humans: {gain}", "bad"
    return f"The explanations change nothing in the agreement: {gain}", "neutral"


def _chance(report: HlvReport) -> str:
    printed = report.provenance.variant == "paper"
    oracle = report.control.majority.tau_a if printed else report.control.majority.tau_b
    found = "has no tau here" if oracle is None else f"reaches {_signed(oracle)}"
    return (
        "A judge at chance has a tau of 0; +1 is the humans' own order, \N{MINUS SIGN}1 its "
        f"reverse. A judge that knows only the humans' first choice {found}."
    )


def _signed(value: float | None) -> str:
    """With its sign, since the sign is what matters."""
    if value is None:
        return "undefined"
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") if round(value, 2) else "0"


def _options(request: HlvRequest | None, report: HlvReport) -> tuple[Option, ...]:
    """In the order in which they were shown; by letter where that is not known."""
    texts = {option.key: option.text for option in request.options} if request else {}
    values, ranks = report.gold.values or {}, report.gold.ranks
    return tuple(
        Option(key, texts.get(key, ""), values.get(key), ranks.get(key))
        for key in (texts or sorted(ranks))
    )


def _controls(report: HlvReport) -> tuple[Control, ...]:
    uniform, majority = report.control.uniform, report.control.majority
    return tuple(
        Control(measure.name, measure.of(uniform), measure.of(majority))
        for measure in MEASURES
        if measure.stands_in((uniform, majority))
    )
