"""The randomization test compares each explanation with random token sets, at each budget and with
each operator.

An explanation with one budget and one operator has two tests and a joint test of both, which are
corrected as a closed family (Marcus, Peritz & Gabriel 1976). More tests of an explanation are
corrected by max-T (Westfall & Young 1993). Both are exact if all tests use the same random sets, so
these are drawn together. Explanations are corrected by Holm (1979). Source: arXiv:2603.18579,
Algorithm 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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


def _corrected(
    experiment: Experiment, family: Sequence[TestInput], raw: Sequence[float]
) -> tuple[JointTest | None, list[float]]:
    """Return p-values corrected for all tests of one explanation, each at least as large as its raw
    value. For one sufficiency and one necessity test by the same operator, also return their joint
    test, otherwise None."""
    if len(raw) < 2:
        return None, list(raw)
    both_sides = experiment.tokenized.request.options.alternative == "two-sided"
    scores = {test.aspect: np.array([test.observed, *test.null]) for test in family}
    if len(family) == 2 and len(scores) == 2 and family[0].operator == family[1].operator:
        without = experiment.tokenized.full - scores["necessity"]
        evidence = kernel.joint_evidence(scores["sufficiency"], without)
        distances = np.abs(evidence) if both_sides else evidence
        p = float(np.mean(distances >= distances[0] - ROUNDING))
        return JointTest(p, upwards=bool(evidence[0] > 0)), [max(p, each) for each in raw]
    corrected = max_t(joint_scores(experiment, family), both_sides=both_sides)
    return None, [float(p) for p in np.maximum(corrected, raw)]


def joint_scores(experiment: Experiment, family: Sequence[TestInput]) -> Floats:
    """Return (T, M + 1) scores for T tests: the observed score, then the scores of the same M
    random explanations. If the tests have different token counts, each random explanation is a
    random ranking."""
    if len({test.trial.null.key for test in family}) == 1:
        nulls = [test.null for test in family]
    else:
        nulls = [
            experiment.ranking_scores(test.operator, test.trial, test.aspect, experiment.draws)
            for test in family
            if test.operator != "mean"
        ]
    observed = [test.observed or 0.0 for test in family]
    return np.array([[score, *null] for score, null in zip(observed, nulls, strict=True)])


MOST_PLACEMENTS = 10**15  # more are not counted to the reader
ROUNDING = 1e-9  # of sums of log odds
HATEFUL = "hateful"  # the label of the measured other posts


def run_tests(
    experiment: Experiment, sha256: str | None = None, language: str = ""
) -> tuple[tuple[IceTest, ...], Mapping[str, JointTest]]:
    """Return the tests by explanation, budget, aspect and operator, and the joint tests by the name
    of the explanation. In variants that combine two or more operators, a test of their mean
    follows. `sha256` is the hash of the model's weights, and `language` the language of the text.
    """
    inputs = [
        _inputs_of(experiment, explanation) for explanation in check_each(experiment.explanations)
    ]
    measured = [[_p_values(experiment, test) for test in group] for group in inputs]
    joint, corrected = _adjusted(experiment, inputs, measured)
    adjusted = iter(corrected)
    results = []
    for group, several in zip(inputs, measured, strict=True):
        for test, tails in zip(group, several, strict=True):
            calibrated = _calibrated(experiment, test, sha256, language)
            results.append(_test(experiment, test, tails, next(adjusted), calibrated))
    return tuple(results), joint


@dataclass(frozen=True)
class JointTest:
    """The test of sufficiency and necessity together. `upwards` is True if the marked tokens matter
    more than random ones do on average."""

    p_value: float
    upwards: bool


@dataclass(frozen=True)
class TestInput:
    """The data of one randomization test: the statistic of the marked tokens (`observed`), and
    those of M random token sets (`null`)."""

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
    """Both one-sided p-values of a test."""

    above: float
    below: float

    def raw(self, alternative: str) -> float:
        both = ranks.two_sided(self.above, self.below)
        return self.above if alternative == "greater" or both is None else both


def _inputs_of(experiment: Experiment, explanation: TestedExplanation) -> list[TestInput]:
    inputs = []
    request = experiment.tokenized.request
    for trial in experiment.of(explanation):
        for aspect in request.options.aspects:
            by_operator = [
                _input_of(experiment, trial, operator, aspect)
                for operator in request.options.operators
            ]
            if experiment.tokenized.variant.mean_of_operators and len(by_operator) > 1:
                by_operator.append(_mean(trial, by_operator))
            inputs += by_operator
    return inputs


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
    """Return a test whose values are the means over operators (Algorithm 1, lines 1 and 4). It is
    undefined if the test of one operator is undefined."""
    observed = [test.observed for test in by_operator if test.observed is not None]
    aspect = by_operator[0].aspect
    if len(observed) < len(by_operator):
        return TestInput(trial, "mean", aspect, None, np.empty(0))
    null = np.mean([test.null for test in by_operator], axis=0)
    return TestInput(trial, "mean", aspect, float(np.mean(observed)), null)


def _p_values(experiment: Experiment, test: TestInput) -> Tails:
    if test.observed is None or not test.defined:
        return Tails(1.0, 1.0)
    tie = experiment.tokenized.variant.tie
    above = ranks.p_value(test.observed, test.null, tie)
    below = ranks.p_anti(test.observed, test.null, tie)
    return Tails(above or 1.0, below or 1.0)


def _adjusted(
    experiment: Experiment, inputs: list[list[TestInput]], measured: list[list[Tails]]
) -> tuple[dict[str, JointTest], list[float | None]]:
    """Return the joint tests by the name of the explanation. Return also the corrected p-value of
    every test, in order, or None if a test is undefined or not corrected."""
    pairs = [list(zip(*both, strict=True)) for both in zip(inputs, measured, strict=True)]
    if not experiment.tokenized.variant.corrected:
        return {}, [None for group in pairs for _ in group]
    defined = [[(test, tails) for test, tails in group if test.defined] for group in pairs]
    alternative = experiment.tokenized.request.options.alternative
    raw = [[tails.raw(alternative) for _, tails in group] for group in defined]
    families = {
        group[0][0].trial.explanation.name: _corrected(
            experiment, [test for test, _ in group], p_values
        )
        for group, p_values in zip(defined, raw, strict=True)
        if group
    }
    corrected = holm_over_families(
        [[joint.p_value if joint else 1.0, *each] for joint, each in families.values()]
    )
    joint_tests = {
        name: replace(joint, p_value=family[0])
        for (name, (joint, _)), family in zip(families.items(), corrected, strict=True)
        if joint is not None
    }
    adjusted = iter([p for family in corrected for p in family[1:]])
    every = [next(adjusted) if test.defined else None for group in pairs for test, _ in group]
    return joint_tests, every


def _calibrated(
    experiment: Experiment, test: TestInput, sha256: str | None, language: str
) -> dict[str, Any]:
    """Return the fields of a p-value calibrated on other posts, for texts with too few other
    positions for an exact p-value. The dictionary is empty except for necessity tests of quoted
    passages. The passages of the other posts were masked, not deleted, so the test is conservative.
    """
    tokenized, null = experiment.tokenized, test.trial.null
    request = tokenized.request
    alone = len(experiment.trials) == 1 and request.options.operators == ("delete",)
    is_passage = null.kind == "spans" and not null.split and request.text_pair is None
    is_hateful = tokenized.labels[tokenized.target] == HATEFUL
    alpha = request.options.alpha
    few = experiment.exact(test.trial) and _attainable_p(experiment, test.trial) > alpha
    is_loss_test = test.aspect == "necessity" and request.options.alternative == "greater"
    in_tokens = tokenized.words is None
    if not (
        test.defined and alone and is_passage and is_hateful and few and is_loss_test and in_tokens
    ):
        return {}
    without = experiment.without("delete", test.trial)
    return calibrated_fields(without, null.longest, sha256, language)


def _test(
    experiment: Experiment,
    test: TestInput,
    tails: Tails,
    adjusted: float | None,
    calibrated: Mapping[str, Any],
) -> IceTest:
    observed = test.observed
    if observed is None or not test.defined:
        exact = experiment.exact(test.trial)
        return IceTest(
            **_common_fields(experiment, test),
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
                kind=test.trial.null.kind,
                placements=0 if exact else None,
            ),
        )
    null, variant = test.null, experiment.tokenized.variant
    effect = kernel.effect(observed, null, variant.ddof)
    return IceTest(
        **_common_fields(experiment, test),
        win_rate=ranks.win_rate(observed, null, variant.tie),
        strict_win_rate=ranks.strict_win_rate(observed, null, variant.tie),
        tie_rate=ranks.tie_rate(observed, null, variant.tie),
        effect=variant.zero_effect if effect is None else effect,
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        p_adjusted=adjusted,
        verdict=_verdict(experiment, test.trial, tails, adjusted, calibrated.get("p_calibrated")),
        null=_null(experiment, test, tails, calibrated),
    )


def _verdict(
    experiment: Experiment,
    trial: Trial,
    tails: Tails,
    adjusted: float | None,
    calibrated: float | None,
) -> Verdict:
    request = experiment.tokenized.request
    too_few = _attainable_p(experiment, trial) > request.options.alpha
    if too_few and experiment.tokenized.variant.corrected:
        if calibrated is None:
            return "undecidable"
        return kernel.verdict(calibrated, request.options.alpha, upwards=True)
    p = tails.raw(request.options.alternative) if adjusted is None else adjusted
    upwards = request.options.alternative == "greater" or tails.above < tails.below
    return kernel.verdict(p, request.options.alpha, upwards=upwards)


def _attainable_p(experiment: Experiment, trial: Trial) -> float:
    """Return the smallest p-value that is possible with this number of random token sets."""
    sides = 1 if experiment.tokenized.request.options.alternative == "greater" else 2
    most = experiment.draws
    distinct = experiment.tokenized.variant.distinct
    return ranks.attainable_p(min(most, trial.null.others) if distinct else most, sides=sides)


def _null(
    experiment: Experiment, test: TestInput, tails: Tails, calibrated: Mapping[str, Any]
) -> IceNull:
    trial, null, variant = test.trial, test.null, experiment.tokenized.variant
    is_known = trial.null.others <= MOST_PLACEMENTS and not trial.null.sampled
    return IceNull(
        kind=trial.null.kind,
        strata=trial.null.strata,
        match_tokens=trial.null.matched,
        placements=trial.null.others if is_known else None,
        overlap=experiment.mean_overlap(trial, null.size),
        p_value=tails.above,
        p_anti=tails.below,
        p_two_sided=ranks.two_sided(tails.above, tails.below),
        attainable_p=_attainable_p(experiment, trial),
        draws=null.size,
        win_rate_draws=null.size,
        exact=experiment.exact(trial),
        ties=ranks.tie_rate(test.observed or 0.0, null, variant.tie),
        **ranks.null_summary(null, variant.ddof),
        **calibrated,
    )


def _common_fields(experiment: Experiment, test: TestInput) -> dict[str, object]:
    scores = drop = None
    nsr = test.observed
    if test.operator != "mean":
        scores = _scores(experiment, test.trial, test.operator)
        kept = scores.rationale if test.aspect == "sufficiency" else scores.without
        drop = None if kept is None else scores.full - kept
        if experiment.tokenized.variant.nsr_beside:
            epsilon = experiment.tokenized.request.options.nsr_epsilon
            nsr = kernel.nsr(scores.rationale, scores.full, scores.empty, epsilon)
    return {
        "explanation": test.trial.explanation.name,
        "aspect": test.aspect,
        "k": test.trial.k,
        "tokens": len(test.trial.rationale),
        "operator": test.operator,
        "nsr": nsr if test.aspect == "sufficiency" else None,
        "scores": scores,
        "drop": drop,
    }


def _scores(experiment: Experiment, trial: Trial, operator: Operator) -> IceScores:
    both = "necessity" in experiment.tokenized.request.options.aspects
    return IceScores(
        full=experiment.tokenized.full,
        rationale=experiment.subset_score(operator, trial, "sufficiency") or 0.0,
        empty=experiment.empty(operator),
        without=experiment.subset_score(operator, trial, "necessity") if both else None,
    )
