"""The randomization test: each explanation at each budget under each operator, against random ones.

Source: arXiv:2603.18579, Algorithm 1.

Corrections for the tests of one request: max-T over an explanation's budgets, operators and aspects
(Westfall & Young 1993), since random rankings are nested over budgets and shared by operators; then
Holm (1979) over explanations. Max-T is exact where all tests read the same draws, so they are made
at once: a stop by what some of them show would have to be paid by Bonferroni.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from shared.reports.short_texts import calibrated_fields
from shared.statistics import ranks
from shared.statistics.families import holm_over_families, max_t


def _max_t(
    experiment: Experiment, family: Sequence[TestInput], raw: Sequence[float]
) -> list[float]:
    """Return p corrected for all tests of one explanation, at least as large as each one's own."""
    if len(raw) < 2:
        return list(raw)
    both_sides = experiment.tokenized.request.alternative == "two-sided"
    found = max_t(joint_scores(experiment, family), both_sides=both_sides)
    return [float(p) for p in np.maximum(found, raw)]


def joint_scores(experiment: Experiment, family: Sequence[TestInput]) -> Floats:
    """(T, M + 1) the observed score of each test, then those of the same random explanations: the
    draws, or of several budgets the rankings as they came."""
    if len({one.trial.null.key for one in family}) == 1:
        nulls = [one.null for one in family]
    else:
        nulls = [
            experiment.ranking_scores(one.operator, one.trial, one.aspect, experiment.draws)
            for one in family
            if one.operator != "mean"
        ]
    observed = [one.observed or 0.0 for one in family]
    return np.array([[own, *null] for own, null in zip(observed, nulls, strict=True)])


MOST_PLACEMENTS = 10**15  # more are not counted to the reader
HATEFUL, DECIDING = "hateful", 0.5  # the label of the measured other posts, and P from which it is


def run_tests(
    experiment: Experiment, sha256: str | None = None, language: str = ""
) -> tuple[IceTest, ...]:
    """By trial, then by aspect, then by operator; then their mean, where the variant has one and
    there are two. sha256: of the model's weights. language: of the text."""
    inputs = [
        _inputs_of(experiment, explanation) for explanation in check_each(experiment.explanations)
    ]
    measured = [[_p_values(experiment, one) for one in own] for own in inputs]
    adjusted = iter(_adjusted(experiment, inputs, measured))
    found = []
    for own, several in zip(inputs, measured, strict=True):
        for one, tails in zip(own, several, strict=True):
            calibrated = _calibrated(experiment, one, sha256, language)
            found.append(_test(experiment, one, tails, next(adjusted), calibrated))
    return tuple(found)


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
    """Both one-sided p-values."""

    above: float
    below: float

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


def _p_values(experiment: Experiment, one: TestInput) -> Tails:
    """Undefined tests have p 1."""
    if one.observed is None or not one.defined:
        return Tails(1.0, 1.0)
    tie = experiment.tokenized.variant.tie
    above = ranks.p_value(one.observed, one.null, tie)
    below = ranks.p_anti(one.observed, one.null, tie)
    return Tails(above or 1.0, below or 1.0)


def _adjusted(
    experiment: Experiment, inputs: list[list[TestInput]], measured: list[list[Tails]]
) -> list[float | None]:
    """Corrected p of every test in order; None: undefined, or not corrected in this variant."""
    pairs = [list(zip(*both, strict=True)) for both in zip(inputs, measured, strict=True)]
    if not experiment.tokenized.variant.corrected:
        return [None for own in pairs for _ in own]
    known = [[(one, tails) for one, tails in own if one.defined] for own in pairs]
    alternative = experiment.tokenized.request.alternative
    raw = [[tails.raw(alternative) for _, tails in own] for own in known]
    families = [
        _max_t(experiment, [one for one, _ in own], p_values)
        for own, p_values in zip(known, raw, strict=True)
        if own
    ]
    adjusted = iter([p for family in holm_over_families(families) for p in family])
    return [next(adjusted) if one.defined else None for own in pairs for one, _ in own]


def _calibrated(
    experiment: Experiment, one: TestInput, sha256: str | None, language: str
) -> dict[str, Any]:
    """The p that rests on other posts, where this text has too few placements for an exact one.

    One test decides there, of what the removal of a quoted passage costs, so that nothing is
    corrected. The passages of the other posts were masked, not deleted: they stand out somewhat
    more, so that the test errs on the careful side.
    """
    tokenized, null = experiment.tokenized, one.trial.null
    request = tokenized.request
    alone = len(experiment.trials) == 1 and request.operators == ("delete",)
    is_passage = null.kind == "spans" and not null.split and request.text_pair is None
    is_hateful = tokenized.labels[tokenized.target] == HATEFUL and tokenized.full >= DECIDING
    few = experiment.exact(one.trial) and _attainable_p(experiment, one.trial) > request.alpha
    is_asked = one.aspect == "necessity" and request.alternative == "greater"
    in_tokens = tokenized.words is None
    if not (one.defined and alone and is_passage and is_hateful and few and is_asked and in_tokens):
        return {}
    without = experiment.without("delete", one.trial)
    return calibrated_fields(without, null.longest, sha256, language)


def _test(
    experiment: Experiment,
    one: TestInput,
    tails: Tails,
    adjusted: float | None,
    calibrated: Mapping[str, Any],
) -> IceTest:
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
            null=IceNull(
                draws=0,
                exact=exact,
                kind=one.trial.null.kind,
                placements=0 if exact else None,
            ),
        )
    null, variant = one.null, experiment.tokenized.variant
    effect = kernel.effect(observed, null, variant.ddof)
    return IceTest(
        **_common_fields(experiment, one),
        win_rate=ranks.win_rate(observed, null, variant.tie),
        strict_win_rate=ranks.strict_win_rate(observed, null, variant.tie),
        tie_rate=ranks.tie_rate(observed, null, variant.tie),
        effect=variant.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        p_adjusted=adjusted,
        verdict=_verdict(experiment, one.trial, tails, adjusted, calibrated.get("p_calibrated")),
        null=_null(experiment, one, tails, calibrated),
    )


def _verdict(
    experiment: Experiment,
    trial: Trial,
    tails: Tails,
    adjusted: float | None,
    calibrated: float | None,
) -> Verdict:
    request = experiment.tokenized.request
    too_few = _attainable_p(experiment, trial) > request.alpha
    if too_few and experiment.tokenized.variant.corrected:
        if calibrated is None:
            return "undecidable"
        return kernel.verdict(calibrated, request.alpha, upwards=True)
    p = tails.raw(request.alternative) if adjusted is None else adjusted
    upwards = request.alternative == "greater" or tails.above < tails.below
    return kernel.verdict(p, request.alpha, upwards=upwards)


def _attainable_p(experiment: Experiment, trial: Trial) -> float:
    """The least p that could have come."""
    sides = 1 if experiment.tokenized.request.alternative == "greater" else 2
    most = experiment.draws
    distinct = experiment.tokenized.variant.distinct
    return ranks.attainable_p(min(most, trial.null.others) if distinct else most, sides=sides)


def _null(
    experiment: Experiment, one: TestInput, tails: Tails, calibrated: Mapping[str, Any]
) -> IceNull:
    trial, null, variant = one.trial, one.null, experiment.tokenized.variant
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
        win_rate_draws=null.size,
        exact=experiment.exact(trial),
        ties=ranks.tie_rate(one.observed or 0.0, null, variant.tie),
        **ranks.null_summary(null, variant.ddof),
        **calibrated,
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
