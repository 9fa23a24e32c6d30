"""The laws of the whole metric, on planted judges: what chance does, and what signal does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceTest
from tests.flat_requests import flat_request
from tests.ice.planted import planted, weighted, word

score = SERVICE.score
score_batch = SERVICE.score_batch

LENGTHS = (5, 8, 10, 15, 40)
NIGHTLY = 2_000
SIZES = [  # and how far the mean and the standard deviation may be from the expected ones
    pytest.param(500, 0.035, 0.1, id="few"),
    pytest.param(NIGHTLY, 0.01, 0.05, id="many", marks=pytest.mark.nightly),
]
# p has one grid, of M + 1 steps, where all tests have as many draws; of 40 steps .05 is one
ONE_SIDE = {"decision": "yes", "draws": 39, "aspects": ("sufficiency",)}


def text_of(length: int, number: int = 0) -> str:
    """Different words, of examples that share none."""
    return " ".join(word(number * 100 + place) for place in range(length))


def span(text: str, places: list[int]) -> list[dict[str, int]]:
    words = text.split()
    starts = np.cumsum([0, *(len(one) + 1 for one in words)])
    return [{"start": int(starts[p]), "end": int(starts[p]) + len(words[p])} for p in places]


def random_rationales(length: int, count: int, **more: Any) -> list[IceRequest]:
    """A fifth of the words, at random."""
    random = np.random.default_rng(length)
    made = []
    for number in range(count):
        text = text_of(length, number)
        size = max(1, length // 5)
        places = sorted(random.choice(length, size, replace=False).tolist())
        made.append(
            flat_request(
                IceRequest, text=text, rationale=span(text, places), **{"null": "tokens"} | more
            )
        )
    return made


def found_in(requests: list[IceRequest]) -> list[IceTest]:
    return [report.components.tests[0] for report in score_batch(requests)]


@pytest.mark.parametrize(("examples", "of_mean", "of_deviation"), SIZES)
@pytest.mark.parametrize("length", LENGTHS)
def test_chance_wins_half_and_its_p_values_are_uniform(
    length: int, examples: int, of_mean: float, of_deviation: float
) -> None:
    with planted():
        found = found_in(random_rationales(length, examples, **ONE_SIDE))
    p_values = np.array([test.p_value for test in found])
    draws = np.array([test.null.draws for test in found])
    # p is uniform on 1/(M+1), ..., 1; less a uniform share of a step it is uniform on (0, 1)
    steps = np.random.default_rng(0).random(examples) / (draws + 1)
    assert stats.kstest(p_values - steps, "uniform").pvalue > 0.01
    assert np.all(np.mod(np.round(p_values * (draws + 1), 9), 1) == 0)
    rates = np.array([test.win_rate for test in found])
    assert np.mean(rates) == pytest.approx(0.5, abs=of_mean)
    deviation = np.sqrt(np.mean((draws + 2) / (12 * draws)))
    assert np.std(rates) == pytest.approx(deviation, rel=of_deviation)
    assert [test.null.exact for test in found] == [length in (5, 8)] * examples


@pytest.mark.parametrize(
    ("examples", "slack"), [(500, 0.03), pytest.param(NIGHTLY, 0.02, marks=pytest.mark.nightly)]
)
def test_chance_rarely_gets_a_verdict(examples: int, slack: float) -> None:
    with planted():
        found = found_in(random_rationales(15, examples, **ONE_SIDE))
    wrong = np.mean([test.verdict != "inconclusive" for test in found])
    assert wrong == pytest.approx(0.05, abs=slack)


@pytest.mark.parametrize("operator", ["delete", "mask", "mask_unk", "mask_pad", "infill"])
@pytest.mark.parametrize("length", [25, 40])
def test_all_the_signal_wins_everything(operator: str, length: int) -> None:
    text = text_of(length)
    pool = ["w900 w901 w902 w903 w904 w905"]
    with planted(weighted({7: 4.0})):
        report = score(
            IceRequest(
                text=text,
                rationale=span(text, [7]),
                decision="yes",
                options={
                    "operators": (operator,),
                    "infill_pool": tuple(pool),
                    "draws": 19 if length == 25 else 39,
                },
            )
        )
    test = report.components.tests[0]
    assert (report.score, test.win_rate, test.strict_win_rate) == (1.0, 1.0, 1.0)
    assert test.nsr == pytest.approx(1.0)
    assert test.p_value == pytest.approx(1 / (test.null.draws + 1))


def test_several_tokens_with_all_the_signal_win_everything() -> None:
    text = text_of(40)
    signal = {3: 2.0, 9: 1.5, 17: 1.0, 30: 2.0}
    with planted(weighted(signal)):
        report = score(IceRequest(text=text, rationale=span(text, sorted(signal)), decision="yes"))
    test = report.components.tests[0]
    assert (test.win_rate, test.verdict) == (1.0, "faithful")


def test_none_of_the_signal_is_anti_faithful() -> None:
    text = text_of(40)
    signal = dict.fromkeys(range(30), 1.0)  # none of the draws misses them all, and ties
    with planted(weighted(signal)):
        report = score(
            IceRequest(
                text=text,
                rationale=span(text, list(range(30, 38))),
                decision="yes",
                options={"null": "tokens", "alternative": "two-sided"},
            )
        )
    test = report.components.tests[0]
    assert (test.win_rate, test.verdict) == (0.0, "anti-faithful")
    assert test.effect is not None
    assert test.effect < 0


def test_everything_but_the_one_token_that_counts_is_anti_faithful() -> None:
    text = text_of(40)
    with planted(weighted({7: 4.0})):
        others = [place for place in range(40) if place != 7]
        report = score(
            IceRequest(
                text=text,
                rationale=span(text, others),
                decision="yes",
                options={"null": "tokens", "alternative": "two-sided"},
            )
        )
    test = report.components.tests[0]
    assert test.null.exact
    assert (test.win_rate, test.verdict) == (0.0, "anti-faithful")


def test_a_strict_win_rate_is_biased_by_ties_and_the_mid_rank_is_not() -> None:
    with planted(lambda ids: float(len(ids) % 2)):
        found = found_in(random_rationales(40, 50, decision="yes"))
    assert {test.win_rate for test in found} == {0.5}
    assert {test.strict_win_rate for test in found} == {0.0}
    assert {test.tie_rate for test in found} == {1.0}
    assert {test.effect for test in found} == {None}
