"""How near people come to themselves: what no judge can be expected to exceed.

A judge that *is* the distribution that people draw from does not agree fully with the few who were
asked. `high` is what it would earn, `low` what one half of them earns before the other (for
correlations stepped up to all by Spearman-Brown: Spearman 1910, Brown 1910). Pure; None: undefined.

Deviates: specified as the agreement of a resample of p-hat with p-hat. A resample of five votes
lies nearer to them than the truth does: before judges who are the truth (Dirichlet(1/2)) it gives
normalised .82 of the distance, .71 of the Jensen-Shannon distance. Draws of the truth given the
votes, under Jeffreys' prior, give 1.00 of both. Ratings and rankings, and annotators who chose
several options, are resampled as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr
from scipy.stats import rankdata

from services.hlv import kernel
from services.hlv.contract import HlvRequest
from services.hlv.kernel import Floats
from services.hlv.report import HlvCeiling, HlvCeilingOf, HlvMeasured
from services.hlv.scoring import BASES, HumanGold, rank_positions, row
from shared.statistics.agreement import spearman
from shared.statistics.seeds import generator

RESAMPLES = 1_000
NEAR_CHANCE = 0.05  # of the metric's unit; of errors that share of the scale
JEFFREYS = 0.5
MOST_VOTES = 10**8  # more have no noise to speak of, and the hypergeometric draws end there
CORRELATIONS = ("tau_b", "tau_a", "spearman")
DIVERGENCES = ("jsd", "tvd")
ERRORS = ("rmse", "mae")
ONE = "one annotator has no other to agree with"
NO_COUNTS = "the votes are no counts: how many people were asked is not known"

Agreement = Callable[[Floats, Floats], Floats]  # (R, n) and (R, n) or (n,) → (R,)


@dataclass(frozen=True)
class Annotators:
    """What the truth may be given what people said, and halves of them; (R, n) each, of values (or
    ranks, where they were asked for these)."""

    count: int
    truths: Floats
    halves: tuple[Floats, Floats] | None


def ceiling_of(request: HlvRequest, gold: HumanGold, uniform: HlvMeasured) -> HlvCeiling | str:
    """Of every metric; a reason where there is none. uniform: the judge that knows nothing."""
    found = _annotators(request)
    if isinstance(found, str):
        return found
    metrics = {
        name: _ceiling(name, agreement, gold, found, uniform).model_copy(
            update={"least_room": NEAR_CHANCE * _unit(request, name)}
        )
        for name, agreement in _available_metrics(request, gold).items()
    }
    return HlvCeiling(annotators=found.count, resamples=RESAMPLES, metrics=metrics)


def normalize(measured: HlvMeasured, ceiling: HlvCeiling) -> dict[str, float | None]:
    """metric → where a judge stands between chance, 0, and people, 1."""
    return {name: _share(_value(measured, name), one) for name, one in ceiling.metrics.items()}


def _share(value: float | None, one: HlvCeilingOf) -> float | None:
    """None where people themselves are hardly better than chance."""
    sign = 1 if one.higher_is_better else -1
    if value is None or sign * (one.high - one.chance) <= one.least_room:
        return None
    return (value - one.chance) / (one.high - one.chance)


def _unit(request: HlvRequest, name: str) -> float:
    scale = request.human.scale
    return scale.high - scale.low if name in ERRORS else 1.0


def _value(measured: HlvMeasured, name: str) -> float | None:
    part = (
        measured
        if name in CORRELATIONS
        else (measured.distribution if name in DIVERGENCES else measured.scalar)
    )
    found: float | None = None if part is None else getattr(part, name)
    return found


def _ceiling(
    name: str, agreement: Agreement, gold: HumanGold, found: Annotators, uniform: HlvMeasured
) -> HlvCeilingOf:
    whole = gold.ranks if gold.values is None else gold.values
    correlation = name in CORRELATIONS
    low = None
    if found.halves is not None:
        low = float(np.mean(agreement(*found.halves)))
        low = 2 * low / (1 + low) if correlation and low > 0 else low
    return HlvCeilingOf(
        high=float(np.mean(agreement(found.truths, whole))),
        low=low,
        chance=0.0 if correlation else _value(uniform, name) or 0.0,
        least_room=0.0,
        higher_is_better=correlation,
    )


def _annotators(request: HlvRequest) -> Annotators | str:
    keys = tuple(option.key for option in request.options)
    human = request.human
    random = generator(request.seed, "ceiling", [sorted(one.items()) for one in human.sources])
    if human.votes is not None:
        votes = np.array([row(source, keys) for source in human.sources])
        if votes.max() > 1 or len(votes) == 1 or (votes.sum(axis=1) == 1).all():
            return _of_counts(votes, random)
        said = votes / votes.sum(axis=1, keepdims=True)
    elif human.ratings is not None:
        said = np.array([row(source, keys) for source in human.sources])
    else:
        said = np.array([rank_positions(source, keys) for source in human.sources])
    return _resample_rows(said, random)


def _of_counts(votes: Floats, random: np.random.Generator) -> Annotators | str:
    """votes: (S, n) counts; of single votes, together."""
    counts = np.rint(votes)
    if np.abs(votes - counts).max() > 1e-9:
        return NO_COUNTS
    if (counts.sum(axis=1) == 1).all():
        counts = counts.sum(axis=0, keepdims=True)
    people = int(counts.sum())
    if people == 1:
        return ONE
    truths = np.mean([random.dirichlet(one + JEFFREYS, size=RESAMPLES) for one in counts], axis=0)
    several = [one for one in counts if one.sum() > 1]
    parted = several and people <= MOST_VOTES
    return Annotators(people, truths, _split_counts(several, random) if parted else None)


def _split_counts(counts: list[Floats], random: np.random.Generator) -> tuple[Floats, Floats]:
    """The shares of one half of each source's votes, and of the other."""
    shares = []
    for one in counts:
        whole = one.astype(np.int64)
        half = random.multivariate_hypergeometric(
            whole, int(whole.sum()) // 2, size=RESAMPLES, method="marginals"
        )
        rest = whole - half
        shares.append([part / part.sum(axis=1, keepdims=True) for part in (half, rest)])
    first, second = np.mean(np.array(shares), axis=0)
    return first, second


