"""ICE: the story. Ask the model about the rationale and about random ones, and compare."""

from __future__ import annotations

from collections.abc import Sequence

from services.ice.assembly import assemble
from services.ice.contract import IceRequest
from services.ice.gather import inquire
from services.ice.report import IceReport


def score(request: IceRequest) -> IceReport:
    """Does the explanation keep the prediction better than random tokens do?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[IceRequest]) -> list[IceReport]:
    """The same reports as one by one, byte for byte, with the rows of all in common calls."""
    return [assemble(inquiry, use) for inquiry, use in inquire(requests)]
