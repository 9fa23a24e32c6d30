"""The randomization test: each explanation at each budget under each operator, against random ones.

Source: arXiv:2603.18579, Algorithm 1; draws in two stages: Besag & Clifford (1991), looked at twice
(shared.statistics.draws); anytime: Fischer & Ramdas (2024).

Corrections for the tests of one request: max-T over an explanation's budgets, operators and aspects
(Westfall & Young 1993), since random rankings are nested over budgets and shared by operators;
Bonferroni where the first block of draws settles every test; then Holm (1979) over explanations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.ice import kernel
from services.ice.experiment import Experiment, Trial
from services.ice.explanations import TestedExplanation
from services.ice.kernel import Floats
from services.ice.report import (
    Aspect,
    IceNull,
    IceScores,
    IceTest,
    Operator,
    TestedOperator,
    Verdict,
)
from shared.queue.job_context import check_each
from shared.statistics import ranks
from shared.statistics.families import holm, holm_over_families, max_t_in_stages


def _max_t(
    experiment: Experiment, family: Sequence[TestInput], raw: Sequence[float]
) -> list[float]:
    if len(raw) < 2:
        return list(raw)
    made = experiment.limits[family[0].trial.explanation.name]
    found = max_t_in_stages(
        joint_scores(experiment, family),
        raw,
        settled=made < experiment.design.most
        and not all(experiment.exact(one.trial) for one in family),
        both_sides=experiment.tokenized.request.alternative == "two-sided",
    )
    return [float(p) for p in found]


def joint_scores(experiment: Experiment, family: Sequence[TestInput]) -> Floats:
    """(T, M + 1) the observed score of each test, then those of the same random explanations: the
    draws, or of several budgets the rankings as they came."""
    if len({one.trial.null.key for one in family}) == 1:
        nulls = [one.null for one in family]
    else:
        count = experiment.limits[family[0].trial.explanation.name]
        nulls = [
            experiment.ranking_scores(one.operator, one.trial, one.aspect, count)
            for one in family
            if one.operator != "mean"
        ]
    observed = [one.observed or 0.0 for one in family]
    return np.array([[own, *null] for own, null in zip(observed, nulls, strict=True)])


Bools = NDArray[np.bool_]

MOST_PLACEMENTS = 10**15  # more are not counted to the reader


def run_tests(experiment: Experiment) -> tuple[IceTest, ...]:
    """By trial, then by aspect, then by operator; then their mean, where the variant has one and
    there are two."""
    inputs = [
        _inputs_of(experiment, explanation) for explanation in check_each(experiment.explanations)
    ]
    measured = [[_p_values(experiment, one) for one in own] for own in inputs]
    adjusted = iter(_adjusted(experiment, inputs, measured))
    return tuple(
        _test(experiment, one, numbers, next(adjusted))
        for own, found in zip(inputs, measured, strict=True)
        for one, numbers in zip(own, found, strict=True)
    )


def names_to_extend(experiment: Experiment) -> set[str]:
    """The explanations whose tests more draws could still decide."""
    return {
        explanation.name
        for explanation in check_each(experiment.explanations)
        if experiment.limits[explanation.name] < experiment.design.most
        and _needs_more_samples(experiment, explanation)
    }


@dataclass(frozen=True)
class TestInput:
    """The statistics of a rationale and of random rationales."""

    trial: Trial
    operator: TestedOperator
    aspect: Aspect
    observed: float | None  # None: the statistic is undefined
    null: Floats  # (M,) in the order of drawing

    @property
    def defined(self) -> bool:
        return self.observed is not None and self.null.size > 0


@dataclass(frozen=True)
class Tails:
    """Both one-sided p-values, and the draws that they rest on."""

    above: float
    below: float
    draws: int
    ended: bool  # before all draws were made

    def raw(self, alternative: str) -> float:
        both = ranks.two_sided(self.above, self.below)
        return self.above if alternative == "greater" or both is None else both


def _inputs_of(experiment: Experiment, explanation: TestedExplanation) -> list[TestInput]:
    """All that is tested of one explanation."""
    found = []
    request = experiment.tokenized.request
    for trial in experiment.of(explanation):
        for aspect in request.aspects:
            own = [_input_of(experiment, trial, one, aspect) for one in request.operators]
            if experiment.tokenized.variant.mean_of_operators and len(own) > 1:
                own.append(_mean(trial, own))
            found += own
    return found


def _input_of(
    experiment: Experiment, trial: Trial, operator: Operator, aspect: Aspect
) -> TestInput:
    observed = experiment.observed(operator, trial, aspect)
    if observed is None:
        return TestInput(trial, operator, aspect, None, np.empty(0))
    null = experiment.null(operator, trial, experiment.null_positions(trial), aspect)
    tokenized = experiment.tokenized
    scores = np.array([observed, *null])
    values = tokenized.variant.statistic(scores, tokenized.full, experiment.empty(operator))
    if values is None:
        return TestInput(trial, operator, aspect, None, np.empty(0))
    return TestInput(trial, operator, aspect, float(values[0]), values[1:])


def _mean(trial: Trial, by_operator: Sequence[TestInput]) -> TestInput:
    """Algorithm 1, lines 1 and 4."""
    observed = [one.observed for one in by_operator if one.observed is not None]
    aspect = by_operator[0].aspect
    if len(observed) < len(by_operator):
        return TestInput(trial, "mean", aspect, None, np.empty(0))
    null = np.mean([one.null for one in by_operator], axis=0)
    return TestInput(trial, "mean", aspect, float(np.mean(observed)), null)


def _needs_more_samples(experiment: Experiment, explanation: TestedExplanation) -> bool:
    """Whether a tail of a test is open; of one whose placements were all drawn, where max-T over
    all tests of the explanation needs more of the others."""
    inputs = [one for one in _inputs_of(experiment, explanation) if one.defined]
    drawing = [one for one in inputs if not experiment.exact(one.trial)]
    if experiment.anytime:
        return not all(_p_values(experiment, one).ended for one in drawing)
    tails = [t for one in inputs for t in _compare_null(experiment, one)[: _sides(experiment)]]
    return bool(drawing) and not all(map(experiment.design.settled, tails))


def _compare_null(experiment: Experiment, one: TestInput) -> tuple[Bools, Bools]:
    """(M,) whether each draw is as high as the observed, and whether it is as low."""
    observed, tie = one.observed or 0.0, experiment.tokenized.variant.tie
    gap = one.null - observed
    return gap >= -tie, gap <= tie


def _p_values(experiment: Experiment, one: TestInput) -> Tails:
    """Undefined tests have p 1 of no draws."""
    if not one.defined:
        return Tails(1.0, 1.0, 0, ended=False)
    above, below = _compare_null(experiment, one)
    if experiment.anytime and not experiment.exact(one.trial):
        return _anytime(experiment, above, below)
    design = experiment.design
    made = one.null.size
    ended = made <= design.first < design.most and not experiment.exact(one.trial)
    return Tails(design.p_value(above), design.p_value(below), made, ended)


def _anytime(experiment: Experiment, above: Bools, below: Bools) -> Tails:
    """As far as the test goes: to its verdict, or to where none can come any more."""
    most, level = experiment.design.most, _anytime_level(experiment)
    high, low = (ranks.anytime_tail(tail, most, level) for tail in (above, below))
    looked = [high, low][: _sides(experiment)]
    decided = [one.stopped for one in looked if one.rejected]
    stop = min(decided, default=max(one.stopped for one in looked))
    ended = bool(decided) or all(one.final for one in looked)
    return Tails(high.p_value(stop), low.p_value(stop), stop, ended)


def _anytime_level(experiment: Experiment) -> float:
    """Of one tail of one test, so that Holm over all tests can reject."""
    request = experiment.tokenized.request
    tests = len(experiment.trials) * len(request.operators) * len(request.aspects)
    return request.alpha / tests / _sides(experiment)


def _sides(experiment: Experiment) -> int:
    return 1 if experiment.tokenized.request.alternative == "greater" else 2


def _adjusted(
    experiment: Experiment, inputs: list[list[TestInput]], measured: list[list[Tails]]
) -> list[float | None]:
    """Corrected p of every test in order; None: undefined, or not corrected in this variant.

    Draws that end by themselves are no common sample: there it is Holm over all tests.
    """
    pairs = [list(zip(*both, strict=True)) for both in zip(inputs, measured, strict=True)]
    if not experiment.tokenized.variant.corrected:
        return [None for own in pairs for _ in own]
    known = [[(one, tails) for one, tails in own if one.defined] for own in pairs]
    alternative = experiment.tokenized.request.alternative
    raw = [[tails.raw(alternative) for _, tails in own] for own in known]
    if experiment.anytime:
        adjusted = iter(holm([p for own in raw for p in own]))
    else:
        families = [
            _max_t(experiment, [one for one, _ in own], p_values)
            for own, p_values in zip(known, raw, strict=True)
            if own
        ]
        adjusted = iter([p for family in holm_over_families(families) for p in family])
    return [next(adjusted) if one.defined else None for own in pairs for one, _ in own]


def _test(experiment: Experiment, one: TestInput, tails: Tails, adjusted: float | None) -> IceTest:
    observed = one.observed
    if observed is None or not one.defined:
        exact = experiment.exact(one.trial)
        return IceTest(
            **_common_fields(experiment, one),
            win_rate=None,
            strict_win_rate=None,
            tie_rate=None,
            effect=None,
            p_value=None,
            p_anti=None,
            p_two_sided=None,
            verdict=None,
            stopped_early=False,
            null=IceNull(
                draws=0,
                exact=exact,
                sequential=False,
                kind=one.trial.null.kind,
                placements=0 if exact else None,
            ),
        )
    null, variant = one.null[: tails.draws], experiment.tokenized.variant
    first = null if experiment.anytime else null[: experiment.design.first]
    effect = kernel.effect(observed, null, variant.ddof)
    return IceTest(
        **_common_fields(experiment, one),
        win_rate=ranks.win_rate(observed, first, variant.tie),
        strict_win_rate=ranks.strict_win_rate(observed, first, variant.tie),
        tie_rate=ranks.tie_rate(observed, first, variant.tie),
        effect=variant.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        p_adjusted=adjusted,
        verdict=_verdict(experiment, one.trial, tails, adjusted),
        stopped_early=tails.ended,
        null=_null(experiment, one, tails, first.size),
    )


def _verdict(experiment: Experiment, trial: Trial, tails: Tails, adjusted: float | None) -> Verdict:
    request = experiment.tokenized.request
    level = request.alpha
    if experiment.anytime and not experiment.exact(trial):
        level = _sides(experiment) * _anytime_level(experiment)
    if experiment.tokenized.variant.corrected and _attainable_p(experiment, trial) > level:
        return "undecidable"
    p = tails.raw(request.alternative) if adjusted is None else adjusted
    upwards = request.alternative == "greater" or tails.above < tails.below
    return kernel.verdict(p, request.alpha, upwards=upwards)


def _attainable_p(experiment: Experiment, trial: Trial) -> float:
    """The least p that could have come."""
    sides, most = _sides(experiment), experiment.design.most
    if experiment.anytime and not experiment.exact(trial):
        greatest = ranks.anytime_evidence(0, most, _anytime_level(experiment))
        return min(1.0, sides / greatest)
    distinct = experiment.tokenized.variant.distinct
    return ranks.attainable_p(min(most, trial.null.others) if distinct else most, sides=sides)


def _null(experiment: Experiment, one: TestInput, tails: Tails, first: int) -> IceNull:
    """first: draws that the win rate rests on."""
    trial, null, variant = one.trial, one.null[: tails.draws], experiment.tokenized.variant
    known = trial.null.others <= MOST_PLACEMENTS and not trial.null.sampled
    return IceNull(
        kind=trial.null.kind,
        strata=trial.null.strata,
        match_tokens=trial.null.matched,
        placements=trial.null.others if known else None,
        overlap=experiment.mean_overlap(trial, null.size),
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        attainable_p=_attainable_p(experiment, trial),
        draws=null.size,
        win_rate_draws=first,
        exact=experiment.complete(trial) and null.size == trial.null.others,
        sequential=experiment.anytime and not experiment.exact(trial),
        ties=ranks.tie_rate(one.observed or 0.0, null, variant.tie),
        **ranks.null_summary(null, variant.ddof),
    )


def _common_fields(experiment: Experiment, one: TestInput) -> dict[str, object]:
    scores = drop = None
    nsr = one.observed
    if one.operator != "mean":
        scores = _scores(experiment, one.trial, one.operator)
        kept = scores.rationale if one.aspect == "sufficiency" else scores.without
        drop = None if kept is None else scores.full - kept
        if experiment.tokenized.variant.nsr_beside:
            epsilon = experiment.tokenized.request.nsr_epsilon
            nsr = kernel.nsr(scores.rationale, scores.full, scores.empty, epsilon)
    return {
        "explanation": one.trial.explanation.name,
        "aspect": one.aspect,
        "k": one.trial.k,
        "tokens": len(one.trial.rationale),
        "operator": one.operator,
        "nsr": nsr if one.aspect == "sufficiency" else None,
        "scores": scores,
        "drop": drop,
    }


def _scores(experiment: Experiment, trial: Trial, operator: Operator) -> IceScores:
    both = "necessity" in experiment.tokenized.request.aspects
    return IceScores(
        full=experiment.tokenized.full,
        rationale=experiment.subset_score(operator, trial, "sufficiency") or 0.0,
        empty=experiment.empty(operator),
        without=experiment.subset_score(operator, trial, "necessity") if both else None,
    )
