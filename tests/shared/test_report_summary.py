"""What many results come to: always with a denominator, never better than their interval allows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from services.registry import metrics
from shared.contracts.checks import conclude, failed, not_tested, passed
from shared.reports.pages.report_summary import ResultTally, fold_alike, sentences

BEATEN = {"value": 0.62, "low": 0.55, "high": 0.69, "of": 40}
LITTLE = {"value": 0.1, "low": 0.05, "high": 0.15, "of": 22}


def by_decision(**beaten: Any) -> dict[str, Any]:
    """A report whose pooled share is nobody's. beaten: decision → its share of spans beaten."""
    means = {name.replace("_", "-"): {"share_beaten": one} for name, one in beaten.items()}
    return {
        "share_beaten": {"value": 0.26, "low": 0.2, "high": 0.3, "of": 28},
        "by_decision": means,
    }


HATEFUL = by_decision(hateful=BEATEN)


def found(
    scored: int = 110, without: int = 0, metric: str = "hatexscore", **more: Any
) -> list[str]:
    """The sentences on so many results. more: `report`, and fields of the tally."""
    report = more.pop("report", {})
    fields: Any = {"verdicts": {"holds_up": scored, "not_tested": without}} | more
    return sentences(metrics()[metric], ResultTally(scored + without, scored, **fields), report)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.45, 0.69, "it is unclear whether"),
        (0.5, 0.6, "it is unclear whether"),
        (0.51, 0.6, " better than "),
        (0.31, 0.4, " worse than "),
    ],
)
def test_nothing_is_better_while_chance_is_in_the_interval(
    low: float, high: float, said: str
) -> None:
    interval = {"value": (low + high) / 2, "low": low, "high": high, "of": 110}
    sentence = found(report=by_decision(hateful=interval))[1]
    assert said in sentence
    assert ("unclear" in said) is ("unclear" in sentence)


def test_without_an_interval_nothing_is_better() -> None:
    alone = {"value": 0.9, "low": None, "high": None, "of": 1}
    sentence = found(1, report=by_decision(hateful=alone))[1]
    assert sentence == (
        "Hateful decisions (1): there are too few results to tell whether their quotes "
        "move the model better than random spans do (90 %; chance 50 %)."
    )


def test_short_posts_that_cannot_be_tested_alone_are_tested_together() -> None:
    """39 results, none of which is decided, whose quotes beat 94 % of random spans."""
    beaten = {"value": 0.94, "low": 0.68, "high": 0.98, "of": 39}
    report = by_decision(hateful=beaten)
    together = {"p_value": 1e-9, "found": 21, "rate": 0.1}
    report["by_decision"]["hateful"]["together"] = together
    told = found(39, verdicts={"not_tested": 39}, untested={"too-few-places": 39}, report=report)
    assert told[-1] == (
        "Hateful decisions (39): their quotes move the model better than random spans do (94 %, "
        "interval 68 % to 98 %; chance 50 %; p < 0.001 for all results together). 21 of them "
        "are significant in their own tests, at most 10 % of these by chance."
    )
    assert not any("chance would do as well" in sentence for sentence in told)


def test_the_test_of_all_decides_and_not_their_interval() -> None:
    few = {"value": 0.95, "low": None, "high": None, "of": 3}
    report = by_decision(hateful=few)
    report["by_decision"]["hateful"]["together"] = {"p_value": 0.012, "found": 0, "rate": 0.1}
    assert (
        "better than random spans do (95 %; chance 50 %; p = 0.012 for all results together)."
        in (found(3, report=report)[1])
    )
    report = by_decision(hateful=BEATEN)
    report["by_decision"]["hateful"]["together"] = {"p_value": 0.06, "found": 0, "rate": 0.1}
    assert "it is unclear whether" in found(report=report)[1]


def test_what_other_decisions_want_is_told_apart_and_never_pooled() -> None:
    told = found(report=by_decision(hateful=BEATEN, non_hateful=LITTLE))
    assert told[1].startswith("Hateful decisions (40): their quotes move the model better")
    assert told[2] == (
        "Non-hateful decisions (22): masking the quotes should change the model's answer only a "
        "little. Their quotes move the model more than 10 % of random spans do."
    )
    assert "26 %" not in " ".join(told)


def test_a_warning_that_the_numbers_cannot_be_read_without_is_part_of_the_finding() -> None:
    warned = ("the judge makes 50 % of the decisions: QF describes it", "few clusters")
    told = found(report=HATEFUL | {"warnings": warned})
    assert told[-1] == "The judge makes 50 % of the decisions: QF describes it."
    assert warned[0] not in " ".join(found(metric="haf", report={"warnings": warned}))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.05, 0.2, "The explanations bring the judge closer to people: mean gain 0.1 ("),
        (-0.2, -0.05, "The explanations lead the judge away from people: mean gain "),
        (-0.1, 0.2, "It is unclear whether the explanations bring the judge closer to people"),
    ],
)
def test_a_gain_says_whether_explanations_helped(low: float, high: float, said: str) -> None:
    mean = {"value": 0.1 if high > 0 else -0.1, "low": low, "high": high, "of": 40}
    report = {"score": mean, "parts": {"kendall_gain": {"mean": mean}}}
    assert found(metric="hlv", report=report)[1].startswith(said)


def test_few_are_said_to_be_few() -> None:
    assert "Too few" in found(29)[0]
    assert "Too few" not in found(30)[0]


def test_a_tally_counts_problems_and_the_first_reason_of_what_is_not_tested() -> None:
    one = conclude([passed("a", "It is."), not_tested("b", "no-words", "It has none.")], {"b"})
    other = conclude([failed("a", "odd", "It is odd."), failed("b", "odd", "Again.")], {"b"})
    reports: Any = [SimpleNamespace(score=None, **finding._asdict()) for finding in (one, other)]
    tally = ResultTally.of(reports)
    assert tally.verdicts == {"not_tested": 1, "problem_found": 1}
    assert (tally.problems, tally.untested) == ({"odd": 1}, {"no-words": 1})


def test_sentences_that_differ_in_a_number_are_one_with_its_range() -> None:
    clusters = [f"fewer than 8 clusters: {number}" for number in ("3", "1,200", "5", "5")]
    told = fold_alike([clusters[0], "no interval", *clusters[1:]])
    assert told == ["fewer than 8 clusters: 3 to 1,200 (3 times)", "no interval"]


def test_every_figure_against_chance_says_what_its_rivals_are() -> None:
    for contract in metrics().values():
        assert (contract.facts.rivals is None) is (not contract.facts.chance)
