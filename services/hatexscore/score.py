"""HateXScore: the story. Read the explanation, ask the model about what it quotes, weigh."""

from __future__ import annotations

from collections.abc import Sequence

from services.hatexscore import paper, reference, robust
from services.hatexscore.assembly import assemble
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.gather import measure
from services.hatexscore.report import HatexscoreReport

READERS = {"robust": robust.read, "paper": paper.read, "reference": reference.read}


def score(request: HatexscoreRequest) -> HatexscoreReport:
    """Does the explanation conclude, quote faithfully, name the target, and cohere?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[HatexscoreRequest]) -> list[HatexscoreReport]:
    """The same reports as one by one, byte for byte, with one call a model."""
    readings = [READERS[request.variant](request) for request in requests]
    measured = measure(requests, readings)
    return [assemble(*parts) for parts in zip(requests, readings, measured, strict=True)]
