"""Whether an explanation is consistent with its model, in a sentence or two."""

from __future__ import annotations

from typing import Literal

from services.consistency.report import ConsistencyNull, ConsistencyResult
from shared.contracts.messages import Finding
from shared.reports.pages.page_text import Tone, Verdict, finding, significant

LEVEL = 0.05
EVEN = 0.5  # of a win rate
Told = Literal["beats chance", "no better than chance", "unclear", "too few rivals"]
SENTENCES: dict[str, dict[Told, str]] = {
    "simulatability": {
        "beats chance": "It predicts the model's answers to edited texts.",
        "no better than chance": "Chance predicts the model's answers to edited texts as well.",
        "unclear": "Chance might predict the model's answers to edited texts as well.",
        "too few rivals": "There are too few edits to compare its predictions with chance.",
    },
    "attribution": {
        "beats chance": "It rests on the same words as the answer.",
        "no better than chance": "It rests on other words than the answer.",
        "unclear": "It might rest on the same words as the answer by chance.",
        "too few rivals": "There are too few words to compare what both rest on.",
    },
}


def verdict(report: ConsistencyResult) -> Verdict:
    """The report in words."""
    if report.score is None:
        return Verdict("The score is undefined: the warnings say why.", "neutral")
    told = {name: _told(null) for name, null in nulls_of(report).items()}
    text = " ".join(SENTENCES[name][one] for name, one in told.items())
    if not text:
        text = "There is nothing to compare it with."
    return Verdict(text, _tone(list(told.values())), _chance(report))


def nulls_of(report: ConsistencyResult) -> dict[str, ConsistencyNull]:
    """Part → its null, where it has one."""
    control = report.control
    if control is None:
        return {}
    every = {"simulatability": control.simulatability, "attribution": control.attribution}
    return {name: null for name, null in every.items() if null is not None}


def _told(null: ConsistencyNull) -> Told:
    if null.p_value is None or null.attainable_p is None or null.attainable_p > LEVEL:
        return "too few rivals"
    if null.p_value <= LEVEL:
        return "beats chance"
    return "no better than chance" if (null.win_rate or 0.0) <= EVEN else "unclear"


def _tone(told: list[Told]) -> Tone:
    """Good: every test is passed, which both at 0.05 each is a test at 0.05. Bad: one that can tell
    is not even half passed."""
    if "no better than chance" in told:
        return "bad"
    return "good" if told and set(told) == {"beats chance"} else "neutral"


def _chance(report: ConsistencyResult) -> str | None:
    null = nulls_of(report).get("simulatability")
    if null is None or null.win_rate is None:
        return None
    rivals = "random citations" if null.kind == "spans" else "predictions dealt at random"
    return (
        f"It predicts better than {significant(null.win_rate * 100)} % of {null.draws} {rivals} "
        "(chance: 50 %)."
    )


def in_a_word(report: ConsistencyResult) -> Finding:
    """The five words that every metric has, for its own."""
    return finding(report, verdict(report))
