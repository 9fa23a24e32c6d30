"""HateXScore: the story. Read the explanation, ask the model about what it quotes, weigh."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from services.hatexscore import paper, reference, robust
from services.hatexscore.assembly import assemble
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.gather import measure
from services.hatexscore.other_variants import joined, with_others
from services.hatexscore.report import HatexscoreReport

READERS = {"robust": robust.read, "paper": paper.read, "reference": reference.read}


def score(request: HatexscoreRequest) -> HatexscoreReport:
    """Does the explanation conclude, quote faithfully, name the target, and cohere?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[HatexscoreRequest]) -> list[HatexscoreReport]:
    """The same reports as one by one, byte for byte, with one call a model."""
    asked = [with_others(request) for request in requests]
    reports = iter(_each([one for several in asked for one in several]))
    return [
        joined(request, list(islice(reports, len(several))))
        for request, several in zip(requests, asked, strict=True)
    ]


def _each(requests: Sequence[HatexscoreRequest]) -> list[HatexscoreReport]:
    """One report a request, each of its own variant alone."""
    readings = [READERS[request.variant](request) for request in requests]
    measured = measure(requests, readings)
    return [assemble(*parts) for parts in zip(requests, readings, measured, strict=True)]
