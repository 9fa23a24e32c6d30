"""Compares tests over budgets, between explanations and aspects, and with human annotations.

Two explanations are compared on the same random token sets. The difference of their win rates is,
up to sign, the share of random scores between their scores. Its error is binomial (Wilson 1927).
Plausibility: DeYoung et al., ERASER, ACL 2020, section 4.1 (token IoU, F1, AUPRC). The aspects are
sufficiency and necessity. Their interaction, in log odds, shows if the marked tokens and the rest
are redundant (Grabisch & Roubens 1999).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from services.ice import kernel
from services.ice.experiment import Experiment, Trial
from services.ice.explanations import span_tokens
from services.ice.kernel import Floats
from services.ice.randomization_test import JointTest
from services.ice.report import (
    Aspect,
    IceArea,
    IceCausalReading,
    IceComparison,
    IcePlausibility,
    IceTest,
    Operator,
    Verdict,
)
from shared.queue.job_context import check, check_each
from shared.statistics.ranks import TIE
from shared.statistics.wilson import Z_95, wilson


def areas(tests: Sequence[IceTest], budgets: Sequence[float]) -> tuple[IceArea, ...]:
    """Return the area under each explanation's sufficiency curve over budgets (shares of kept
    tokens), by operator. Return () for fewer than two budgets."""
    if len(budgets) < 2:
        return ()
    curves: dict[tuple[str, str], list[IceTest]] = {}
    for test in tests:
        if test.k is not None and test.aspect == "sufficiency":
            curves.setdefault((test.explanation, test.operator), []).append(test)
    return tuple(map(_area, curves.values()))


def _area(tests: Sequence[IceTest]) -> IceArea:
    curve = sorted(tests, key=lambda test: test.k or 0)
    budgets = [test.k for test in curve if test.k is not None]
    return IceArea(
        explanation=curve[0].explanation,
        operator=curve[0].operator,
        k_from=budgets[0],
        k_to=budgets[-1],
        win_rate=kernel.area(budgets, [test.win_rate for test in curve]),
        nsr=kernel.area(budgets, [test.nsr for test in curve]),
    )


def comparisons(experiment: Experiment) -> tuple[IceComparison, ...]:
    """Compare every two explanations that rank tokens, at each budget (share of tokens kept) and
    for each operator. Explanations that only mark passages are left out."""
    return tuple(
        _comparison(experiment, first, second, operator)
        for first, second in combinations(experiment.trials, 2)
        if first.k is not None and first.k == second.k
        for operator in experiment.tokenized.request.options.operators
    )


def _comparison(
    experiment: Experiment, first: Trial, second: Trial, operator: Operator
) -> IceComparison:
    check()
    scores = [experiment.observed(operator, trial) or 0.0 for trial in (first, second)]
    null = experiment.null(operator, first, experiment.common_positions(first, second))
    gap = difference(scores[0], scores[1], null, exact=experiment.exact(first))
    return IceComparison(
        first=first.explanation.name,
        second=second.explanation.name,
        k=first.k or 0.0,
        operator=operator,
        score_difference=scores[0] - scores[1],
        win_rate_difference=gap.value,
        low=gap.low,
        high=gap.high,
        draws=gap.draws,
    )


def plausibilities(experiment: Experiment) -> tuple[IcePlausibility, ...]:
    """Compare each tested set of tokens with the tokens that people marked. Return an empty tuple
    if the model reads none of the marked tokens."""
    human = span_tokens(experiment.tokenized, experiment.tokenized.request.human or ())
    return tuple(_plausibility(trial, human, experiment) for trial in experiment.trials if human)


def _plausibility(trial: Trial, human: Sequence[int], experiment: Experiment) -> IcePlausibility:
    ranked = trial.explanation.ranking_values
    return IcePlausibility(
        explanation=trial.explanation.name,
        k=trial.k,
        human_tokens=len(human),
        **vars(overlap(trial.rationale, human)),
        auprc=None if ranked is None else average_precision(ranked, human),
        prevalence=len(human) / len(experiment.tokenized.eligible),
    )


@dataclass(frozen=True)
class Difference:
    """A difference of win rates, first - second, with its 95 % interval over random sets."""

    value: float | None
    low: float | None
    high: float | None
    draws: int


def difference(first: float, second: float, null: Floats, *, exact: bool) -> Difference:
    """Return the win rate of `first` minus that of `second`, in [-1, 1], with its interval.
    `null` holds the scores of the random token sets that both are compared with. With
    `exact`, `null` covers all possible sets, so the difference has no sampling error."""
    if null.size == 0:
        return Difference(None, None, None, 0)
    between = float(np.mean(_wins(first, null) - _wins(second, null)))
    if exact:
        return Difference(between, between, between, null.size)
    low, high = wilson(abs(between), null.size, Z_95)
    if first < second:
        low, high = -high, -low
    if abs(first - second) <= TIE:
        low, high = 0.0, 0.0  # the same score beats the same draws
    return Difference(between, low, high, null.size)


def _wins(score: float, null: Floats) -> Floats:
    """Return one value per random draw: 1 if the score beats the draw, 1/2 for a tie, else 0."""
    return np.where(null < score - TIE, 1.0, np.where(null <= score + TIE, 0.5, 0.0))


@dataclass(frozen=True)
class Overlap:
    """The overlap of two sets of tokens. All values are in [0, 1]; higher means more alike."""

    iou: float
    precision: float
    recall: float
    f1: float


def overlap(rationale: Collection[int], human: Collection[int]) -> Overlap:
    """Return the overlap of an explanation's tokens with the tokens that people marked. Both sets
    must not be empty."""
    both = len(set(rationale) & set(human))
    sizes = len(rationale) + len(human)
    return Overlap(
        iou=both / (sizes - both),
        precision=both / len(rationale),
        recall=both / len(human),
        f1=2 * both / sizes,
    )


def average_precision(values: Floats, human: Iterable[int]) -> float:
    """Return the average precision (AUPRC) of token values for the tokens that people marked, in
    [0, 1]. The value expected by chance is the share of marked tokens. Tokens with equal values
    share one threshold, so their order does not matter."""
    marked = np.zeros(values.size, dtype=bool)
    marked[list(human)] = True
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(marked[order])
    last = np.append(np.flatnonzero(np.diff(values[order])), values.size - 1)  # of each threshold
    precision = hits[last] / (last + 1)
    recall = hits[last] / hits[-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


ROUNDING = 1e-9  # of sums of four log odds


def causal_readings(
    experiment: Experiment, tests: Sequence[IceTest], joint_tests: Mapping[str, JointTest]
) -> tuple[IceCausalReading, ...]:
    """Interpret the tests of sufficiency and necessity of each explanation together, for each
    budget and operator."""
    request = experiment.tokenized.request
    if "necessity" not in request.options.aspects:
        return ()
    verdicts = {(t.explanation, t.k, t.operator, t.aspect): t.verdict for t in tests}
    readings = []
    for trial in check_each(experiment.trials):
        for operator in request.options.operators:
            sides = [
                verdicts[trial.explanation.name, trial.k, operator, aspect]
                for aspect in request.options.aspects
            ]
            joint = joint_tests.get(trial.explanation.name)
            readings.append(_reading(experiment, trial, operator, sides, joint))
    return tuple(readings)


def undefined_interactions(experiment: Experiment) -> Iterator[str]:
    """Yield a warning for each operator for which the interaction is undefined."""
    request = experiment.tokenized.request
    for operator in request.options.operators if "necessity" in request.options.aspects else ():
        if experiment.empty(operator) is None:
            yield (
                f"{operator}: the interaction is null, because the model cannot read an empty "
                "text; thus the readings `redundant` and `partner` are not possible"
            )


def _reading(
    experiment: Experiment,
    trial: Trial,
    operator: Operator,
    sides: Sequence[Verdict | None],
    joint: JointTest | None,
) -> IceCausalReading:
    alpha = experiment.tokenized.request.options.alpha
    values = _interactions(experiment, trial, operator)
    value = p = None
    direction = 0
    if values is not None:
        value = float(values[0]) if abs(values[0]) > ROUNDING else 0.0
        null = values[1:]
        if null.size:
            # two-sided by size: twice a tail would count one tie, the partner of an AND, as two
            reached = np.count_nonzero(np.abs(null) >= abs(value) - ROUNDING)
            p = float((1 + reached) / (1 + null.size))
        if p is not None and p <= alpha:
            direction = int(np.sign(value))
    sufficiency, necessity = sides
    p_joint = both = None
    if joint is not None:
        p_joint = joint.p_value
        both = kernel.verdict(p_joint, alpha, upwards=joint.upwards)
    return IceCausalReading(
        explanation=trial.explanation.name,
        k=trial.k,
        operator=operator,
        interaction=value,
        p_interaction=p,
        p_value=p_joint,
        reading=kernel.reading(sufficiency, necessity, direction, both),
    )


def _interactions(experiment: Experiment, trial: Trial, operator: Operator) -> Floats | None:
    """Return M + 1 interactions between a token set and the rest of the text. The first is that of
    the tested rationale, followed by those of M random sets. Return None if the score of an empty
    text is unknown."""
    empty = experiment.empty(operator)
    if empty is None:
        return None
    full, positions = experiment.tokenized.full, experiment.null_positions(trial)

    def kept(aspect: Aspect) -> Floats:
        null = experiment.null(operator, trial, positions, aspect)
        tested = experiment.subset_score(operator, trial, aspect)
        shown = null if aspect == "sufficiency" else full - null
        return np.array([np.nan if tested is None else tested, *shown])

    alone, without = kept("sufficiency"), kept("necessity")
    return kernel.interaction(np.full_like(alone, full), alone, without, np.full_like(alone, empty))
