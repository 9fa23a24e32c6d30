"""The three variants. They differ in the units of the reasoning and in the rules for accepting an
explanation. Source: Chen et al., EMNLP 2025, Eqs. 3 and 4; `reference` follows mainlp/CoT2EL."""

from __future__ import annotations

from dataclasses import dataclass

from services.cot2el.contract import DEFAULT_SIMILARITY, Polarity
from services.cot2el.segmentation import Granularity
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Cot2elVariant:
    granularity: Granularity  # of units
    min_similarity: float  # an explanation is dropped unless a unit exceeds it; 0: none is
    autojunk: bool = False  # as released
    repeated: bool = False  # as released: a unit may occur twice for a label and stance
    polarity: Polarity = "none"  # how to find units that say the opposite
    # draw shuffled words for each text and not by the seed alone, and draw other items
    matched_control: bool = False


VARIANTS: dict[Variant, Cot2elVariant] = {
    "robust": Cot2elVariant(
        granularity="both",
        min_similarity=DEFAULT_SIMILARITY,
        polarity="nli",
        matched_control=True,
    ),
    "paper": Cot2elVariant(granularity="edu", min_similarity=0.0),
    "reference": Cot2elVariant(
        granularity="edu", min_similarity=DEFAULT_SIMILARITY, autojunk=True, repeated=True
    ),
}
