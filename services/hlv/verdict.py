"""An HLV report in a sentence or two, with how little one item proves."""

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

FEWEST_PAIRS = 2  # that change their order before a gain or a loss is more than one step


PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "away-from-humans": "leads away from the human labels",
}
CLOSER = "closer-to-humans"


def finding(report: HlvResult) -> Finding:
    """Return the verdict: do the explanations bring the judge closer to the humans' labels?"""
    return conclude([_closer(report)], {CLOSER})


def _closer(report: HlvResult) -> Check:
    score = report.score
    if score is None:
        unknown = undefined(CLOSER, report, "score")
        return unknown or not_tested(CLOSER, "answer-unread", "There is no rank to compare.")
    if report.score_of == "agreement":
        said = f"The judge agrees with humans at Kendall's tau {_signed(score)}."
        return not_tested(CLOSER, "no-baseline", said)
    parts, moved = report.components, changed(report)
    way = f"Kendall's tau goes from {_signed(parts.kendall_baseline)} to {_signed(parts.kendall)}"
    said = f"{way}, a gain of {_signed(score)}{_pairs(moved)}."
    if not score or moved is None or moved[0] < FEWEST_PAIRS:
        return inconclusive(CLOSER, "no-clear-difference", said)
    if score > 0:
        return passed(CLOSER, said)
    return failed(CLOSER, "away-from-humans", said)


def changed(report: HlvResult) -> tuple[int, int] | None:
    """Pairs of options that the explanations put into another order, and all pairs, by the first
    way of asking; None where one side has no ranks."""
    first = next(iter(report.components.methods), None)
    if first is None:
        return None
    one, other = _ranks(first.baseline), _ranks(first.explained)
    pairs = list(combinations(sorted(one.keys() & other.keys()), 2))
    if not pairs:
        return None
    return sum(_order(one, *pair) != _order(other, *pair) for pair in pairs), len(pairs)


def _pairs(moved: tuple[int, int] | None) -> str:
    if moved is None:
        return ""
    some, every = moved
    return f"; {some} of {every} {'pair' if every == 1 else 'pairs'} of options changed order"


def chance(report: HlvResult) -> str:
    """What no effect, and a judge that knows only the first choice, would have."""
    oracle = f"A judge that knows only the humans' first choice {_baseline_text(report)}."
    if report.score_of == "gain":
        return (
            "The score is the gain: explanations without effect would have 0. A single item proves "
            "little, since few options make coarse ranks (three: a tau of seven values); only the "
            f"batch report means much. {oracle}"
        )
    return (
        "The score is Kendall's tau: a judge at chance would have 0; +1 is the humans' own order, "
        f"\N{MINUS SIGN}1 its reverse. {oracle}"
    )


def _baseline_text(report: HlvResult) -> str:
    printed = report.provenance.variant == "paper"
    oracle = report.control.majority.tau_a if printed else report.control.majority.tau_b
    return "has no tau here" if oracle is None else f"reaches a tau of {_signed(oracle)}"


def _signed(value: float | None) -> str:
    """With its sign, since the sign is what matters."""
    if value is None:
        return "undefined"
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}") if round(value, 2) else "0"


def _ranks(side: HlvMeasured | None) -> Ranks:
    return {} if side is None else side.ranks


def _order(ranks: Ranks, one: str, other: str) -> int:
    """Sign of their difference; 0 for a tie."""
    return (ranks[one] > ranks[other]) - (ranks[one] < ranks[other])
