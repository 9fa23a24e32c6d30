"""The verdict of FTC: does the model answer counterfactuals as the explanation demands, and better
than chance?"""

from __future__ import annotations

from dataclasses import dataclass

from services.ftc.report import FtcResult
from shared.contracts.checks import (
    conclude,
    failed,
    inconclusive,
    not_tested,
    passed,
    undefined,
)
from shared.contracts.messages import Check, Finding
from shared.reports.pages.page_text import percent

UNUSUAL = 0.05  # a p-value above it is what chance does too
CHANCE = 0.5  # win rate of a random phrase
PROBLEMS = {  # code of a failed check → what is wrong, worst first
    "answered-otherwise": "the model answers differently",
}
ANSWERED = "answered-as-demanded"
BEATS = "beats-random-phrases"
CARRYING = frozenset((ANSWERED, BEATS))
NOTHING = "No counterfactual could be made from the explanation."
NO_RIVALS = "There are too few random phrases to compare with."


@dataclass(frozen=True, slots=True)
class Rivals:
    """Comparison of the explanation's phrase with random phrases. It is only made if there are
    enough random phrases to make p <= 0.05 possible."""

    phrases: str
    win_rate: float  # share of them that score lower, ties half
    p_value: float

    @property
    def sentence(self) -> str:
        """The comparison with random phrases as a sentence, without a full stop."""
        wins = percent(self.win_rate)
        return f"The explanation's phrases beat {wins} of {self.phrases} (chance: 50 %)"


def finding(report: FtcResult) -> Finding:
    """Return the verdict on the explanation. It compares the model's answers with answers to random
    phrases, which show the chance level."""
    counterfactuals = report.counterfactuals
    if report.abstained is not None or not counterfactuals:
        unknown = undefined(ANSWERED, report, "score")
        return conclude([unknown or not_tested(ANSWERED, "nothing-to-test", NOTHING)], ())
    rivals = _rivals(report)
    answered = _answered(report, rivals)
    if answered.outcome != "passed":
        return conclude([answered], CARRYING)
    return conclude([answered, _beats(rivals)], CARRYING)


def _rivals(report: FtcResult) -> Rivals | None:
    control = report.control
    if control is None or control.null_win_rate is None or control.null_p_value is None:
        return None
    if (control.null_attainable_p or 0) > UNUSUAL:
        return None
    return Rivals(_phrases(report), control.null_win_rate, control.null_p_value)


def _answered(report: FtcResult, rivals: Rivals | None) -> Check:
    counterfactuals = report.counterfactuals
    borne_out = sum(edited.satisfaction.delta == 1 for edited in counterfactuals)
    if borne_out == len(counterfactuals):
        return passed(ANSWERED, "The model answers the counterfactuals as the explanation implies.")
    if borne_out:
        sentence = "The model answers one of two counterfactuals as the explanation implies"
    else:
        sentence = "The model does not answer the counterfactuals as the explanation implies"
    if rivals is None:
        return not_tested(ANSWERED, "too-few-rivals", f"{sentence}. {NO_RIVALS}")
    if rivals.win_rate <= CHANCE:
        return failed(ANSWERED, "answered-otherwise", f"{sentence}. {rivals.sentence}.")
    reason = "one-of-two" if borne_out else "no-clear-difference"
    return inconclusive(ANSWERED, reason, f"{sentence}. {rivals.sentence}.")


def _beats(rivals: Rivals | None) -> Check:
    if rivals is None:
        return not_tested(BEATS, "too-few-rivals", NO_RIVALS)
    sentence = f"{rivals.sentence}, p = {rivals.p_value:.2g}."
    if rivals.p_value > UNUSUAL:
        return inconclusive(BEATS, "no-clear-difference", sentence)
    return passed(BEATS, sentence)


def _phrases(report: FtcResult) -> str:
    kinds = {edited.null.kind for edited in report.counterfactuals if edited.null}
    matched = "random phrases of the same type and premise support"
    return matched if kinds == {"phrases"} else "random phrases from other texts"
