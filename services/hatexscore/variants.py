"""The three variants of HateXScore: how each reads an explanation, and which rules it scores by.

Source: Hu & Lee, arXiv:2601.13547, sections 3.1 to 3.3; README.md lists the departures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.hatexscore import variant_paper, variant_reference, variant_robust
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.report import ConsistencyRule
from shared.contracts import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreVariant:
    read: Callable[[HatexscoreRequest], ParsedExplanation]
    consistency_rule: ConsistencyRule  # where the request names none
    tau: float | None = None  # None: the request's
    # Whether it matters which way masking moves P, whether the asked model makes the decision, and
    # whether the explanation concludes its opposite.
    decision_aware: bool = False
    why_no_control: str | None = None  # None: there is one
    first: int | None = None  # draws that settle p where enough reach it; None: all are made


VARIANTS: dict[Variant, HatexscoreVariant] = {
    "robust": HatexscoreVariant(
        read=variant_robust.read_as_meant,
        consistency_rule="causal",
        decision_aware=True,
        first=39,
    ),
    "paper": HatexscoreVariant(read=variant_paper.read_as_printed, consistency_rule="eq5"),
    "reference": HatexscoreVariant(
        read=variant_reference.read_as_released,
        consistency_rule="reference",
        tau=variant_reference.TAU,
        why_no_control="variant reference masks letters inside words, which has no random "
        "counterpart",
    ),
}
