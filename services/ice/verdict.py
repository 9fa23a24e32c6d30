"""The verdict and the score of an ICE test in words. `robust` compares probabilities. `paper` and
`reference` compare the retained share NSR (Eq. 1), whose order is reversed where s(x) < s(empty).
Source: Basu & Chakraborty, arXiv:2603.18579."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from services.ice.report import IceResult, IceTest, Reading
from services.ice.report import Verdict as Outcome
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding
from shared.reports.pages.page_text import significant

Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a test in one or two words, with a text that compares it with chance."""

    text: str
    tone: Tone
    chance: str


WORDS: dict[Outcome | None, tuple[str, Tone]] = {
    "faithful": ("Faithful", "good"),
    "inconclusive": ("Inconclusive", "neutral"),
    "anti-faithful": ("Anti-faithful", "bad"),
    "undecidable": ("Too few draws to tell", "neutral"),
    None: ("Undefined", "neutral"),
}
OF_PROBABILITY: dict[Outcome, str] = {  # {unit}: token or word
    "faithful": "The rationale alone makes the target label more probable than the same number of "
    "random {unit}s does.",
    "inconclusive": "It is unclear whether the rationale alone makes the target label more "
    "probable than the same number of random {unit}s does.",
    "anti-faithful": "The same number of random {unit}s makes the target label more probable than "
    "the rationale does.",
}
OF_NECESSITY: dict[Outcome, str] = {
    "faithful": "Removing the rationale makes the target label less probable than removing the "
    "same number of random {unit}s.",
    "inconclusive": "It is unclear whether removing the rationale makes the target label less "
    "probable than removing the same number of random {unit}s.",
    "anti-faithful": "Removing the same number of random {unit}s makes the target label less "
    "probable than removing the rationale.",
}
READINGS: dict[Reading, str] = {
    "cause": "The rationale is enough and needed: keeping only it preserves the decision better "
    "than random rationales do, and removing it weakens the decision more.",
    "redundant": "The rationale is enough, but not needed: it preserves the decision better than "
    "random rationales do, but so does the rest of the text.",
    "sufficient": "The rationale is enough: it preserves the decision better than random "
    "rationales do. The test does not show whether the rest of the text does so, too.",
    "partner": "The rationale is needed, but not enough: removing it weakens the decision more "
    "than removing random rationales, and it preserves the decision only with the other words.",
    "needed": "The rationale is needed: removing it weakens the decision more than removing random "
    "rationales. The test does not show how it works with the rest of the text.",
    "relevant": "The rationale matters: keeping and removing it, taken together, affect the "
    "decision more than with random rationales. The tests do not show whether it is enough or "
    "needed.",
    "no evidence": "The rationale affects the decision no more clearly than random rationales do.",
    "against": "The rationale speaks against the decision: random rationales preserve the decision "
    "better.",
    "undecidable": "There are too few random rationales for a conclusion.",
    "undefined": "There is nothing to compare the rationale with.",
}
SUPPORTING: frozenset[Reading] = frozenset(
    ("cause", "redundant", "sufficient", "partner", "needed", "relevant")
)
OF_NSR: dict[Outcome, str] = {
    "faithful": "The rationale alone has a higher NSR than the same number of random {unit}s.",
    "inconclusive": "It is unclear whether the rationale has a higher NSR than the same number of "
    "random {unit}s.",
    "anti-faithful": "The same number of random {unit}s has a higher NSR than the rationale.",
}


def by_probability(report: IceResult) -> bool:
    """Return True if the variant compares the target label's probability, and False if it compares
    its retained share (NSR)."""
    return report.provenance.variant == "robust"


def alpha(report: IceResult) -> float | None:
    """Return the significance level of the verdicts, or None if the result does not have it."""
    level = report.provenance.parameters.get("alpha")
    return level if isinstance(level, float) else None


def verdict(report: IceResult, test: IceTest) -> Verdict:
    """Return the verdict in one or two words, with the win rate that chance would give."""
    chance = f"chance is 0.5{_spread(test)}"
    word, tone = WORDS["undecidable" if _min_p(report, test) is not None else test.verdict]
    rivals = f" (M = {test.null.draws})" if word == WORDS["undecidable"][0] else ""
    return Verdict(word + rivals, tone, chance)


def sentence(report: IceResult, test: IceTest) -> str:
    """Return the verdict as one or two sentences."""
    if test.verdict is None:
        return NOTHING
    least = _min_p(report, test)
    if least is not None:
        return f"There are too few random rationales for a verdict: p cannot be below {least:.3f}."
    if test.aspect == "necessity":
        return OF_NECESSITY[test.verdict].format(unit=report.unit)
    if by_probability(report):
        return OF_PROBABILITY[test.verdict].format(unit=report.unit)
    return OF_NSR[test.verdict].format(unit=report.unit) + _reverse_text(report, test)


