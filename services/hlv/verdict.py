"""An HLV report in a sentence or two, with how little one item proves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from services.hlv.report import HlvMeasured, HlvResult
from shared.contracts.messages import Finding
from shared.reports.pages.page_text import Tone, Verdict, finding

Ranks = Mapping[str, float]

FEWEST_PAIRS = 2  # that change their order before a gain or a loss is more than one step


def verdict(report: HlvResult) -> Verdict:
    """The report in words, with what would be without effect or by chance."""
    score, chance = report.score, _chance(report)
    if score is None:
        return Verdict("The score is undefined: the warnings say why.", "neutral", chance)
    if report.score_of == "agreement":
        said = f"The judge agrees with humans at Kendall's tau {_signed(score)}."
        return Verdict(said, "neutral", chance)
    said, tone = _change_text(report, score)
    return Verdict(said, tone, chance)


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


def _change_text(report: HlvResult, gain: float) -> tuple[str, Tone]:
    parts, moved = report.components, changed(report)
    way = f"Kendall's tau goes from {_signed(parts.kendall_baseline)} to {_signed(parts.kendall)}"
    said = f"{way}, a gain of {_signed(gain)}{_pairs(moved)}."
    enough = moved is not None and moved[0] >= FEWEST_PAIRS
    if gain and not enough:
        nearer = "closer to" if gain > 0 else "away from"
        return f"One step {nearer} humans, which is too small to say more: {said}", "neutral"
    if gain > 0:
        return f"The explanations bring the judge closer to humans: {said}", "good"
    if gain < 0:
        return f"The explanations lead the judge away from humans: {said}", "bad"
    return f"The explanations change nothing in the agreement: {said}", "neutral"


def _pairs(moved: tuple[int, int] | None) -> str:
    if moved is None:
        return ""
    some, every = moved
    return f"; {some} of {every} {'pair' if every == 1 else 'pairs'} of options changed order"


def _chance(report: HlvResult) -> str:
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


def in_a_word(report: HlvResult) -> Finding:
    """The five words that every metric has, for its own."""
    return finding(report, verdict(report))
