"""The three variants of HLV. They differ in the reported numbers and in how answers are read.
Source: Chen et al., EMNLP 2025, Eqs. 13 and 14, Appendices D and E; `reference` follows Evaluation/
of mainlp/CoT2EL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from services.hlv import prompts
from services.hlv.contract import Normalisation
from shared.contracts.messages import Variant

EPSILON = 1e-10  # as released


@dataclass(frozen=True, slots=True, kw_only=True)
class HlvVariant:
    normalisation: Normalisation = "softmax"  # of logits
    epsilon: float = EPSILON  # both distributions of KL are clipped to it
    clips_jsd: bool = False  # also clip in the Jensen-Shannon distance
    kendall: Literal["tau_a", "tau_b"] = "tau_b"  # corrected for ties
    spearman: Literal["spearman", "spearman_without_ties"] = "spearman"
    mentioned: Callable[[str, Sequence[str]], list[str]] = prompts.parse_ranking
    rating: Callable[[str], int | None] = prompts.parse_rating


VARIANTS: dict[Variant, HlvVariant] = {
    "robust": HlvVariant(),
    "paper": HlvVariant(epsilon=0.0, kendall="tau_a", spearman="spearman_without_ties"),
    "reference": HlvVariant(
        normalisation="abs_sum_reference",
        clips_jsd=True,
        mentioned=prompts.parse_ranking_as_released,
        rating=prompts.parse_rating_as_released,
    ),
}
