"""A CoT2EL report in a sentence or two, with what shuffled words would do."""

from __future__ import annotations

from services.cot2el.report import Cot2elResult
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding
from shared.reports.pages.page_text import percent, significant

STATUS = {
    "no_reasoning": "The model wrote no reasoning part: there is nothing to take explanations "
    "from.",
    "parse_failed": "The model's list could not be read as JSON in three tries. That is no finding "
    "about the reasoning.",
    "not_read": "Question or reasoning are in a language that is not known here: nothing was read. "
    "The warnings say which.",
}


PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "no-better-than-shuffled": "shuffled words do as well",
}
FOUND = "found-in-the-reasoning"


def finding(report: Cot2elResult) -> Finding:
    """Return the verdict: does the reasoning have what the explanations say?"""
    return conclude([_found(report)], {FOUND})


def _found(report: Cot2elResult) -> Check:
    if report.status == "no_reasoning":
        return not_tested(FOUND, "no-reasoning", STATUS["no_reasoning"])
    if report.status != "ok":
        unknown = undefined(FOUND, report, "score", "faithfulness")
        return unknown or not_tested(FOUND, "answer-unread", STATUS[report.status])
    parts, control = report.components, report.control
    if parts.faithfulness is None:
        return not_tested(FOUND, "nothing-to-test", "There are no explanations.")
    if threshold(report) == 0:
        return not_tested(FOUND, "no-threshold", _alignment_text(report))
    said = (
        f"{parts.kept} of {parts.parsed} explanations have a passage of the reasoning that is "
        f"{_similar(report)}{_conflict_text(report)}."
    )
    if control is None:
        return not_tested(FOUND, "too-few-rivals", said)
    if parts.faithfulness <= control.faithfulness:
        return failed(FOUND, "no-better-than-shuffled", f"{said} Shuffled words do as well.")
    if parts.kept < parts.parsed:
        return inconclusive(FOUND, "some-dropped", said)
    return passed(FOUND, said)


def threshold(report: Cot2elResult) -> float | None:
    """`min_similarity` in force, [0, 1); None where the result does not tell."""
    found = report.provenance.parameters.get("min_similarity")
    return float(found) if isinstance(found, int | float) else None


def _alignment_text(report: Cot2elResult) -> str:
    """At threshold 0 nothing is dropped, however little it resembles."""
    found = report.components
    if found.kept < found.parsed or found.mean_similarity is None:
        return f"{found.kept} of {found.parsed} explanations were placed at a unit."
    mean = significant(found.mean_similarity, 2)
    return f"Every explanation was placed at its nearest unit; mean similarity {mean}."


def _baseline_text(report: Cot2elResult) -> str:
    said = (
        "The score is the share of explanations placed; with `min_similarity` 0 it says nothing, "
        "since every explanation is placed, whatever its similarity."
    )
    if report.control is None:
        return f"{said} There is no comparison with chance; the warnings say why."
    mean = significant(report.control.mean_similarity, 2)
    return f"{said} With their words in random order the mean similarity would be {mean}."


def _conflict_text(report: Cot2elResult) -> str:
    """Of what was dropped, how much says the opposite of its unit."""
    count = report.components.contradicted
    if not count:
        return ""
    return f"; {count} more resemble{'s' if count == 1 else ''} a unit that says the opposite"


def _similar(report: Cot2elResult) -> str:
    least = threshold(report)
    return "similar enough" if least is None else f"similar by more than {significant(least)}"


def chance(report: Cot2elResult) -> str:
    """What the score is, and what shuffled words would have."""
    if report.status != "ok" or report.components.faithfulness is None:
        return ""
    if threshold(report) == 0:
        return _baseline_text(report)
    said = "The score is the share of explanations that have such a unit"
    control = report.control
    if control is None:
        return f"{said}. There is no comparison with chance; the warnings say why."
    draws = "1 draw" if control.draws == 1 else f"mean of {control.draws} draws"
    return (
        f"{said}; chance, their words in random order, would have {percent(control.faithfulness)} "
        f"({draws})."
    )
