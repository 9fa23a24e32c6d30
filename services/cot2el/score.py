"""CoT2EL: the story. Reason, parse, structure; then bring every explanation back to the text."""

from __future__ import annotations

from collections.abc import Sequence

from services.cot2el.assembly import assemble
from services.cot2el.contract import Cot2elRequest
from services.cot2el.gather import gather
from services.cot2el.report import Cot2elReport


def score(request: Cot2elRequest) -> Cot2elReport:
    """Which sentences of the reasoning speak for and against each option?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[Cot2elRequest]) -> list[Cot2elReport]:
    """The same reports as one by one, byte for byte, in as few calls as their draws allow."""
    return [assemble(gathered) for gathered in gather(requests)]
