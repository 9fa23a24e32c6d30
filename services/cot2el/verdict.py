"""A CoT2EL report in a sentence or two, with what shuffled words would do."""

from __future__ import annotations

from services.cot2el.report import Cot2elResult
from shared.contracts.messages import Finding
from shared.reports.pages.page_text import Tone, Verdict, finding, percent, significant

STATUS = {
    "no_reasoning": "The model wrote no reasoning part: there is nothing to take explanations "
    "from.",
    "parse_failed": "The model's list could not be read as JSON in three tries. That is no finding "
    "about the reasoning.",
    "not_read": "Question or reasoning are in a language that is not known here: nothing was read. "
    "The warnings say which.",
}


def verdict(report: Cot2elResult) -> Verdict:
    """The report in words, with what its score is and what chance would have."""
    if report.status != "ok":
        return Verdict(STATUS[report.status])
    if report.components.faithfulness is None:
        return Verdict("There are no explanations: faithfulness is undefined.")
    if threshold(report) == 0:
        return Verdict(_alignment_text(report), "neutral", _baseline_text(report))
    said, tone = _share_text(report)
    return Verdict(said, tone, _chance(report))


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


def _share_text(report: Cot2elResult) -> tuple[str, Tone]:
    found, control = report.components, report.control
    said = (
        f"{found.kept} of {found.parsed} explanations have a unit of the reasoning that is "
        f"{_similar(report)}{_conflict_text(report)}."
    )
    if control is None:
        return said, "neutral"
    if found.faithfulness is not None and found.faithfulness <= control.faithfulness:
        return f"{said} Explanations with shuffled words do as well.", "bad"
    return said, "good" if found.kept == found.parsed else "neutral"


def _conflict_text(report: Cot2elResult) -> str:
    """Of what was dropped, how much says the opposite of its unit."""
    count = report.components.contradicted
    if not count:
        return ""
    return f"; {count} more resemble{'s' if count == 1 else ''} a unit that says the opposite"


def _similar(report: Cot2elResult) -> str:
    least = threshold(report)
    return "similar enough" if least is None else f"similar by more than {significant(least)}"


def _chance(report: Cot2elResult) -> str:
    said = "The score is the share of explanations that have such a unit"
    control = report.control
    if control is None:
        return f"{said}. There is no comparison with chance; the warnings say why."
    draws = "1 draw" if control.draws == 1 else f"mean of {control.draws} draws"
    return (
        f"{said}; chance, their words in random order, would have {percent(control.faithfulness)} "
        f"({draws})."
    )


def in_a_word(report: Cot2elResult) -> Finding:
    """The five words that every metric has, for its own."""
    return finding(report, verdict(report))
