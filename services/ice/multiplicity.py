"""Corrections for the tests of one request: over those of an explanation, and over explanations.

Max-T over an explanation's budgets, operators and aspects (Westfall & Young 1993): random rankings
are nested over budgets and shared by operators, so that a random explanation is random as a whole;
Bonferroni where the first block of draws settles every test. Holm (1979) over explanations on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.ice.experiment import Experiment, Trial
from services.ice.kernel import Floats
from services.ice.report import Aspect, TestedOperator
from shared.statistics.families import holm, holm_over_families, max_t_in_stages


@dataclass(frozen=True)
class Family:
    """The defined tests of one explanation: of each its trial, its own score, (M,) those of its
    draws, and what was asked."""

    trials: Sequence[Trial]
    observed: Sequence[float]
    nulls: Sequence[Floats]
    asked: Sequence[tuple[TestedOperator, Aspect]]


def adjusted_p(
    experiment: Experiment, families: Sequence[Family], raw: Sequence[Sequence[float]]
) -> list[float]:
    """p of every test of every family in order, each at least its raw one.

    Draws that end by themselves are no common sample: there it is Holm over all tests.
    """
    if experiment.anytime:
        return holm([p for own in raw for p in own])
    own = [_max_t(experiment, *both) for both in zip(families, raw, strict=True)]
    tested = [one for one in own if one]
    return [p for family in holm_over_families(tested) for p in family]


def _max_t(experiment: Experiment, family: Family, raw: Sequence[float]) -> list[float]:
    if len(raw) < 2:
        return list(raw)
    found = max_t_in_stages(
        joint_scores(experiment, family),
        raw,
        settled=_stopped(experiment, family),
        both_sides=_is_two_sided(experiment),
    )
    return [float(p) for p in found]


def _stopped(experiment: Experiment, family: Family) -> bool:
    """Whether the first block settled all tests, and more could have been drawn."""
    made = experiment.limits[family.trials[0].explanation.name]
    return made < experiment.design.most and not all(map(experiment.exact, family.trials))


def _is_two_sided(experiment: Experiment) -> bool:
    return experiment.tokenized.request.alternative == "two-sided"


def joint_scores(experiment: Experiment, family: Family) -> Floats:
    """(T, M + 1) the observed score of each test, then those of the same random explanations: the
    draws, or of several budgets the rankings as they came."""
    if len({trial.null.key for trial in family.trials}) == 1:
        nulls = list(family.nulls)
    else:
        count = experiment.limits[family.trials[0].explanation.name]
        nulls = [
            experiment.ranking_scores(operator, trial, aspect, count)
            for trial, (operator, aspect) in zip(family.trials, family.asked, strict=True)
            if operator != "mean"
        ]
    return np.array([[own, *null] for own, null in zip(family.observed, nulls, strict=True)])
