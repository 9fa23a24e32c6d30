"""A judge under one condition, with or without explanations, and what it answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from services.hlv.contract import HlvRequest, Judge
from services.hlv.report import Method
from services.hlv.saying import Run
from shared.contracts import ModelKind


@dataclass(frozen=True)
class Condition:
    """One request, asked with its explanations or without them."""

    place: int  # of the request in its batch
    explained: bool
    model: str
    kind: ModelKind
    request: HlvRequest = field(compare=False)
    judge: Judge = field(compare=False)


Named = tuple[Condition, Method, Run]
Answered = dict[tuple[int, bool, Method], list[Run]]  # place, explained, method → runs


def collected(runs: Iterable[Named]) -> Answered:
    """Runs by place, side and method, in the order in which they come."""
    found: Answered = {}
    for condition, method, run in runs:
        found.setdefault((condition.place, condition.explained, method), []).append(run)
    return found
