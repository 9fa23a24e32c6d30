"""HLV: the story. Ask the judge with and without explanations, compare both with humans."""

from __future__ import annotations

from collections.abc import Sequence

from services.hlv.assembly import assemble
from services.hlv.contract import HlvRequest
from services.hlv.gather import gather
from services.hlv.report import HlvReport


def score(request: HlvRequest) -> HlvReport:
    """Does the judge rank the options as humans do, and do explanations bring it closer?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[HlvRequest]) -> list[HlvReport]:
    """The same reports as one by one, byte for byte, in as few calls as their draws allow."""
    gathered = gather(requests)
    return [assemble(*pair) for pair in zip(requests, gathered, strict=True)]
