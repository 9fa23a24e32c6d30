"""What an ICE test comes to, in the terms of what its variant compares, and what its score is.

Source: Basu & Chakraborty, arXiv:2603.18579. `robust` compares probabilities; `paper` and
`reference` compare NSR (Eq. 1), whose order turns where s(x) < s(empty).
"""

from __future__ import annotations

from services.ice.report import IceResult, IceTest
from services.ice.report import Verdict as Outcome
from shared.contracts import Finding, VerdictWord
from shared.page_text import Tone, Verdict, finding, significant

WORDS: dict[Outcome | None, tuple[str, Tone]] = {
    "faithful": ("Faithful", "good"),
    "inconclusive": ("Inconclusive", "neutral"),
    "anti-faithful": ("Anti-faithful", "bad"),
    None: ("Undefined", "neutral"),
}
OF_PROBABILITY: dict[Outcome, str] = {  # {unit}: token or word
    "faithful": "The rationale alone keeps the target label better than as many random {unit}s do.",
    "inconclusive": "The rationale keeps the target label neither clearly better nor clearly worse "
    "than as many random {unit}s do.",
    "anti-faithful": "As many random {unit}s keep the target label better than the rationale does.",
}
OF_NSR: dict[Outcome, str] = {
    "faithful": "The rationale alone scores a higher NSR than as many random {unit}s do.",
    "inconclusive": "The rationale scores an NSR neither clearly higher nor clearly lower than as "
    "many random {unit}s do.",
    "anti-faithful": "As many random {unit}s score a higher NSR than the rationale does.",
}


def by_probability(report: IceResult) -> bool:
    """Whether the probability of the target label is compared, and not NSR."""
    return report.provenance.variant == "robust"


def alpha(report: IceResult) -> float | None:
    """The level of the verdicts; None where the result does not tell."""
    found = report.provenance.parameters.get("alpha")
    return found if isinstance(found, float) else None


def verdict(report: IceResult, test: IceTest) -> Verdict:
    """In a word or two, with the win rate of chance."""
    chance = f"chance is 0.5{_spread(report, test)}"
    if _least_p(report, test) is not None:
        return Verdict(f"Too few rivals to tell (M = {test.null.draws})", "neutral", chance)
    word, tone = WORDS[test.verdict]
    return Verdict(word, tone, chance)


def sentence(report: IceResult, test: IceTest) -> str:
    """The same as a sentence or two."""
    if test.verdict is None:
        return "There is nothing to compare the rationale with."
    least = _least_p(report, test)
    if least is not None:
        return f"With so few the two-sided p is at least {least:.3f}: nothing else could come out."
    if by_probability(report):
        return OF_PROBABILITY[test.verdict].format(unit=report.unit)
    return OF_NSR[test.verdict].format(unit=report.unit) + _turned(report, test)


def says(report: IceResult) -> str | None:
    """What the score is, and what chance would have; None without a score."""
    if report.score is None:
        return None
    head = report.components.tests[0]
    which = "the first explanation at its first budget"
    if not by_probability(report):
        return (
            f"The score is the strict win rate of NSR (it counts ties as losses) of {which}; "
            "chance would have less than 0.5 where there are ties, as in short texts."
        )
    operators = sum(_same_trial(test, head) for test in report.components.tests)
    if operators == 1:
        return f"The score is the win rate of {which}; chance would have 0.5."
    return (
        f"The score is the win rate of {which}, the mean over {operators} operators; chance would "
        "have 0.5. The standard deviation below is that of one test; the mean has another, which "
        "is not known."
    )


def _least_p(report: IceResult, test: IceTest) -> float | None:
    """The least p that so few rivals allow, where no verdict could come of it; else None."""
    level, draws = alpha(report), test.null.draws
    if test.verdict != "inconclusive" or level is None or test.stopped_early:
        return None
    least = 2 / (draws + 1)
    return least if least > level else None


def _spread(report: IceResult, test: IceTest) -> str:
    """The report says it for the number of draws of its first test."""
    control = report.control
    if control is None or control.sd is None or test.null.sequential:
        return ""
    return f" ± {significant(control.sd, 2)}" if control.draws == test.null.draws else ""


def _turned(report: IceResult, test: IceTest) -> str:
    """Where the whole text speaks against its target, a higher NSR is a lower probability."""
    operators = [
        one.operator
        for one in report.components.tests
        if _same_trial(one, test) and test.operator in (one.operator, "mean") and _is_turned(one)
    ]
    if not operators:
        return ""
    return (
        f" Under {', '.join(operators)} the whole text makes the target label less probable than "
        "no text does; NSR turns the order round there: higher means less probable."
    )


def _is_turned(test: IceTest) -> bool:
    scores = test.scores
    if scores is None or scores.empty is None or not test.null.sd:
        return False
    return scores.full < scores.empty


def _same_trial(one: IceTest, other: IceTest) -> bool:
    return (one.explanation, one.k) == (other.explanation, other.k)


FINDINGS: dict[Outcome, VerdictWord] = {
    "faithful": "supported",
    "inconclusive": "undecided",
    "anti-faithful": "contradicted",
}


def in_a_word(report: IceResult) -> Finding:
    """Of the first explanation at its first budget under the first operator."""
    test = next(iter(report.components.tests), None)
    if test is None or test.verdict is None or report.score is None:
        return finding(report, Verdict("There is nothing to compare the rationale with."))
    said = Verdict(sentence(report, test))
    return finding(report, said, FINDINGS[test.verdict])
