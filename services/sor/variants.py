"""The only variant, since no method has been published."""

from __future__ import annotations

from dataclasses import dataclass

from services.sor.post_facts import ENOUGH
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class SorVariant:
    enough: int = ENOUGH  # content words of the post that name its facts without a quotation


ROBUST = SorVariant()
VARIANTS: dict[Variant, SorVariant] = {
    "robust": ROBUST,
    "paper": ROBUST,  # requests with a variant other than `robust` are refused
    "reference": ROBUST,
}
