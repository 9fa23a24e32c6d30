"""Compares answers with targets: scores of each counterfactual, its null distribution, and
baselines. Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2 and Table 2. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from services.ftc import kernel
from services.ftc.contract import FtcRequest
from services.ftc.hypotheses import RandomPhrases, rule_of
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
from shared.statistics import ranks


def distribution(row: Floats) -> FtcDistribution:
    """Convert three probabilities to a message."""
    return FtcDistribution(**dict(zip(LABELS, row.tolist(), strict=True)))


def satisfaction(request: FtcRequest, answers: Floats, targets: Floats) -> FtcSatisfaction:
    """Return the mean scores of N answers against their targets. Both arrays have shape (N, 3)."""
    k = float(np.mean(kernel.k(answers, targets, request.epsilon)))
    return FtcSatisfaction(
        delta=float(np.mean(kernel.delta(answers, targets))),
        k=k,
        w=float(np.mean(kernel.w(answers, targets, request.alpha))),
        w_normalized=float(np.mean(kernel.w_normalized(answers, targets, request.alpha))),
        geometric_mean_p=kernel.geometric_mean_p(k),
    )


def counterfactual(
    request: FtcRequest, collected: FtcCollected, targets: Floats, index: int
) -> FtcCounterfactual:
    hypothesis = collected.derived.hypotheses[index]
    targets = targets[[index]]
    answers, blank = collected.answers[[index]], collected.blank
    likeliest = np.flatnonzero(answers[0] >= answers[0].max() - ranks.TIE)
    return FtcCounterfactual(
        kind=hypothesis.kind,
        text=hypothesis.text,
        target=distribution(targets[0]),
        answer=distribution(answers[0]),
        predicted=LABELS[int(likeliest[0])] if len(likeliest) == 1 else None,
        satisfaction=satisfaction(request, answers, targets),
        floored=bool(kernel.floored(answers, targets, request.epsilon)[0]),
        blank_premise=None if blank is None else satisfaction(request, blank[[index]], targets),
        null=_null(
            request,
            float(kernel.w_normalized(answers, targets, request.alpha)[0]),
            collected.nulls[index],
            targets[0],
            hypothesis.random,
        ),
    )


def _null(
    request: FtcRequest, observed: float, drawn: Floats, target: Floats, random: RandomPhrases
) -> FtcNull | None:
    """Return the null distribution from random phrases, or None if there are none. `observed` is
    the normalised W of the counterfactual. `drawn` has the (M, 3) answers to M random phrases."""
    scores = _null_scores(request, drawn, target)
    if not scores.size:
        return None
    rule = rule_of(request, random.placements)
    p_value, p_anti = rule.tails(observed, scores) or (1.0, 1.0)
    first = scores[: rule.first]
    return FtcNull(
        kind=random.kind,
        placements=random.placements,
        draws=scores.size,
        win_rate_draws=first.size,
        exact=scores.size == random.placements,
        premise_overlap=random.premise_overlap,
        observed=observed,
        win_rate=ranks.win_rate(observed, first) or 0.0,
        p_value=p_value,
        p_anti=p_anti,
        p_two_sided=ranks.two_sided(p_value, p_anti),
        attainable_p=rule.attainable_p,
        ties=ranks.tie_rate(observed, scores),
        **ranks.null_summary(scores),
        satisfaction=satisfaction(request, drawn, np.tile(target, (len(drawn), 1))),
    )


def _null_scores(request: FtcRequest, null: Floats, target_row: Floats) -> Floats:
    return kernel.w_normalized(null, np.tile(target_row, (len(null), 1)), request.alpha)


def components_of(counterfactuals: Sequence[FtcCounterfactual]) -> FtcComponents:
    """Return the means over the counterfactuals. A neutral label has two counterfactuals, x[A] and
    x[B]; other labels have one."""
    satisfactions = [item.satisfaction for item in counterfactuals]
    if not satisfactions:
        return FtcComponents(delta=None, k=None, w=None, w_normalized=None, geometric_mean_p=None)
    k = float(np.mean([item.k for item in satisfactions]))
    nulls = [item.null for item in counterfactuals if item.null is not None]
    return FtcComponents(
        delta=float(np.mean([item.delta for item in satisfactions])),
        k=k,
        w=float(np.mean([item.w for item in satisfactions])),
        w_normalized=float(np.mean([item.w_normalized for item in satisfactions])),
        geometric_mean_p=kernel.geometric_mean_p(k),
        gain=float(np.mean([null.observed - null.mean for null in nulls])) if nulls else None,
    )


def baselines(request: FtcRequest, collected: FtcCollected, targets: Floats) -> FtcBaselines:
    count, original, blank = len(targets), collected.original, collected.blank
    return FtcBaselines(
        always_entailment=satisfaction(request, np.tile(np.eye(3)[0], (count, 1)), targets),
        uniform=satisfaction(request, np.full((count, 3), 1 / 3), targets),
        unedited=None
        if original is None
        else satisfaction(request, np.tile(original, (count, 1)), targets),
        blank_premise=None if blank is None else satisfaction(request, blank, targets),
        **_against_nulls(request, collected, targets),
    )


def _against_nulls(
    request: FtcRequest, collected: FtcCollected, targets: Floats
) -> dict[str, float | None]:
    """Compare the counterfactuals' mean score with the means for random phrases. Return the win
    rate, the p-value and the smallest possible p-value, each None without random phrases.

    Each mean takes one phrase per counterfactual. Counterfactuals without phrases are left out."""
    observed = kernel.w_normalized(collected.answers, targets, request.alpha)
    nulls = [
        (
            rule_of(request, hypothesis.random.placements),
            float(score),
            _null_scores(request, null, row),
        )
        for hypothesis, score, null, row in zip(
            collected.derived.hypotheses, observed, collected.nulls, targets, strict=True
        )
        if len(null)
    ]
    if not nulls:
        return dict.fromkeys(("null_win_rate", "null_p_value", "null_attainable_p"))
    rates = [ranks.win_rate(score, null[: rule.first]) or 0.0 for rule, score, null in nulls]
    fewest = min((rule for rule, _, _ in nulls), key=lambda rule: rule.most)
    together = min(null.size for _, _, null in nulls)
    mean = np.mean([null[:together] for _, _, null in nulls], axis=0)
    mean_score = float(np.mean([score for _, score, _ in nulls]))
    p_value, _ = fewest.tails(mean_score, mean) or (1.0, 1.0)
    return {
        "null_win_rate": float(np.mean(rates)),
        "null_p_value": p_value,
        "null_attainable_p": fewest.attainable_p,
    }
