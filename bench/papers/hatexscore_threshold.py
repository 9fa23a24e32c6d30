"""Computes a result's score under another threshold tau from its stored components.

Source: Hu & Lee, arXiv:2601.13547, Eqs. 5 and 6, Figure 2. Only CC depends on tau.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from services.hatexscore import kernel
from services.hatexscore.report import (
    NO_WITNESS,
    HatexscoreGroupEvidence,
    HatexscoreResult,
    Part,
    side_of_label,
)
from services.hatexscore.variants import VARIANTS

PARTS: tuple[Part, ...] = tuple(part for part in get_args(Part) if part != "score")


def score_at(report: HatexscoreResult, tau: float) -> float | None:
    """Return the score, [0, 1], or None if undefined. A variant with a fixed tau keeps it."""
    weights: Mapping[str, float] = report.provenance.parameters["weights"]
    parts = report.components.model_copy(update={"cc": consistency_at(report, tau)})
    applying = [part for part in PARTS if part not in report.not_applicable]
    if not any(weights[part] for part in applying):
        return None
    values = [getattr(parts, part) for part in applying]
    return kernel.weighted_mean(values, [weights[part] for part in applying])


def consistency_at(report: HatexscoreResult, tau: float) -> float | None:
    """Return CC, 0 or 1, under this tau."""
    row = VARIANTS[report.provenance.variant]
    if row.decision_aware and report.decision_match is False:
        return 0.0
    tau = tau if row.tau is None else row.tau
    rule = report.provenance.parameters["consistency_rule"]
    label, qf = side_of_label(report.decision), report.components.qf
    groups = _groups(report)
    published = not row.decision_aware or rule != "causal"
    if published and (qf is None or groups is None):
        return None
    if not published and any(
        why.component == "qf" and why.code in NO_WITNESS for why in report.reasons
    ):
        return None
    return kernel.consistency(rule, label, qf, groups, tau)


def _groups(report: HatexscoreResult) -> kernel.NamedGroups | None:
    if any(why.component == "tgi" for why in report.reasons):
        return None
    named = report.components.tgi == 1
    if not VARIANTS[report.provenance.variant].decision_aware:
        return kernel.NamedGroups(named, named)
    found = (one for one in report.evidence if isinstance(one, HatexscoreGroupEvidence))
    return kernel.NamedGroups(named, any(one.attacked for one in found))
