"""What the three variants of HateXScore say, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from services.gateway.pages.metrics.hatexscore_sentences import TIE
from services.gateway.pages.templates import significant
from services.hatexscore.report import Components, HatexscoreReport, VariantOutcome


@dataclass(frozen=True, slots=True)
class Row:
    """A variant beside the others; `difference`: of its score from this report's, in words."""

    variant: str
    score: float | None
    components: Components
    tau: float | None
    rule: str
    difference: str
    warnings: tuple[str, ...]


def rows(report: HatexscoreReport) -> list[Row]:
    """Every variant, this report's first; none where the others were not asked for."""
    if not report.other_variants:
        return []
    in_force = report.provenance.parameters
    own = Row(
        variant=report.provenance.variant,
        score=report.score,
        components=report.components,
        tau=in_force.get("tau"),
        rule=in_force.get("consistency_rule") or "not kept",
        difference="this report",
        warnings=(),
    )
    return [own, *(_row(report, outcome) for outcome in report.other_variants)]


def _row(report: HatexscoreReport, outcome: VariantOutcome) -> Row:
    return Row(
        variant=outcome.variant,
        score=outcome.score,
        components=outcome.components,
        tau=outcome.tau,
        rule=outcome.consistency_rule,
        difference=_difference(report.score, outcome.score),
        warnings=outcome.warnings,
    )


def _difference(own: float | None, other: float | None) -> str:
    if own is None or other is None:
        return "not comparable"
    if abs(other - own) <= TIE:
        return "the same"
    return f"{significant(abs(other - own))} {'higher' if other > own else 'lower'}"
