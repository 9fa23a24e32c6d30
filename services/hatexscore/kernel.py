"""The formulas of HateXScore: QF, CC, the weighted mean, and the control against chance.

Source: Hu & Lee, EACL 2026, arXiv:2601.13547, Eqs. 3, 5 and 6; the rule `reference` follows
`metrics/cc.py` of the released code. Pure functions: numbers in, numbers out; None is "undefined".
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
    """p_orig - p_mask|, probability units [0, 1]: the change of P(hateful) by masking."""
    return abs(original - masked)


def carried(original: float, masked: float) -> float:
    """max(0, p_orig - p_mask), [0, 1]: the part of P(hateful) that is lost with the quoted words.

    Deviates: Eq. 3 takes the absolute value. Words that make a text *less* hateful would then count
    as evidence for a hateful decision, and against a non-hateful one.
    """
    return max(0.0, original - masked)


def agrees(label: Side, original: float, deciding: float = DECIDING) -> bool:
    """Return True if a model with this P(hateful), [0, 1], makes the same decision.

    deciding: least P(hateful) of a hateful decision.
    """
    return (original >= deciding) == (label == "hateful")


def quotation_faithfulness(label: Side, quoted_drop: float) -> float:
    """Eq. 3 for a non-trivial quotation, [0, 1], higher = more faithful.

    quoted_drop: by masking every quoted span, [0, 1]: `drop` as printed, `carried` in `robust`.

    A hateful decision should depend on its quotes, and a non-hateful one should not.
    """
    return quoted_drop if label == "hateful" else 1.0 - quoted_drop


@dataclass(frozen=True, slots=True)
class NamedGroups:
    """Flags of an explanation: it names a group (TGI = 1), and it says that a group is attacked."""

    named: bool
    attacked: bool


def consistency(
    rule: ConsistencyRule, label: Side | None, qf: float | None, groups: NamedGroups, tau: float
) -> float | None:
    """Eq. 5 under one of three readings: 1 if decision, evidence and group cohere, else 0.

    Hateful, every rule: QF >= tau and TGI = 1. Non-hateful, `causal`: no group is attacked and 1 -
    QF < tau, as the prose implies (an unquoted text has no such evidence). `eq5`: TGI = 0 and QF <
    tau, as printed. `reference`: TGI = 0 and QF >= tau, as released.

    None if QF is undefined, or if the label is unknown and the two labels disagree.
    """
    if qf is None:
        return None
    hateful = float(_at_least(qf, tau) and groups.named)
    harmless = float(
        {
            "causal": not _at_least(1.0 - qf, tau) and not groups.attacked,
            "eq5": not _at_least(qf, tau) and not groups.named,
            "reference": _at_least(qf, tau) and not groups.named,
        }[rule]
    )
    if label is None:
        return hateful if hateful == harmless else None
    return hateful if label == "hateful" else harmless


def causal_consistency(
    label: Side | None, qf: float | None, groups: NamedGroups | None, tau: float
) -> float | None:
    """The rule `causal` in three-valued logic: 0 if one condition is false, others may be unknown.

    qf, groups: None if unknown. The result is None if it depends on an unknown value or label.
    """
    evident = None if qf is None else _at_least(qf, tau)
    calm = None if qf is None else not _at_least(1.0 - qf, tau)
    group_named = None if groups is None else groups.named
    unattacked = None if groups is None else not groups.attacked
    hateful, harmless = _all(evident, group_named), _all(calm, unattacked)
    if label is None:
        return hateful if hateful == harmless else None
    return hateful if label == "hateful" else harmless


def _all(*conditions: bool | None) -> float | None:
    """Kleene's conjunction."""
    if any(condition is False for condition in conditions):
        return 0.0
    return None if None in conditions else 1.0


def _at_least(value: float, threshold: float) -> bool:
    """Is value >= threshold? 0.7 - 0.4 is meant to reach 0.3."""
    return value >= threshold - ranks.TIE


def weighted_mean(parts: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Eq. 6 with weights >= 0 of positive sum; None if a part that has weight is undefined."""
    counted = [(part, weight) for part, weight in zip(parts, weights, strict=True) if weight > 0]
    if not counted:
        raise DegenerateInput("every weight is zero", pointer="/options/weights")
    terms = [part * weight for part, weight in counted if part is not None]
    if len(terms) < len(counted):
        return None
    return math.fsum(terms) / math.fsum(weight for _, weight in counted)


def compared(observed: float, null: Floats, *, signed: bool) -> tuple[float, Floats]:
    """(the quotes' drop, (R,) those of random spans) as they are ranked; greater = more.

    observed, null: dp, [-1, 1]. signed: whether it matters which way masking moved P.
    """
    return (observed, null) if signed else (abs(observed), np.abs(null))


def share_beaten(observed: float, null: Floats) -> float:
    """Mid-rank of the observed drop among random ones, [0, 1]; higher = better, chance is 0.5.

    observed: drop of the quoted spans, [0, 1].
    null:     (R,) drops of R random placements, [0, 1]; a tie counts half.
    """
    rate = ranks.win_rate(observed, null)
    if rate is None:
        raise DegenerateInput("there is no random placement to compare with")
    return rate
