"""The one variant: there is no published method to be followed as printed or as released."""

from __future__ import annotations

from dataclasses import dataclass

from services.sor.post_facts import ENOUGH
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class SorVariant:
    """enough: content words of the post that name its facts where nothing is quoted."""

    enough: int = ENOUGH


ROBUST = SorVariant()
VARIANTS: dict[Variant, SorVariant] = {
    "robust": ROBUST,
    "paper": ROBUST,  # requests with another variant than `robust` are refused
    "reference": ROBUST,
}
