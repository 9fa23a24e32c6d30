"""The formulas of HateXScore: quotation faithfulness (QF), consistency (CC), the weighted mean, and
the comparison with chance.

Pure functions that return None for an undefined value. Source: Hu & Lee, EACL 2026,
arXiv:2601.13547, Eqs. 3, 5 and 6; the rule `reference` follows `metrics/cc.py` of the released
code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.hatexscore.report import ConsistencyRule, Side
from shared.contracts.errors import DegenerateInput
from shared.statistics import ranks

Floats = NDArray[np.float64]

DECIDING = 0.5  # P(hateful) from which a model decides so


def drop(original: float, masked: float) -> float:
    """Return the change of P(hateful) by masking, |p_orig - p_mask|, in [0, 1]."""
    return abs(original - masked)


def carried(original: float, masked: float) -> float:
    """Return the part of P(hateful) that is lost without the quoted words: max(0, p_orig - p_mask),
    in [0, 1]. Deviates: Eq. 3 of the paper takes the absolute value. Words that make a text *less*
    hateful would then support a hateful decision."""
    return max(0.0, original - masked)


def agrees(label: Side, original: float, deciding: float = DECIDING) -> bool:
    """Return True if `label` is the decision of a model whose P(hateful) is `original`, in [0, 1].
    `deciding` is the lowest P(hateful) of a hateful decision."""
    return (original >= deciding) == (label == "hateful")


def quotation_faithfulness(label: Side, quoted_drop: float) -> float:
    """Return the faithfulness of quotations (QF), in [0, 1] (Eq. 3 of the HateXScore paper). Higher
    means more faithful.

    `quoted_drop`, in [0, 1], is the change of P(hateful) when every quoted span is masked. It
    is computed with `drop` in the published variants and with `carried` in `robust`. A hateful
    decision should depend on its quotes, and a non-hateful one should not."""
    return quoted_drop if label == "hateful" else 1.0 - quoted_drop


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """Two flags of an explanation: it names a group (TGI = 1), and it says that a group is
    attacked."""

    named: bool
    attacked: bool


def consistency(
    rule: ConsistencyRule,
    label: Side | None,
    qf: float | None,
    groups: NamedGroups | None,
    tau: float,
) -> float | None:
    """Return 1 if decision, evidence and group cohere, else 0, by one of three readings of Eq. 5 of
    the HateXScore paper.

    A hateful decision coheres if QF >= tau and TGI = 1. A non-hateful decision coheres by rule:
    `causal` requires that no group is attacked and that 1 - QF < tau, as the prose implies. `eq5`
    requires TGI = 0 and QF < tau, as printed. `reference` requires TGI = 0 and QF >= tau, as
    released. Without quotes QF is 0. Values may be unknown (None). The result is 0 if one condition
    is false, even if others are unknown. It is None if it depends on an unknown value.
    """
    named, attacked = (groups.named, groups.attacked) if groups else (None, None)
    reached = _at_least(qf, tau)
    hateful = _all(reached, named)
    harmless = {
        "causal": _all(_not(_at_least(None if qf is None else 1.0 - qf, tau)), _not(attacked)),
        "eq5": _all(_not(reached), _not(named)),
        "reference": _all(reached, _not(named)),
    }[rule]
    if label is None:
        return hateful if hateful == harmless else None
    return hateful if label == "hateful" else harmless


def _all(*conditions: bool | None) -> float | None:
    """Return Kleene's three-valued conjunction as 1, 0 or None."""
    if any(condition is False for condition in conditions):
        return 0.0
    return None if None in conditions else 1.0


def _not(condition: bool | None) -> bool | None:
    return None if condition is None else not condition


def _at_least(value: float | None, threshold: float) -> bool | None:
    """Return True if value >= threshold, with a tolerance, so that 0.7 - 0.4 reaches 0.3."""
    return None if value is None else value >= threshold - ranks.TIE


def weighted_mean(parts: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return the weighted mean, or None if a part with a weight is undefined. Weights are >= 0 and
    have a positive sum."""
    counted = [(part, weight) for part, weight in zip(parts, weights, strict=True) if weight > 0]
    if not counted:
        raise DegenerateInput(
            "all weights are zero; at least one must be positive", pointer="/options/weights"
        )
    terms = [part * weight for part, weight in counted if part is not None]
    if len(terms) < len(counted):
        return None
    return math.fsum(terms) / math.fsum(weight for _, weight in counted)


def compared(observed: float, null: Floats, *, signed: bool) -> tuple[float, Floats]:
    """Return the fall in probability without the quotes, and the R falls without random spans, in
    [-1, 1]. Both are absolute values unless `signed`, so that their ranks can be compared."""
    return (observed, null) if signed else (abs(observed), np.abs(null))


def share_beaten(observed: float, null: Floats) -> float:
    """Return the share of random drops of P(hateful) below the drop for the quotes, in [0, 1].
    Higher is better. Chance is 0.5, and a tie counts half. `observed` is the drop if the quotes are
    masked, and `null` has the drops for R random passages. Both are in [0, 1]."""
    rate = ranks.win_rate(observed, null)
    if rate is None:
        raise DegenerateInput("the text has no other placement of the quotes to compare with")
    return rate
