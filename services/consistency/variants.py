"""The three variants of `consistency`. The released code needs commercial models (simulatability)
and the token partition explainer of the `shap` package (CC-SHAP). Neither is available here, so
`reference` computes the same as `paper`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shared.contracts.messages import Variant

Contributions = Literal["occlusion", "shapley"]
Aggregation = Literal["sum", "ratios"]
ELLIPSIS = "..."  # written by `shap.maskers.Text` if a tokenizer has no mask


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyVariant:
    balanced: bool  # precision is the mean over both kinds of predictions, not over edits
    contributions: Contributions
    # sum the tokens' log-probabilities, or average each token's shares of its absolute sum
    # (Parcalabescu & Frank, section 4)
    aggregation: Aggregation
    absent: str | None  # replaces a removed word; None: nothing


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
