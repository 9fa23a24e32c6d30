"""Where the three variants differ: a row each.

Of simulatability the released code is prompts for commercial models, which write the edits and
predict the answers; of CC-SHAP it is the partition explainer of the `shap` package over tokens.
Neither runs here, so `reference` computes what `paper` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts.messages import Variant

Contributions = Literal["occlusion", "shapley"]
Aggregation = Literal["sum", "ratios"]
ELLIPSIS = "..."  # what `shap.maskers.Text` writes where a tokenizer has no mask


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyVariant:
    """balanced: precision is the mean over predictions of either kind, not over edits, which are
    mostly of one kind. contributions: of words. aggregation: of the explanation's tokens: their
    log-probabilities are summed, or each token's contributions are made shares of their absolute
    sum and averaged (Parcalabescu & Frank, section 4). absent: what stands for a word that is taken
    away; None: nothing."""

    balanced: bool
    contributions: Contributions
    aggregation: Aggregation
    absent: str | None


PRINTED = ConsistencyVariant(
    balanced=False, contributions="shapley", aggregation="ratios", absent=ELLIPSIS
)
VARIANTS: dict[Variant, ConsistencyVariant] = {
    "robust": ConsistencyVariant(
        balanced=True, contributions="occlusion", aggregation="sum", absent=None
    ),
    "paper": PRINTED,
    "reference": PRINTED,
}
