"""What many results come to: always with a denominator, never better than their interval allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.registry import metrics
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
    scored: int = 110,
    undefined: int = 0,
    metric: str = "hatexscore",
    why: dict[str, int] | None = None,
    **more: Any,
) -> list[str]:
    """Of so many results. more: `report`, `verdicts`."""
    said = {"No label was sent and none is stated.": undefined} if undefined else {}
    tally = ResultTally(
        scored + undefined, scored, more.get("verdicts", {}), said if why is None else why
    )
    return sentences(metrics()[metric], tally, more.get("report", {}))


def test_a_large_undefined_share_is_said_before_what_was_found() -> None:
    verdicts = {"supported": 12, "unsupported": 25, "undefined": 73}
    first, second, third = found(37, 73, report=HATEFUL, verdicts=verdicts)
    assert first == "Of 110 explanations 37 could be scored: 25 are unsupported, 12 supported."
    assert second == "73 have no score: No label was sent and none is stated."
    assert third == (
        "Hateful decisions (40): their quotes move the model better than random spans do "
        "(62 %, interval 55 % to 69 %; chance 50 %)."
    )


def test_repeated_results_are_told_beside_the_count() -> None:
    report = {"scored": 14, "duplicates": 7, "score": {"value": 0.2, "of": 4}}
    first, *_ = found(8, 13, report=report)
    assert first == (
        "Of 21 explanations 8 could be scored. That is few. 7 of the 21 repeat others and count "
        "once: means are over 4 with a score."
    )
    [alone, *_] = found(4, 10, report=report)  # of a report that counts the rest alone
    assert alone == "Of 14 explanations 4 could be scored. That is few."


def test_a_small_one_is_said_after() -> None:
    verdicts = {"supported": 109, "undefined": 1}
    first, second, third = found(109, 1, report=HATEFUL, verdicts=verdicts)
    assert first == "Of 110 explanations 109 are supported."
    assert second.startswith("Hateful decisions (40): their quotes")
    assert third.startswith("1 has no score")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.45, 0.69, "cannot be told apart from chance"),
        (0.5, 0.6, "cannot be told apart from chance"),
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
    assert ("cannot be told" in said) is ("cannot be told" in sentence)


def test_without_an_interval_nothing_is_better() -> None:
    alone = {"value": 0.9, "low": None, "high": None, "of": 1}
    sentence = found(1, report=by_decision(hateful=alone))[1]
    assert sentence == (
        "Hateful decisions (1): too few to tell whether their quotes move the model better than "
        "random spans do (90 %; chance 50 %)."
    )


def test_what_other_decisions_want_is_told_apart_and_never_pooled() -> None:
    told = found(report=by_decision(hateful=BEATEN, non_hateful=LITTLE))
    assert told[1].startswith("Hateful decisions (40): their quotes move the model better")
    assert told[2] == (
        "Non-hateful decisions (22): little movement is wanted; their quotes move the model more "
        "than 10 % of random spans do."
    )
    assert "26 %" not in " ".join(told)


def test_a_warning_that_the_numbers_cannot_be_read_without_is_part_of_the_finding() -> None:
    warned = ("the asked model makes 50 % of the decisions: QF tells about it", "few clusters")
    told = found(report=HATEFUL | {"warnings": warned})
    assert told[-1] == "The asked model makes 50 % of the decisions: QF tells about it."
    assert warned[0] not in " ".join(found(metric="haf", report={"warnings": warned}))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.05, 0.2, "The explanations bring the judge closer to people: mean gain 0.1 ("),
        (-0.2, -0.05, "The explanations lead the judge away from people: mean gain "),
        (-0.1, 0.2, "It cannot be told whether the explanations bring the judge closer to people"),
    ],
)
def test_a_gain_says_whether_explanations_helped(low: float, high: float, said: str) -> None:
    mean = {"value": 0.1 if high > 0 else -0.1, "low": low, "high": high, "of": 40}
    report = {"score": mean, "parts": {"kendall_gain": {"mean": mean}}}
    assert found(metric="hlv", report=report)[1].startswith(said)


def test_a_verdict_without_a_score_is_counted_as_one() -> None:
    verdicts = {"contradicted": 3, "unsupported": 8, "undefined": 2}
    assert found(8, 5, verdicts=verdicts)[0].startswith(
        "Of 13 explanations 8 could be scored, and 11 have a verdict: 8 are unsupported, "
        "3 contradicted."
    )


def test_few_are_said_to_be_few() -> None:
    assert "That is few." in found(29)[0]
    assert "That is few." not in found(30)[0]
    assert "That is few." not in found(0, 3)[0]


def test_where_all_are_undecided_no_mean_is_told() -> None:
    told = found(120, verdicts={"undecided": 120}, report=HATEFUL)
    why = "chance would do as well, or it cannot be told"
    assert told == [f"Of 120 explanations 120 are undecided: {why}."]
    mean = {"score": {"value": 0.5, "low": 0.25, "high": 0.75, "of": 120}}
    alone = found(120, metric="haf", verdicts={"undecided": 120}, report=mean)
    assert alone[0] == "Of 120 explanations 120 are undecided."  # nothing stands for chance
    assert len(alone) == 2


@pytest.mark.parametrize(
    ("scored", "too_few", "said"),
    [
        (37, 30, "30 of the 37 could not have been supported, whatever was explained: "),
        (37, 37, "None of the 37 could have been supported"),
        (1, 1, "It could not have been supported"),
    ],
)
def test_what_could_never_be_supported_is_counted(scored: int, too_few: int, said: str) -> None:
    tally = ResultTally(110, scored, too_few=too_few)
    told = sentences(metrics()["hatexscore"], tally, HATEFUL)
    (sentence,) = [one for one in told if "too few rivals" in one]
    assert sentence.startswith(said)
    assert not any("too few rivals" in one for one in found(37))


@pytest.mark.usefixtures("_embedded_models")
def test_reports_tell_which_of_them_could_never_be_supported() -> None:
    request = HatexscoreRequest.model_validate(CONTRACT.examples["your own probabilities"])
    one = SERVICE.score(request)
    reports = [
        one.model_copy(update={"score": score, "quotes_matter": matter})
        for score, matter in ((0.5, "too_few"), (0.5, "yes"), (0.5, None), (None, "too_few"))
    ]
    assert ResultTally.of(reports, CONTRACT).too_few == 1
    (least,) = metrics()["ftc"].facts.too_few
    assert not least.holds(one)


def test_without_a_figure_against_chance_the_mean_is_told() -> None:
    mean = {"value": 0.5, "low": 0.25, "high": 0.75, "of": 110}
    told = found(metric="haf", report={"score": mean})
    assert told[1] == "Their mean score is 0.5 (interval 0.25 to 0.75)."


def test_sentences_that_differ_in_a_number_are_one_with_its_range() -> None:
    said = [
        "fewer than 8 clusters: 3",
        "rows of one text agree: 1,200 rows count as 31",
        "fewer than 8 clusters: 7",
        "fewer than 8 clusters: 5",
        "fewer than 8 clusters: 5",
        "no interval",
    ]
    assert fold_alike(said) == [
        "fewer than 8 clusters: 3 to 7 (3 times)",
        "rows of one text agree: 1,200 rows count as 31",
        "no interval",
    ]
    assert fold_alike(["1,200 of 3.5", "900 of 3.5"]) == ["900 to 1,200 of 3.5 (2 times)"]


def test_the_most_frequent_reason_is_told_with_its_count() -> None:
    why = {"One reason.": 60, "Another.": 13}
    assert "73 have no score, most often (60): One reason." in found(37, 73, why=why)


def test_every_figure_against_chance_says_what_its_rivals_are() -> None:
    for contract in metrics().values():
        assert (contract.facts.rivals is None) is (not contract.facts.chance)


def test_reasons_that_differ_in_a_number_are_one() -> None:
    why = {"P is 0.1; no.": 1, "None at all.": 2, "P is 0.25; no.": 1, "P is 0.3; no.": 1}
    tally = ResultTally(results=6, scored=1, why=why)
    told = " ".join(sentences(None, tally, {}))
    assert "most often (3): P is some; no" in told
    assert "…" not in " ".join(sentences(None, replace(tally, why={"P is 0.1; no.": 5}), {}))


def test_what_has_no_score_is_not_said_twice_to_have_none() -> None:
    why = {"No score: P(hateful) = 0.2; no.": 1, "No score: P(hateful) = 0.3; no.": 2}
    tally = ResultTally(results=3, scored=0, why=why)
    assert sentences(None, tally, {}) == [
        "Of 3 explanations none could be scored.",
        "3 have no score: P(hateful) = various values; no.",
    ]
