"""What HateXScore takes and gives."""

from __future__ import annotations

from services.hatexscore.contract import METRIC as HATEXSCORE
from shared.contracts import Room

POISON = "a text that needs more memory than there is"
ENDLESS = "a text that a pattern never comes to the end of"

ROOM = Room(
    name="poison",
    summary="HateXScore with a text that kills",
    request=HATEXSCORE.request,
    report=HATEXSCORE.report,
    model_kinds=HATEXSCORE.model_kinds,
    default_model=HATEXSCORE.default_model,
)
