"""Estimates how well a judge can agree with people, given that people disagree with one another.

`high` is the agreement of a judge whose answer is the distribution of people's answers. The
distribution is sampled given the votes, under Jeffreys' prior. Ratings, rankings and annotators
who chose several options are resampled instead. `low` is the agreement between two halves of
the people. The Spearman-Brown formula extrapolates correlations to all people (Spearman 1910,
Brown 1910). Pure functions that return None for an undefined value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from services.hlv import kernel
from services.hlv.contract import HlvRequest
from services.hlv.kernel import Floats
from services.hlv.report import HlvCeiling, HlvCeilingOf, HlvMeasured
from services.hlv.scoring import BASES, CORRELATIONS, ERRORS, HumanGold, rank_positions, row
from shared.statistics.agreement import spearman
from shared.statistics.seeds import generator

RESAMPLES = 1_000
NEAR_CHANCE = 0.05  # in units of the metric; for errors a share of the scale
JEFFREYS = 0.5
MOST_VOTES = 10**8  # more votes have hardly any noise, and exceed the hypergeometric draws
ONE = "there is only one annotator, so agreement between annotators is undefined"
NO_COUNTS = "the votes are not counts, so the number of people is unknown"

Agreement = Callable[[Floats, Floats], Floats]  # (R, n) and (R, n) or (n,) → (R,)


@dataclass(frozen=True)
class Annotators:
    """Random versions of people's answers: R draws of the true answers, and R splits of the people
    into halves."""

    count: int
    truths: Floats
    halves: tuple[Floats, Floats] | None


def ceiling_of(request: HlvRequest, gold: HumanGold, uniform: HlvMeasured) -> HlvCeiling | str:
    """Return the ceiling of every metric (the agreement that a judge can reach, given that people
    disagree), or the reason why there is no ceiling."""
    annotators = _annotators(request)
    if isinstance(annotators, str):
        return annotators
    people = gold.ranks if gold.values is None else gold.values
    scale = request.human.scale
    metrics = {}
    for name, agreement in _available_metrics(request, gold).items():
        correlation, low = name in CORRELATIONS, None
        if annotators.halves is not None:
            low = float(np.mean(agreement(*annotators.halves)))
            low = 2 * low / (1 + low) if correlation and low > 0 else low
        metrics[name] = HlvCeilingOf(
            high=float(np.mean(agreement(annotators.truths, people))),
            low=low,
            chance=0.0 if correlation else _value(uniform, name) or 0.0,
            least_room=NEAR_CHANCE * (scale.high - scale.low if name in ERRORS else 1.0),
            higher_is_better=correlation,
        )
    return HlvCeiling(annotators=annotators.count, resamples=RESAMPLES, metrics=metrics)


def normalize(measured: HlvMeasured, ceiling: HlvCeiling) -> dict[str, float | None]:
    """Return a judge's position between chance (0) and the human ceiling (1) for each metric. It is
    None if the people's agreement is hardly better than chance."""
    shares: dict[str, float | None] = {}
    for name, metric in ceiling.metrics.items():
        value, room = _value(measured, name), metric.high - metric.chance
        near_chance = (room if metric.higher_is_better else -room) <= metric.least_room
        shares[name] = None if value is None or near_chance else (value - metric.chance) / room
    return shares


def _value(measured: HlvMeasured, name: str) -> float | None:
    if name in CORRELATIONS:
        block: object = measured
    else:
        block = measured.scalar if name in ERRORS else measured.distribution
    value: float | None = getattr(block, name, None)
    return value


def _annotators(request: HlvRequest) -> Annotators | str:
    keys = tuple(option.key for option in request.options)
    human = request.human
    random = generator(
        request.seed, "ceiling", [sorted(source.items()) for source in human.sources]
    )
    if human.votes is not None:
        votes = np.array([row(source, keys) for source in human.sources])
        if votes.max() > 1 or len(votes) == 1 or (votes.sum(axis=1) == 1).all():
            return _of_counts(votes, random)
        answers = votes / votes.sum(axis=1, keepdims=True)
    elif human.ratings is not None:
        answers = np.array([row(source, keys) for source in human.sources])
    else:
        answers = np.array([rank_positions(source, keys) for source in human.sources])
    return _resample_rows(answers, random)


