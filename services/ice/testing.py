"""From scores to tests: each explanation at each budget under each operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.ice import kernel
from services.ice.inquiry import Inquiry, Trial
from services.ice.kernel import Floats
from services.ice.report import Null, Scores, Test, TestedOperator
from services.ice.sequential import Tails, read_tails
from shared.counting import histogram_of
from shared.job_context import checking


@dataclass(frozen=True)
class Compared:
    """What a test compares: the rationale's statistic with that of random rationales."""

    trial: Trial
    operator: TestedOperator
    observed: float | None  # None: the statistic is undefined
    null: Floats  # (M,)


def compared(inquiry: Inquiry) -> list[Compared]:
    """By trial, then by operator; then their mean, where the variant has one and there are two."""
    found = []
    for trial in checking(inquiry.trials):
        by_operator = [
            _of_operator(inquiry, trial, operator) for operator in inquiry.reading.request.operators
        ]
        found += by_operator
        if inquiry.reading.variant.mean_of_operators and len(by_operator) > 1:
            found.append(_mean(trial, by_operator))
    return found


def _of_operator(inquiry: Inquiry, trial: Trial, operator: TestedOperator) -> Compared:
    if operator == "mean":
        raise AssertionError("the mean is no operator of a request")
    null = inquiry.null(operator, trial, inquiry.null_places(trial))
    scores = np.array([inquiry.observed(operator, trial), *null])
    values = inquiry.reading.variant.statistic(
        scores, inquiry.reading.full, inquiry.empty(operator)
    )
    if values is None:
        return Compared(trial, operator, None, np.empty(0))
    return Compared(trial, operator, float(values[0]), values[1:])


def _mean(trial: Trial, by_operator: Sequence[Compared]) -> Compared:
    """Algorithm 1, lines 1 and 4."""
    observed = [one.observed for one in by_operator if one.observed is not None]
    if len(observed) < len(by_operator):
        return Compared(trial, "mean", None, np.empty(0))
    null = np.mean([one.null for one in by_operator], axis=0)
    return Compared(trial, "mean", float(np.mean(observed)), null)


def test_of(inquiry: Inquiry, one: Compared) -> Test:
    """The numbers of one test."""
    if one.observed is None or one.null.size == 0:
        return _undefined(inquiry, one)
    tails = read_tails(inquiry, one.trial, one.observed, one.null)
    observed, null = one.observed, one.null[: tails.draws]
    row, tie = inquiry.reading.variant, inquiry.reading.variant.tie
    effect = kernel.effect(observed, null, row.ddof)
    return Test(
        **_named(inquiry, one),
        win_rate=kernel.win_rate(observed, null, tie),
        strict_win_rate=kernel.strict_win_rate(observed, null, tie),
        tie_rate=kernel.tie_rate(observed, null, tie),
        effect=row.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=kernel.two_sided(tails.above, tails.below),
        verdict=kernel.verdict(tails.above, tails.below, inquiry.reading.request.alpha),
        stopped_early=tails.ended,
        null=_null(inquiry, one.trial, null, tails),
    )


def _undefined(inquiry: Inquiry, one: Compared) -> Test:
    exact = inquiry.exact(one.trial)
    return Test(
        **_named(inquiry, one),
        win_rate=None,
        strict_win_rate=None,
        tie_rate=None,
        effect=None,
        p_value=None,
        p_anti=None,
        p_two_sided=None,
        verdict=None,
        stopped_early=False,
        null=Null(draws=0, exact=exact, sequential=False, mean=None, sd=None, deciles=()),
    )


def _named(inquiry: Inquiry, one: Compared) -> dict[str, object]:
    scores = None
    nsr = one.observed
    if one.operator != "mean":
        scores = Scores(
            full=inquiry.reading.full,
            rationale=inquiry.observed(one.operator, one.trial),
            empty=inquiry.empty(one.operator),
        )
        if inquiry.reading.variant.nsr_beside:
            epsilon = inquiry.reading.request.nsr_epsilon
            nsr = kernel.nsr(scores.rationale, scores.full, scores.empty, epsilon)
    return {
        "explanation": one.trial.explanation.name,
        "k": one.trial.k,
        "tokens": len(one.trial.rationale),
        "operator": one.operator,
        "nsr": nsr,
        "scores": scores,
    }


def _null(inquiry: Inquiry, trial: Trial, null: Floats, tails: Tails) -> Null:
    return Null(
        draws=tails.draws,
        exact=inquiry.exact(trial),
        sequential=inquiry.reading.request.adaptive is not None and not inquiry.exact(trial),
        mean=float(np.mean(null)),
        sd=kernel.null_sd(null, inquiry.reading.variant.ddof),
        deciles=kernel.deciles(null),
        histogram=histogram_of(null),
    )
