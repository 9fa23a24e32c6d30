"""Averages a judge's runs, and compares them with the humans' answers by all measures of Appendix
E. Source: Chen et al., EMNLP 2025, section 3 and Appendices D and E. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvAnswers, HlvJudge, HlvRequest
from services.hlv.kernel import Floats, fractional_ranks, mean_ranks
from services.hlv.report import HlvDivergences, HlvErrors, HlvGain, HlvMeasured, Method
from services.hlv.variants import VARIANTS
from shared.contracts.errors import DegenerateInput
from shared.contracts.messages import ModelKind

MethodRuns = dict[Method, list["JudgeRun"]]
ConditionRun = tuple["Condition", Method, "JudgeRun"]
RunsOfConditions = dict[tuple[int, bool, Method], list["JudgeRun"]]  # position, explained, method


@dataclass(frozen=True)
class JudgeRun:
    """One answer of a judge. `values` has n probabilities or scores, with NaN for options without
    one."""

    ranks: Floats | None  # (n,); None where the run does not rank every option
    values: Floats | None = None
    valid: bool = True
    mass: float | None = None  # probability of all letters as the first token


@dataclass(frozen=True)
class AveragePrediction:
    ranks: Floats  # (n,) all tied where nothing could be read
    values: Floats | None  # (n,)
    runs: int
    invalid_runs: int
    mass: float | None


def average(runs: Sequence[JudgeRun], options: int) -> AveragePrediction | None:
    """Return the mean of a judge's answers, or None if some option never got a value. An unreadable
    ranking counts as all tied. An answer that rates only some options counts for the mean scores,
    but not for the mean ranks."""
    ranked = [run.ranks for run in runs if run.ranks is not None]
    rows = [run.values for run in runs if run.values is not None]
    values = _mean(rows, options) if rows else None
    if (rows and values is None) or not (ranked or rows):
        return None
    masses = [run.mass for run in runs if run.mass is not None]
    return AveragePrediction(
        ranks=mean_ranks(ranked) if ranked or values is None else fractional_ranks(values),
        values=values,
        runs=len(runs),
        invalid_runs=sum(not run.valid for run in runs),
        mass=float(np.mean(masses)) if masses else None,
    )


def _mean(rows: Sequence[Floats], options: int) -> Floats | None:
    table = np.stack(list(rows)).reshape(len(rows), options)
    if np.isnan(table).all(axis=0).any():
        return None
    return np.asarray(np.nanmean(table, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class Condition:
    """One of two ways to ask the judge about a request: with its explanations or without them."""

    position: int  # of the request in its batch
    explained: bool
    model: str
    kind: ModelKind
    request: HlvRequest = field(compare=False)
    judge: HlvJudge = field(compare=False)


def group_runs(runs: Iterable[ConditionRun]) -> RunsOfConditions:
    """Group answers by request, condition and method. Answers in a group keep their order."""
    runs_of_conditions: RunsOfConditions = {}
    for condition, method, run in runs:
        runs_of_conditions.setdefault((condition.position, condition.explained, method), []).append(
            run
        )
    return runs_of_conditions


@dataclass(frozen=True)
class HumanGold:
    """The human answers to a request. `values` and `ranks` have one entry for each option, in the
    order of the options."""

    kind: Literal["distribution", "scores", "ranking"]
    values: Floats | None
    ranks: Floats


def human_gold(request: HlvRequest) -> HumanGold:
    """Return the mean of the human answers over annotators or data sets, and the ranking of the
    options."""
    keys, human = _keys(request), request.human
    if human.votes is not None:
        values = kernel.mean_distribution([row(source, keys) for source in human.sources])
        return HumanGold("distribution", values, kernel.fractional_ranks(values))
    if human.ratings is not None:
        values = np.mean([row(source, keys) for source in human.sources], axis=0)
        return HumanGold("scores", values, kernel.fractional_ranks(values))
    ranks = [rank_positions(source, keys) for source in human.sources]
    return HumanGold("ranking", None, kernel.mean_ranks(ranks))


def runs_from_request(answers: HlvAnswers, request: HlvRequest) -> MethodRuns:
    """Return the answers of the judge that the request contains, by method."""
    keys = _keys(request)
    runs_by_method: MethodRuns = {
        "rank": [JudgeRun(rank_positions(source, keys)) for source in answers.rankings],
        "logits": [
            *(_from_distribution(row(source, keys)) for source in answers.distributions),
            *(_from_logits(row(source, keys), request) for source in answers.logits),
        ],
        "score": [
            JudgeRun(kernel.fractional_ranks(scores), scores)
            for scores in (row(source, keys) for source in answers.scores)
        ],
    }
    return {method: runs for method, runs in runs_by_method.items() if runs}


def row(source: dict[str, float], keys: tuple[str, ...]) -> Floats:
    """Return n values in the order of `keys`. A missing option counts as 0."""
    return np.array([source.get(key, 0.0) for key in keys], dtype=np.float64)


def rank_positions(source: dict[str, float], keys: tuple[str, ...]) -> Floats:
    """Return the fractional ranks of n options from their positions. Options without a position
    share the last rank."""
    positions = np.array([source.get(key, np.inf) for key in keys], dtype=np.float64)
    return kernel.fractional_ranks(positions, higher_is_better=False)


def normalisation(request: HlvRequest) -> str:
    """Return the name of the method that turns the judge's values into probabilities. The request
    overrides the variant."""
    return request.normalisation or VARIANTS[request.variant].normalisation


def _from_distribution(weights: Floats) -> JudgeRun:
    share = weights / weights.sum()
    return JudgeRun(kernel.fractional_ranks(share), share)


def _from_logits(logits: Floats, request: HlvRequest) -> JudgeRun:
    if normalisation(request) == "softmax":
        return JudgeRun(kernel.fractional_ranks(logits), kernel.softmax(logits))
    share = kernel.absolute_share(logits)
    if share is None:
        raise DegenerateInput(
            "every logit is 0, so |logit| / sum is undefined; send other logits or use softmax",
            pointer="/predictions",
        )
    return JudgeRun(kernel.fractional_ranks(logits), share)


def _keys(request: HlvRequest) -> tuple[str, ...]:
    return tuple(option.key for option in request.options)


BASES = {"e": math.e, "2": 2.0}
CORRELATIONS = ("tau_b", "tau_a", "spearman")
DIVERGENCES = ("kl_model_gold", "kl_gold_model", "jsd", "tvd")
ERRORS = ("rmse", "mae")


def score_predictions(
    request: HlvRequest, gold: HumanGold, method: Method, answers: AveragePrediction | None
) -> HlvMeasured:
    """Compare a judge's answers with the human ones. All values are null if `answers` is None,
    because nothing was readable."""
    if answers is None:
        return HlvMeasured(
            ranks={},
            values=None,
            tau_b=None,
            tau_a=None,
            spearman=None,
            spearman_without_ties=None,
            distribution=None,
            scalar=None,
            runs=0,
        )
    return HlvMeasured(
        ranks=by_key(request, answers.ranks),
        values=None if answers.values is None else by_key(request, answers.values),
        tau_b=kernel.kendall_tau_b(gold.ranks, answers.ranks),
        tau_a=kernel.kendall_tau_a(gold.ranks, answers.ranks),
        spearman=kernel.spearman(gold.ranks, answers.ranks),
        spearman_without_ties=kernel.spearman_without_ties(gold.ranks, answers.ranks),
        distribution=_divergences(request, gold, method, answers.values),
        scalar=_errors(gold, method, answers.values),
        runs=answers.runs,
        invalid_runs=answers.invalid_runs,
        label_mass=answers.mass,
    )


def score_values(request: HlvRequest, gold: HumanGold, values: Floats) -> HlvMeasured:
    """Return the scores of a judge that always answers these n probabilities. If the humans gave
    ratings, the probabilities are mapped linearly to the rating scale."""
    ranks = kernel.fractional_ranks(values)
    if gold.kind != "scores":
        prediction = AveragePrediction(ranks, values, 1, 0, None)
        return score_predictions(request, gold, "logits", prediction)
    scale = request.human.scale
    spread = values.max() - values.min()
    relative = (values - values.min()) / spread if spread else np.full(values.size, 0.5)
    scores = scale.low + relative * (scale.high - scale.low)
    return score_predictions(request, gold, "score", AveragePrediction(ranks, scores, 1, 0, None))


def gain(explained: HlvMeasured | None, baseline: HlvMeasured | None) -> HlvGain | None:
    """Return the improvement by explanations: values with explanations minus values without. For
    distances and errors the sign is reversed, so a positive value always means closer to humans.
    Return None if either argument is None."""
    if explained is None or baseline is None:
        return None
    gains = {name: _diff(explained, baseline, name) for name in CORRELATIONS}
    gains |= _diff_fields(explained.distribution, baseline.distribution, DIVERGENCES)
    gains |= _diff_fields(explained.scalar, baseline.scalar, ERRORS)
    return HlvGain(**gains)


def epsilon(request: HlvRequest) -> float:
    """Return the epsilon that applies: the request's, or else the variant's."""
    return VARIANTS[request.variant].epsilon if request.epsilon is None else request.epsilon


def by_key(request: HlvRequest, values: Floats) -> dict[str, float]:
    """Return a mapping from each option to its value."""
    keys = (option.key for option in request.options)
    return dict(zip(keys, values.tolist(), strict=True))


def _divergences(
    request: HlvRequest, gold: HumanGold, method: Method, model: Floats | None
) -> HlvDivergences | None:
    """Return the divergences, or None unless humans gave votes and the judge gave probabilities."""
    human = gold.values
    if gold.kind != "distribution" or method != "logits" or human is None or model is None:
        return None
    clip = epsilon(request)
    jsd_clip = clip if VARIANTS[request.variant].clips_jsd else 0.0
    return HlvDivergences(
        kl_model_gold=kernel.kullback_leibler(model, human, clip),
        kl_gold_model=kernel.kullback_leibler(human, model, clip),
        jsd=float(
            kernel.jensen_shannon(human, model, base=BASES[request.log_base], epsilon=jsd_clip)
        ),
        tvd=min(1.0, float(kernel.total_variation(human, model))),
    )


def _errors(gold: HumanGold, method: Method, ratings: Floats | None) -> HlvErrors | None:
    """Return the errors, or None unless both humans and judge gave ratings."""
    human = gold.values
    if gold.kind != "scores" or method != "score" or human is None or ratings is None:
        return None
    return HlvErrors(
        rmse=float(kernel.root_mean_square(human, ratings)),
        mae=float(kernel.mean_absolute(human, ratings)),
        r2=kernel.determination(human, ratings),
    )


def _diff(a: Any, b: Any, name: str) -> float | None:
    minuend, subtrahend = getattr(a, name), getattr(b, name)
    return None if minuend is None or subtrahend is None else float(minuend - subtrahend)


def _diff_fields(explained: Any, baseline: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    if explained is None or baseline is None:
        return dict.fromkeys(names)
    return {name: _diff(baseline, explained, name) for name in names}
