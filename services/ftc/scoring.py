"""Answers against targets: satisfaction of each counterfactual, its null, and the baselines.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2 and Table 2. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.hypotheses import FtcHypotheses, target
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
from shared.errors import DegenerateInput
from shared.estimates import histogram_of
from shared.statistics import ranks


def distribution(row: Floats) -> FtcDistribution:
    """(3,) probabilities as a message."""
    return FtcDistribution(**dict(zip(LABELS, row.tolist(), strict=True)))


def targets_of(request: FtcRequest, derived: FtcHypotheses) -> Floats:
    """(N, 3): the logic's own, or the distributions that were sent."""
    rows = []
    for hypothesis in derived.hypotheses:
        sent = request.targets.get(hypothesis.kind)
        if sent is not None:
            row = np.array([sent.entailment, sent.neutral, sent.contradiction])
            rows.append(row / row.sum())
        else:
            rows.append(np.eye(3)[LABELS.index(target(derived.label, hypothesis.kind))])
    return np.array(rows).reshape(-1, 3)


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
        null=_null(request, answers, targets, collected.nulls[place]),
    )


def _null(request: FtcRequest, answers: Floats, targets: Floats, null: Floats) -> FtcNull | None:
    if not len(null):
        return None
    observed = float(kernel.w_normalized(answers, targets, request.alpha)[0])
    scores = _null_scores(request, null, targets[0])
    win_rate, p_value = _rank(observed, scores)
    return FtcNull(
        draws=scores.size,
        observed=observed,
        mean=float(np.mean(scores)),
        sd=float(np.std(scores, ddof=1)) if scores.size > 1 else None,
        win_rate=win_rate,
        p_value=p_value,
        histogram=histogram_of(scores),
    )


def _rank(observed: float, scores: Floats) -> tuple[float, float]:
    """(win rate, one-sided p) among at least one random substitution."""
    win_rate, p_value = ranks.win_rate(observed, scores), ranks.p_value(observed, scores)
    if win_rate is None or p_value is None:
        raise DegenerateInput("there is no random substitution to compare with")
    return win_rate, p_value


def _null_scores(request: FtcRequest, null: Floats, target_row: Floats) -> Floats:
    return kernel.w_normalized(null, np.tile(target_row, (len(null), 1)), request.alpha)


def components_of(made: Sequence[FtcCounterfactual]) -> FtcComponents:
    """Means over the counterfactuals: of [A] and [B] for neutral, of the only one else."""
    found = [one.satisfaction for one in made]
    if not found:
        return FtcComponents(delta=None, k=None, w=None, w_normalized=None, geometric_mean_p=None)
    k = float(np.mean([one.k for one in found]))
    return FtcComponents(
        delta=float(np.mean([one.delta for one in found])),
        k=k,
        w=float(np.mean([one.w for one in found])),
        w_normalized=float(np.mean([one.w_normalized for one in found])),
        geometric_mean_p=kernel.geometric_mean_p(k),
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
    rates = [_rank(*one)[0] for one in nulls]
    return FtcBaselines(
        always_entailment=satisfaction(request, np.tile(np.eye(3)[0], (count, 1)), targets),
        uniform=satisfaction(request, np.full((count, 3), 1 / 3), targets),
        unedited=None
        if original is None
        else satisfaction(request, np.tile(original, (count, 1)), targets),
        blank_premise=None if blank is None else satisfaction(request, blank, targets),
        null_win_rate=float(np.mean(rates)) if rates else None,
        null_p_value=ranks.p_value(
            float(np.mean([score for score, _ in nulls])),
            np.mean([null[:together] for _, null in nulls], axis=0),
        )
        if nulls
        else None,
    )
