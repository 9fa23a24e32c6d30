"""Derives the verdict on an HLV report. Its sentences warn that a single item is weak evidence."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from services.hlv.report import HlvMeasured, HlvResult
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding

Ranks = Mapping[str, float]

FEWEST_PAIRS = 2  # changed pairs; a gain or loss with fewer is one step of a coarse scale


PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "away-from-humans": "leads away from the human labels",
}
CLOSER = "closer-to-humans"


def finding(report: HlvResult) -> Finding:
    """Return the verdict on whether the explanations bring the judge closer to the humans'
    labels."""
    return conclude([_check_closer(report)], {CLOSER})


def _check_closer(report: HlvResult) -> Check:
    score = report.score
    if score is None:
        unknown = undefined(CLOSER, report, "score")
        return unknown or not_tested(
            CLOSER,
            "answer-unread",
            "The judge's answer could not be read, so there is no ranking to compare.",
        )
    if report.score_of == "agreement":
        message = f"The judge's agreement with humans is {_signed(score)} (Kendall's tau)."
        return not_tested(CLOSER, "no-baseline", message)
    components, pairs = report.components, changed(report)
    change = f"from {_signed(components.kendall_baseline)} to {_signed(components.kendall)}"
    message = f"Kendall's tau changes {change}, a gain of {_signed(score)}."
    if pairs is not None:
        noun = "pair" if pairs[1] == 1 else "pairs"
        message += f" {pairs[0]} of {pairs[1]} {noun} of options changed order."
    if not score or pairs is None or pairs[0] < FEWEST_PAIRS:
        return inconclusive(CLOSER, "no-clear-difference", message)
    if score > 0:
        return passed(CLOSER, message)
    return failed(CLOSER, "away-from-humans", message)


def changed(report: HlvResult) -> tuple[int, int] | None:
    """Return two numbers for the first method: the pairs of options whose order the explanations
    change, and all pairs. Return None if ranks are missing."""
    first = next(iter(report.components.methods), None)
    if first is None:
        return None
    baseline, explained = _ranks(first.baseline), _ranks(first.explained)
    pairs = list(combinations(sorted(baseline.keys() & explained.keys()), 2))
    if not pairs:
        return None
    return sum(_order(baseline, *pair) != _order(explained, *pair) for pair in pairs), len(pairs)


def chance(report: HlvResult) -> str:
    """Return a text on how to read the score. It states the score without any effect, and the tau
    of a judge that knows only the humans' majority choice."""
    majority = report.control.majority
    tau = majority.tau_a if report.provenance.variant == "paper" else majority.tau_b
    result = "has no tau for this item" if tau is None else f"reaches a tau of {_signed(tau)}"
    oracle = f"A judge that knows only people's first choice {result}."
    if report.score_of == "gain":
        return (
            "The score is the gain in Kendall's tau. Explanations without effect would score 0. A "
            "single item proves little, because tau has few possible values (seven with three "
            f"options). The batch report tests many items together. {oracle}"
        )
    return (
        "The score is Kendall's tau. A random order would score 0, the humans' own order +1, and "
        f"its reverse \N{MINUS SIGN}1. {oracle}"
    )


def _signed(value: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") if round(value, 2) else "0"


def _ranks(side: HlvMeasured | None) -> Ranks:
    return {} if side is None else side.ranks


def _order(ranks: Ranks, a: str, b: str) -> int:
    return (ranks[a] > ranks[b]) - (ranks[a] < ranks[b])