def score_text(report: IceResult) -> str | None:
    """Return a text that explains the score and its chance level, or None without a score."""
    if report.score is None:
        return None
    head = report.components.tests[0]
    which = "the first explanation at its first size"
    if not by_probability(report):
        return (
            f"The score is the strict win rate of {which}. It compares NSR, and ties count as "
            "losses. If there are ties, as in short texts, chance gives less than 0.5."
        )
    of_aspect = [test for test in report.components.tests if test.aspect == head.aspect]
    operators = sum(_same_trial(test, head) for test in of_aspect)
    if operators == 1:
        return f"The score is the win rate of {which}. By chance it is 0.5."
    return (
        f"The score is the win rate of {which}, averaged over {operators} operators. By chance it "
        "is 0.5."
    )


def _min_p(report: IceResult, test: IceTest) -> float | None:
    if test.verdict == "undecidable":
        return test.null.attainable_p
    level = alpha(report)
    if test.verdict != "inconclusive" or level is None:
        return None
    if test.p_adjusted is not None:  # variant robust calls these tests undecidable
        return None
    least = 2 / (test.null.draws + 1)
    return least if least > level else None


def _spread(test: IceTest) -> str:
    """Return the standard deviation of the win rate under chance, as text: √((M + 2) / (12 M)) for
    M random draws without ties."""
    draws = test.null.draws
    if not draws:
        return ""
    return f" ± {significant(math.sqrt((draws + 2) / (12 * draws)), 2)}"


def _reverse_text(report: IceResult, test: IceTest) -> str:
    """Return a sentence about operators under which an empty text makes the target label more
    probable than the whole text does. Under these a higher NSR means a lower probability. Return an
    empty string if there are none."""
    operators = [
        other.operator
        for other in report.components.tests
        if _same_trial(other, test)
        and test.operator in (other.operator, "mean")
        and _is_reverse(other)
    ]
    if not operators:
        return ""
    return (
        f" With {', '.join(operators)}, the whole text makes the target label less probable than "
        "an empty text does. A higher NSR then means a less probable label."
    )


def _is_reverse(test: IceTest) -> bool:
    scores = test.scores
    if scores is None or scores.empty is None or not test.null.sd:
        return False
    return scores.full < scores.empty


def _same_trial(test: IceTest, other: IceTest) -> bool:
    return (test.explanation, test.k) == (other.explanation, other.k)


PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "quote-not-in-text": "quotation not in the text",
    "worse-than-random": "random words do better",
}
IN_TEXT = "quotations-in-text"
BEATS = "beats-random-rationales"
NOTHING = "There is nothing to compare the rationale with."


def finding(report: IceResult) -> Finding:
    """Return the verdict on the first explanation, at its first rationale size and with the first
    operator. If a quotation is not in the text, the verdict states this, as there is no test."""
    missing = [reason.detail for reason in report.reasons if reason.code == "quote-not-found"]
    if missing:
        check = failed(IN_TEXT, "quote-not-in-text", f"{missing[0].capitalize()}.")
        return conclude([check], {BEATS})
    return conclude([_beats(report)], {BEATS})


def _beats(report: IceResult) -> Check:
    """Return the check that the explanation does better than random explanations. It combines
    sufficiency and necessity if both were tested, else it uses the single test. The tests and their
    combination are corrected for two tests."""
    test = next(iter(report.components.tests), None)
    if test is None or test.verdict is None or report.score is None:
        return undefined(BEATS, report, "score") or not_tested(BEATS, "too-few-rivals", NOTHING)
    reading = report.reading
    if test.verdict == "undecidable" and reading in (None, "undecidable"):
        return inconclusive(BEATS, "too-few-rivals", sentence(report, test))
    if reading is None or reading in ("undecidable", "undefined"):
        supports, contradicts = test.verdict == "faithful", test.verdict == "anti-faithful"
        message = sentence(report, test)
    else:
        supports, contradicts, message = (
            reading in SUPPORTING,
            reading == "against",
            READINGS[reading],
        )
        p_values = [test.null.p_calibrated for test in report.components.tests]
        calibrated = next((p for p in p_values if p is not None), None)
        if calibrated is not None:  # of a text with few places
            message += f" Calibrated on other posts, p is {significant(calibrated)}."
    if supports:
        return passed(BEATS, message)
    if contradicts:
        return failed(BEATS, "worse-than-random", message)
    return inconclusive(BEATS, "no-clear-difference", message)
