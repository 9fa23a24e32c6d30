"""What spans several tests: areas over budgets, explanations against each other, against people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from services.ice import kernel, paired
from services.ice.explanations import touched
from services.ice.inquiry import Inquiry, Trial
from services.ice.plausibility import average_precision, overlap
from services.ice.report import Area, Comparison, Operator, Plausibility, Test
from shared.job_context import check


def areas(tests: Sequence[Test], budgets: Sequence[float]) -> tuple[Area, ...]:
    """Of each explanation with values under each operator, where there are several budgets."""
    if len(budgets) < 2:
        return ()
    curves: dict[tuple[str, str], list[Test]] = {}
    for test in tests:
        if test.k is not None:
            curves.setdefault((test.explanation, test.operator), []).append(test)
    return tuple(_area(sorted(curve, key=lambda test: test.k or 0)) for curve in curves.values())


def _area(curve: Sequence[Test]) -> Area:
    budgets = [test.k for test in curve if test.k is not None]
    return Area(
        explanation=curve[0].explanation,
        operator=curve[0].operator,
        k_from=budgets[0],
        k_to=budgets[-1],
        win_rate=kernel.area(budgets, [test.win_rate for test in curve]),
        nsr=kernel.area(budgets, [test.nsr for test in curve]),
    )


def comparisons(inquiry: Inquiry) -> tuple[Comparison, ...]:
    """Of every two explanations with values, at each budget, under each operator."""
    return tuple(
        _comparison(inquiry, first, second, operator)
        for first, second in _pairs(inquiry.trials)
        for operator in inquiry.reading.request.operators
    )


def _pairs(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Trial]]:
    for first, second in combinations(trials, 2):
        if first.k is not None and first.k == second.k:
            yield first, second


def _comparison(inquiry: Inquiry, first: Trial, second: Trial, operator: Operator) -> Comparison:
    check()
    scores = inquiry.observed(operator, first), inquiry.observed(operator, second)
    null = inquiry.null(operator, first, inquiry.common_places(first, second))
    found = paired.difference(*scores, null, exact=inquiry.exact(first))
    return Comparison(
        first=first.explanation.name,
        second=second.explanation.name,
        k=first.k or 0.0,
        operator=operator,
        score_difference=scores[0] - scores[1],
        win_rate_difference=found.value,
        low=found.low,
        high=found.high,
        draws=found.draws,
    )


def plausibilities(inquiry: Inquiry) -> tuple[Plausibility, ...]:
    """Of each trial, where people marked a token that the model reads."""
    human = touched(inquiry.reading, inquiry.reading.request.human or ())
    return tuple(_plausibility(trial, human, inquiry) for trial in inquiry.trials if human)


def _plausibility(trial: Trial, human: Sequence[int], inquiry: Inquiry) -> Plausibility:
    found = overlap(trial.rationale, human)
    ranked = trial.explanation.ranked
    return Plausibility(
        explanation=trial.explanation.name,
        k=trial.k,
        human_tokens=len(human),
        iou=found.iou,
        precision=found.precision,
        recall=found.recall,
        f1=found.f1,
        auprc=None if ranked is None else average_precision(ranked, human),
        prevalence=len(human) / len(inquiry.reading.eligible),
    )