def _resample_rows(said: Floats, random: np.random.Generator) -> Annotators | str:
    """said: (S, n), a row an annotator."""
    people = len(said)
    if people == 1:
        return ONE
    drawn = random.integers(people, size=(RESAMPLES, people))
    order = np.argsort(random.random((RESAMPLES, people)), axis=1)
    half = people // 2
    halves = (said[order[:, :half]].mean(axis=1), said[order[:, half:]].mean(axis=1))
    return Annotators(people, said[drawn].mean(axis=1), halves)


def _available_metrics(request: HlvRequest, gold: HumanGold) -> dict[str, Agreement]:
    """The metrics that the humans' kind of answer has."""
    better = gold.kind != "ranking"

    def of_ranks(kendall: Agreement) -> Agreement:
        return lambda a, b: kendall(ranks_of(a, better), ranks_of(b, better))

    def rho(x: Floats, y: Floats) -> Floats:
        return np.nan_to_num(spearman(x, y))  # 0 where a side ties all

    found = {"tau_b": of_ranks(tau_b), "tau_a": of_ranks(tau_a), "spearman": of_ranks(rho)}
    if gold.kind == "distribution":
        base = BASES[request.log_base]
        found |= {"jsd": lambda a, b: jensen_shannon(a, b, base), "tvd": kernel.total_variation}
    elif gold.kind == "scores":
        found |= {"rmse": kernel.root_mean_square, "mae": kernel.mean_absolute}
    return found


def ranks_of(values: Floats, higher_is_better: bool) -> Floats:
    """Fractional ranks of each row; equal to 1e-9 means tied."""
    rounded = np.round(values, kernel.ROUNDED)
    return np.asarray(rankdata(-rounded if higher_is_better else rounded, axis=-1))


def tau_a(x: Floats, y: Floats) -> Floats:
    """Eq. 13 row by row."""
    of_x, of_y = _pairwise_sign(x), _pairwise_sign(y)
    return np.asarray((of_x * of_y).sum(axis=-1) / of_x.shape[-1])


def tau_b(x: Floats, y: Floats) -> Floats:
    """Row by row; 0 where a side ties all, as it counts in the batch report."""
    of_x, of_y = _pairwise_sign(x), _pairwise_sign(y)
    untied = np.abs(of_x).sum(axis=-1) * np.abs(of_y).sum(axis=-1)
    return np.asarray((of_x * of_y).sum(axis=-1) / np.sqrt(np.where(untied > 0, untied, 1)))


def _pairwise_sign(ranks: Floats) -> Floats:
    """(…, pairs) which of two options stands before the other."""
    first, second = np.triu_indices(ranks.shape[-1], k=1)
    return np.sign(ranks[..., first] - ranks[..., second])


def jensen_shannon(p: Floats, q: Floats, base: float) -> Floats:
    """Eq. 16 row by row."""
    middle = (p + q) / 2
    both = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / 2
    return np.asarray(np.sqrt(np.maximum(both, 0) / np.log(base)))
