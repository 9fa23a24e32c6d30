"""Answers that the caller sent, as runs; and what humans said, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvRequest
from services.hlv.kernel import Floats
from services.hlv.predictions import Answers
from services.hlv.report import Method
from services.hlv.saying import Run
from services.hlv.variants import VARIANTS
from shared.errors import DegenerateInput

Row = dict[str, float]


@dataclass(frozen=True)
class Target:
    """What humans said, (n,) in the order of the options."""

    kind: Literal["distribution", "scores", "ranking"]
    values: Floats | None
    ranks: Floats


def target(request: HlvRequest) -> Target:
    """Section 3: the mean over sources, and the ranking that follows from it."""
    keys, human = _keys(request), request.human
    if human.votes is not None:
        values = kernel.mean_distribution([row(source, keys) for source in human.sources])
        return Target("distribution", values, kernel.fractional_ranks(values))
    if human.ratings is not None:
        values = np.mean([row(source, keys) for source in human.sources], axis=0)
        return Target("scores", values, kernel.fractional_ranks(values))
    ranks = [places(source, keys) for source in human.sources]
    return Target("ranking", None, kernel.mean_ranks(ranks))


def runs_of(answers: Answers, request: HlvRequest) -> dict[Method, list[Run]]:
    """The runs of each method for which there are answers."""
    keys = _keys(request)
    found: dict[Method, list[Run]] = {
        "rank": [Run(places(source, keys)) for source in answers.rankings],
        "logits": [
            *(_distribution(row(source, keys)) for source in answers.distributions),
            *(_logits(row(source, keys), request) for source in answers.logits),
        ],
        "score": [_scores(row(source, keys)) for source in answers.scores],
    }
    return {method: runs for method, runs in found.items() if runs}


def row(source: Row, keys: tuple[str, ...]) -> Floats:
    """(n,) values; a missing option has 0."""
    return np.array([source.get(key, 0.0) for key in keys], dtype=np.float64)


def places(source: Row, keys: tuple[str, ...]) -> Floats:
    """(n,) fractional ranks of places; missing options tie for last."""
    given = np.array([source.get(key, np.inf) for key in keys], dtype=np.float64)
    return kernel.fractional_ranks(given, higher_is_better=False)


def normalisation(request: HlvRequest) -> str:
    """In force: as asked, else the variant's own."""
    return request.normalisation or VARIANTS[request.variant].normalisation


def _distribution(weights: Floats) -> Run:
    share = weights / weights.sum()
    return Run(kernel.fractional_ranks(share), share)


def _logits(logits: Floats, request: HlvRequest) -> Run:
    if normalisation(request) == "softmax":
        return Run(kernel.fractional_ranks(logits), kernel.softmax(logits))
    share = kernel.absolute_share(logits)
    if share is None:
        raise DegenerateInput(
            "every logit is 0: |logit| / sum is undefined", pointer="/predictions"
        )
    return Run(kernel.fractional_ranks(logits), share)


def _scores(scores: Floats) -> Run:
    return Run(kernel.fractional_ranks(scores), scores)


def _keys(request: HlvRequest) -> tuple[str, ...]:
    return tuple(option.key for option in request.options)
