"""Answers against targets: satisfaction of each counterfactual, its null, and the baselines.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2 and Table 2. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.hypotheses import LEAST_RIVALS, RandomPhrases, draw_count, stages_of
from services.ftc.kernel import Floats
from services.ftc.model_calls import FtcCollected
from services.ftc.report import (
    LABELS,
    FtcBaselines,
    FtcComponents,
    FtcCounterfactual,
    FtcDistribution,
    FtcNull,
    FtcSatisfaction,
)
from shared.contracts.errors import DegenerateInput
from shared.statistics import ranks


def distribution(row: Floats) -> FtcDistribution:
    """(3,) probabilities as a message."""
    return FtcDistribution(**dict(zip(LABELS, row.tolist(), strict=True)))


def satisfaction(request: FtcRequest, answers: Floats, targets: Floats) -> FtcSatisfaction:
    """Means over the rows, each (N, 3)."""
    k = float(np.mean(kernel.k(answers, targets, request.epsilon)))
    return FtcSatisfaction(
        delta=float(np.mean(kernel.delta(answers, targets))),
        k=k,
        w=float(np.mean(kernel.w(answers, targets, request.alpha))),
        w_normalized=float(np.mean(kernel.w_normalized(answers, targets, request.alpha))),
        geometric_mean_p=kernel.geometric_mean_p(k),
    )


def counterfactual(
    request: FtcRequest, collected: FtcCollected, targets: Floats, place: int
) -> FtcCounterfactual:
    hypothesis = collected.derived.hypotheses[place]
    targets = targets[[place]]
    answers, blank = collected.answers[[place]], collected.blank
    likeliest = np.flatnonzero(answers[0] >= answers[0].max() - ranks.TIE)
    return FtcCounterfactual(
        kind=hypothesis.kind,
        text=hypothesis.text,
        target=distribution(targets[0]),
        answer=distribution(answers[0]),
        predicted=LABELS[int(likeliest[0])] if len(likeliest) == 1 else None,
        satisfaction=satisfaction(request, answers, targets),
        floored=bool(kernel.floored(answers, targets, request.epsilon)[0]),
        blank_premise=None if blank is None else satisfaction(request, blank[[place]], targets),
        null=_null(
            request,
            float(kernel.w_normalized(answers, targets, request.alpha)[0]),
            collected.nulls[place],
            targets[0],
            hypothesis.random,
        ),
    )


def _null(
    request: FtcRequest, observed: float, drawn: Floats, target: Floats, random: RandomPhrases
) -> FtcNull | None:
    """observed: w_normalized of the counterfactual. drawn: (M, 3) answers to the random phrases."""
    scores = _null_scores(request, drawn, target)
    if not scores.size:
        return None
    win_rate, p_value = _rank(request, observed, scores)
    below = ranks.p_anti(observed, first_block(request, scores))
    return FtcNull(
        kind=random.kind,
        placements=random.placements,
        draws=scores.size,
        win_rate_draws=first_block(request, scores).size,
        exact=scores.size == random.placements,
        premise_overlap=random.premise_overlap,
        observed=observed,
        win_rate=win_rate,
        p_value=p_value,
        p_anti=below,
        p_two_sided=ranks.two_sided(p_value, below),
        attainable_p=ranks.attainable_p(min(draw_count(request), random.placements)),
        ties=ranks.tie_rate(observed, scores),
        **ranks.null_summary(scores),
        satisfaction=satisfaction(request, drawn, np.tile(target, (len(drawn), 1))),
    )


def _rank(request: FtcRequest, observed: float, scores: Floats) -> tuple[float, float]:
    """(win rate, one-sided p) among at least one random substitution."""
    win_rate = ranks.win_rate(observed, first_block(request, scores))
    if win_rate is None:
        raise DegenerateInput("there is no random substitution to compare with")
    extreme, stages = ranks.reaching(observed, scores), stages_of(request)
    if stages is None:
        return win_rate, float((1 + np.count_nonzero(extreme)) / (1 + scores.size))
    return win_rate, stages.p_value(extreme)


def first_block(request: FtcRequest, scores: Floats) -> Floats:
    """The draws that the win rate rests on."""
    stages = stages_of(request)
    return scores if stages is None else scores[: stages.first]


def _null_scores(request: FtcRequest, null: Floats, target_row: Floats) -> Floats:
    return kernel.w_normalized(null, np.tile(target_row, (len(null), 1)), request.alpha)


def components_of(made: Sequence[FtcCounterfactual]) -> FtcComponents:
    """Means over the counterfactuals: of [A] and [B] for neutral, of the only one else."""
    found = [one.satisfaction for one in made]
    if not found:
        return FtcComponents(delta=None, k=None, w=None, w_normalized=None, geometric_mean_p=None)
    k = float(np.mean([one.k for one in found]))
    nulls = [one.null for one in made if one.null is not None]
    return FtcComponents(
        delta=float(np.mean([one.delta for one in found])),
        k=k,
        w=float(np.mean([one.w for one in found])),
        w_normalized=float(np.mean([one.w_normalized for one in found])),
        geometric_mean_p=kernel.geometric_mean_p(k),
        gain=float(np.mean([null.observed - null.mean for null in nulls])) if nulls else None,
    )


def baselines(request: FtcRequest, collected: FtcCollected, targets: Floats) -> FtcBaselines:
    count, original, blank = len(targets), collected.original, collected.blank
    observed = kernel.w_normalized(collected.answers, targets, request.alpha)
    nulls = [
        (float(score), _null_scores(request, null, row))
        for score, null, row in zip(observed, collected.nulls, targets, strict=True)
        if len(null)
    ]
    together = min((null.size for _, null in nulls), default=0)
    rates = [_rank(request, *one)[0] for one in nulls]
    return FtcBaselines(
        always_entailment=satisfaction(request, np.tile(np.eye(3)[0], (count, 1)), targets),
        uniform=satisfaction(request, np.full((count, 3), 1 / 3), targets),
        unedited=None
        if original is None
        else satisfaction(request, np.tile(original, (count, 1)), targets),
        blank_premise=None if blank is None else satisfaction(request, blank, targets),
        null_win_rate=float(np.mean(rates)) if rates else None,
        null_p_value=_rank(
            request,
            float(np.mean([score for score, _ in nulls])),
            np.mean([null[:together] for _, null in nulls], axis=0),
        )[1]
        if nulls
        else None,
        null_attainable_p=_attainable(request, collected) if nulls else None,
        **_foreign(request, collected, observed, targets),
    )


def _foreign(
    request: FtcRequest, collected: FtcCollected, observed: Floats, targets: Floats
) -> dict[str, float]:
    """The win rate and p against any phrases, which all counterfactuals have; else nothing."""
    pairs = zip(collected.foreign, targets, strict=True)
    scores = [_null_scores(request, drawn, row) for drawn, row in pairs]
    draws = min((each.size for each in scores), default=0)
    if draws < LEAST_RIVALS:
        return {}
    mean = np.mean([each[:draws] for each in scores], axis=0)
    own = float(np.mean(observed))
    win_rate = ranks.win_rate(own, mean)
    reached = np.count_nonzero(ranks.reaching(own, mean))
    return {"foreign_win_rate": win_rate or 0.0, "foreign_p_value": (1 + reached) / (1 + draws)}


def _attainable(request: FtcRequest, collected: FtcCollected) -> float:
    """Of the mean over the counterfactuals that have a null."""
    drawn = zip(collected.derived.hypotheses, collected.nulls, strict=True)
    placements = [one.random.placements for one, null in drawn if len(null)]
    return ranks.attainable_p(min(draw_count(request), *placements))
