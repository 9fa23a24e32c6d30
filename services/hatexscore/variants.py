"""Where the three variants differ: how the explanation is read, and whether there is a control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.hatexscore import paper, reference, robust
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.reading import Reading
from shared.contracts import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreVariant:
    """One variant."""

    read: Callable[[HatexscoreRequest], Reading]
    why_no_control: str | None = None  # None: there is one


VARIANTS: dict[Variant, HatexscoreVariant] = {
    "robust": HatexscoreVariant(read=robust.read),
    "paper": HatexscoreVariant(read=paper.read),
    "reference": HatexscoreVariant(
        read=reference.read,
        why_no_control="variant reference masks letters inside words, which has no random "
        "counterpart",
    ),
}