def _of_counts(votes: Floats, random: np.random.Generator) -> Annotators | str:
    """Estimate the annotators from (S, n) vote counts of S sources, or return a reason code. If
    each source has a single vote, the counts are added up."""
    counts = np.rint(votes)
    if np.abs(votes - counts).max() > 1e-9:
        return NO_COUNTS
    if (counts.sum(axis=1) == 1).all():
        counts = counts.sum(axis=0, keepdims=True)
    people = int(counts.sum())
    if people == 1:
        return ONE
    truths = np.mean([random.dirichlet(row + JEFFREYS, size=RESAMPLES) for row in counts], axis=0)
    several = [row for row in counts if row.sum() > 1]
    can_split = several and people <= MOST_VOTES
    return Annotators(people, truths, _split_counts(several, random) if can_split else None)


def _split_counts(counts: list[Floats], random: np.random.Generator) -> tuple[Floats, Floats]:
    """Split each source's votes into two halves, and return the shares of the options in both."""
    shares = []
    for source in counts:
        votes = source.astype(np.int64)
        half = random.multivariate_hypergeometric(
            votes, int(votes.sum()) // 2, size=RESAMPLES, method="marginals"
        )
        shares.append([part / part.sum(axis=1, keepdims=True) for part in (half, votes - half)])
    first, second = np.mean(np.array(shares), axis=0)
    return first, second


def _resample_rows(answers: Floats, random: np.random.Generator) -> Annotators | str:
    """Return the mean answers of resampled annotators, or a reason if there is only one annotator.
    `answers` has shape (S, n), with a row per annotator."""
    people = len(answers)
    if people == 1:
        return ONE
    resamples = random.integers(people, size=(RESAMPLES, people))
    order = np.argsort(random.random((RESAMPLES, people)), axis=1)
    half = people // 2
    halves = (answers[order[:, :half]].mean(axis=1), answers[order[:, half:]].mean(axis=1))
    return Annotators(people, answers[resamples].mean(axis=1), halves)


def _available_metrics(request: HlvRequest, gold: HumanGold) -> dict[str, Agreement]:
    better = gold.kind != "ranking"

    def of_ranks(agreement: Agreement) -> Agreement:
        return lambda a, b: agreement(
            kernel.fractional_ranks(a, higher_is_better=better),
            kernel.fractional_ranks(b, higher_is_better=better),
        )

    def rho(x: Floats, y: Floats) -> Floats:
        return np.nan_to_num(spearman(x, y))  # 0 where a side is constant

    metrics = {"tau_b": of_ranks(tau_b), "tau_a": of_ranks(tau_a), "spearman": of_ranks(rho)}
    if gold.kind == "distribution":
        base = BASES[request.log_base]
        metrics |= {
            "jsd": lambda a, b: kernel.jensen_shannon(a, b, base=base),
            "tvd": kernel.total_variation,
        }
    elif gold.kind == "scores":
        metrics |= {"rmse": kernel.root_mean_square, "mae": kernel.mean_absolute}
    return metrics


def tau_a(x: Floats, y: Floats) -> Floats:
    """Return Kendall's tau-a for each row."""
    of_x, of_y = _pairwise_sign(x), _pairwise_sign(y)
    return np.asarray((of_x * of_y).sum(axis=-1) / of_x.shape[-1])


def tau_b(x: Floats, y: Floats) -> Floats:
    """Return Kendall's tau-b for each row, or 0 if one side is constant, as in the batch report."""
    of_x, of_y = _pairwise_sign(x), _pairwise_sign(y)
    untied = np.abs(of_x).sum(axis=-1) * np.abs(of_y).sum(axis=-1)
    return np.asarray((of_x * of_y).sum(axis=-1) / np.sqrt(np.where(untied > 0, untied, 1)))


def _pairwise_sign(ranks: Floats) -> Floats:
    """Return the signs of the rank differences for all pairs of options, along the last axis."""
    first, second = np.triu_indices(ranks.shape[-1], k=1)
    return np.sign(ranks[..., first] - ranks[..., second])
