"""FTC: the story. Turn the explanation into hypotheses, ask the model about them, compare."""

from __future__ import annotations

from collections.abc import Sequence

from services.ftc.assembly import assemble
from services.ftc.contract import FtcRequest
from services.ftc.gather import measure, own_labels
from services.ftc.reading import read
from services.ftc.report import FtcReport


def score(request: FtcRequest) -> FtcReport:
    """Does the model bear out the logic of the explanation?"""
    return score_batch([request])[0]


def score_batch(requests: Sequence[FtcRequest]) -> list[FtcReport]:
    """The same reports as one by one, byte for byte, with one call a model (and one before it for
    requests that do not say the label)."""
    readings = read(requests, own_labels(requests))
    measured = measure(requests, readings)
    return [assemble(*parts) for parts in zip(requests, readings, measured, strict=True)]
