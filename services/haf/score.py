"""HAF: the story. Converse or take what was brought, compare, weigh."""

from __future__ import annotations

from collections.abc import Sequence

from services.haf.assembly import assemble
from services.haf.contract import HafRequest
from services.haf.conversation import transcripts
from services.haf.gather import gather
from services.haf.report import HafReport


def score(request: HafRequest) -> HafReport:
    """Would a rational human under ideal conditions stand by these reasons?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[HafRequest]) -> list[HafReport]:
    """The same reports as one by one, with one call a stage and a model for all of them."""
    told = transcripts(requests)
    gathered = gather(requests, told)
    return [assemble(*parts) for parts in zip(requests, told, gathered, strict=True)]
