"""A judge under one condition, with or without explanations, and what it answered.

What a judge said by one method, averaged over its runs. Pure: arrays in, arrays out.

Source: Chen et al., EMNLP 2025, Appendix D: rankings, scores and distributions are averaged.

Answers that the caller sent, as runs; and what humans said, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvAnswers, HlvJudge, HlvRequest
from services.hlv.kernel import Floats, fractional_ranks, mean_ranks
from services.hlv.report import Method
from services.hlv.variants import VARIANTS
from shared.contracts import ModelKind
from shared.errors import DegenerateInput


@dataclass(frozen=True)
class JudgeRun:
    """One answer. `values`: (n,) probabilities or scores, NaN where an option's is missing."""

    ranks: Floats | None  # (n,); None where the run does not rank every option
    values: Floats | None = None
    valid: bool = True
    mass: float | None = None  # of the options' letters as first token, [0, 1]


@dataclass(frozen=True)
class AveragedAnswers:
    """The runs of one method, averaged."""

    ranks: Floats  # (n,) all tied where nothing could be read
    values: Floats | None  # (n,)
    runs: int
    invalid_runs: int
    mass: float | None


def averaged(runs: Sequence[JudgeRun], options: int) -> AveragedAnswers | None:
    """The mean of the runs; None where an option has no value in any of them.

    An unreadable ranking counts as all tied; a run that rates only some options counts in the mean
    scores, not in the mean ranks.
    """
    ranked = [run.ranks for run in runs if run.ranks is not None]
    rows = [run.values for run in runs if run.values is not None]
    values = _mean(rows, options) if rows else None
    if (rows and values is None) or not (ranked or rows):
        return None
    masses = [run.mass for run in runs if run.mass is not None]
    return AveragedAnswers(
        ranks=mean_ranks(ranked) if ranked or values is None else fractional_ranks(values),
        values=values,
        runs=len(runs),
        invalid_runs=sum(not run.valid for run in runs),
        mass=float(np.mean(masses)) if masses else None,
    )


def _mean(rows: Sequence[Floats], options: int) -> Floats | None:
    """(n,) means over the runs that have a value; None where some option has none."""
    table = np.stack(list(rows)).reshape(len(rows), options)
    if np.isnan(table).all(axis=0).any():
        return None
    return np.asarray(np.nanmean(table, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class Condition:
    """One request, asked with its explanations or without them."""

    place: int  # of the request in its batch
    explained: bool
    model: str
    kind: ModelKind
    request: HlvRequest = field(compare=False)
    judge: HlvJudge = field(compare=False)


Named = tuple[Condition, Method, JudgeRun]
Answered = dict[tuple[int, bool, Method], list[JudgeRun]]  # place, explained, method → runs


def collected(runs: Iterable[Named]) -> Answered:
    """Runs by place, side and method, in the order in which they come."""
    found: Answered = {}
    for condition, method, run in runs:
        found.setdefault((condition.place, condition.explained, method), []).append(run)
    return found


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


def runs_of(answers: HlvAnswers, request: HlvRequest) -> dict[Method, list[JudgeRun]]:
    """The runs of each method for which there are answers."""
    keys = _keys(request)
    found: dict[Method, list[JudgeRun]] = {
        "rank": [JudgeRun(places(source, keys)) for source in answers.rankings],
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


def _distribution(weights: Floats) -> JudgeRun:
    share = weights / weights.sum()
    return JudgeRun(kernel.fractional_ranks(share), share)


def _logits(logits: Floats, request: HlvRequest) -> JudgeRun:
    if normalisation(request) == "softmax":
        return JudgeRun(kernel.fractional_ranks(logits), kernel.softmax(logits))
    share = kernel.absolute_share(logits)
    if share is None:
        raise DegenerateInput(
            "every logit is 0: |logit| / sum is undefined", pointer="/predictions"
        )
    return JudgeRun(kernel.fractional_ranks(logits), share)


def _scores(scores: Floats) -> JudgeRun:
    return JudgeRun(kernel.fractional_ranks(scores), scores)


def _keys(request: HlvRequest) -> tuple[str, ...]:
    return tuple(option.key for option in request.options)
