"""What HateXScore takes and gives; but for some texts."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from services.hatexscore.contract import CONTRACT as HATEXSCORE
from services.hatexscore.contract import HatexscoreRequest
from shared.contracts.service import ServiceContract

POISON = "a text that needs more memory than there is"
ENDLESS = "a text that a pattern never comes to the end of"
ASKS, LOOPS, SLEEPS = (
    "a text without an end",
    "a text without an end, whose reader never asks whether it is still wanted",
    "a text without an end, whose reader stands in compiled code",
)
UNREADABLE = "a text that the contract itself stumbles over"
LATE = {"pace": "late"}  # in the metadata: the result comes after some seconds, wanted or not


class PoisonRequest(HatexscoreRequest):
    """As HateXScore's."""

    @model_validator(mode="after")
    def _is_read(self) -> Self:
        if self.text == UNREADABLE:
            raise RecursionError(UNREADABLE)
        return self


CONTRACT = ServiceContract(
    name="poison",
    summary="HateXScore with a text that kills",
    request=PoisonRequest,
    report=HATEXSCORE.report,
    model_kinds=HATEXSCORE.model_kinds,
    default_model=HATEXSCORE.default_model,
    examples=HATEXSCORE.examples,
)
