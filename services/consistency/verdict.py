"""The verdict on a consistency report."""

from __future__ import annotations

from services.consistency.report import ConsistencyNull, ConsistencyResult
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding

LEVEL = 0.05
EVEN = 0.5  # win rate of chance
PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "does-not-predict": "does not predict the model",
    "rests-on-other-words": "rests on other words",
}
CHECKS = {  # part → check, problem, messages: passed, failed, unclear, too few
    "simulatability": (
        "predicts-the-model",
        "does-not-predict",
        "The explanation predicts the model's answers to edited texts.",
        "Random citations predict the model's answers to edited texts just as well.",
        "Random citations might predict the model's answers to edited texts just as well.",
        "There are too few edits to compare the explanation's predictions with chance.",
    ),
    "attribution": (
        "rests-on-the-same-words",
        "rests-on-other-words",
        "The explanation rests on the same words as the answer.",
        "The explanation rests on different words than the answer.",
        "The explanation might rest on the same words as the answer only by chance.",
        "There are too few words to compare with chance.",
    ),
}


def finding(report: ConsistencyResult) -> Finding:
    """Return the verdict. Both tests must pass at level 0.05, which keeps the joint error rate at
    0.05."""
    nulls = nulls_of(report)
    if report.score is None or not nulls:
        unknown = undefined("predicts-the-model", report, "score")
        message = "There is nothing to compare the explanation with."
        check = unknown or not_tested("predicts-the-model", "too-few-rivals", message)
        return conclude([check], ())
    checks = [_check(name, null) for name, null in nulls.items()]
    return conclude(checks, {check.name for check in checks})


def _check(part: str, null: ConsistencyNull) -> Check:
    name, problem, beats, fails, unclear, few = CHECKS[part]
    if null.p_value is None or null.attainable_p is None or null.attainable_p > LEVEL:
        return not_tested(name, "too-few-rivals", few)
    if null.p_value <= LEVEL:
        return passed(name, beats)
    if (null.win_rate or 0.0) <= EVEN:
        return failed(name, problem, fails)
    return inconclusive(name, "no-clear-difference", unclear)


def nulls_of(report: ConsistencyResult) -> dict[str, ConsistencyNull]:
    """Return the null distribution of each tested part. Parts without one are left out."""
    control = report.control
    if control is None:
        return {}
    nulls = {"simulatability": control.simulatability, "attribution": control.attribution}
    return {name: null for name, null in nulls.items() if null is not None}
