"""The group-sequential rule: exact size, p in stage-wise order, simulation as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shared.statistics import ranks
from shared.statistics.group_sequential import LEVEL, GroupSequential, looks_up_to, one_look
from shared.statistics.seeds import generator

RULE = looks_up_to(199)


def test_the_rule_is_the_one_of_the_card() -> None:
    assert GroupSequential((19, 39, 79, 139, 199), (4, 6, 9, 12), (-1, 0, 1, 3, 8)) == RULE
    assert RULE.size == pytest.approx(0.0487, abs=5e-5)
    assert RULE.attainable_p == pytest.approx(1 / 40)


@pytest.mark.parametrize("most", range(1, 201))
def test_every_number_of_draws_keeps_the_level_and_p_is_uniform_on_its_outcomes(most: int) -> None:
    rule = looks_up_to(most)
    masses = rule.outcomes(None)
    assert sum(masses.values()) == pytest.approx(1)
    assert rule.size <= LEVEL + 1e-9
    for outcome in masses:
        p = rule.p_value(outcome)
        due = sum(mass for other, mass in masses.items() if rule.p_value(other) <= p + 1e-12)
        assert due == pytest.approx(p)
        draws, count = outcome
        assert (p <= LEVEL + 1e-9) == (count <= rule.yes_up_to[rule.looks.index(draws)])


@pytest.mark.parametrize("most", [12, 30, 60, 150, 199])
def test_p_grows_with_the_draws_that_reach_the_score(most: int) -> None:
    rule = looks_up_to(most)
    for look in rule.looks:
        counts = sorted(count for draws, count in rule.outcomes(None) if draws == look)
        found = [rule.p_value((look, count)) for count in counts]
        assert found == sorted(found)


@pytest.mark.parametrize("others", [19, 45, 199, 400])
def test_a_random_one_of_few_placements_is_called_better_as_often_as_the_size_says(
    others: int,
) -> None:
    """Draws without replacement from a finite number of placements."""
    rule = looks_up_to(min(199, others))
    random = generator(3, "placements", others)
    runs = 4_000
    yes = 0
    for _ in range(runs):
        scores = random.permutation(others + 1)
        outcome = rule.stopped(scores[1 : 1 + rule.most] >= scores[0])
        assert outcome is not None
        yes += rule.p_value(outcome) <= LEVEL
    assert yes / runs == pytest.approx(rule.size, abs=4 * np.sqrt(LEVEL / runs))


@pytest.mark.parametrize(
    ("beat_rate", "yes", "draws"),
    [
        (None, 0.0487, 35.3),
        (0.9, 0.019, 113.3),
        (0.95, 0.398, 164.4),
        (0.97, 0.873, 129.3),
        (0.98, 0.983, 96.9),
        (0.99, 1.0, 62.9),
    ],
)
def test_the_table_of_the_card(beat_rate: float | None, yes: float, draws: float) -> None:
    assert RULE.yes_rate(beat_rate) == pytest.approx(yes, abs=1e-3)
    found = RULE.outcomes(beat_rate)
    assert sum(after * mass for (after, _), mass in found.items()) == pytest.approx(draws, abs=0.1)


def test_ties_never_make_a_yes_more_likely() -> None:
    random = generator(4, "ties")
    yes = 0
    for _ in range(3_000):
        scores = np.floor(random.random(200) * 10)
        outcome = RULE.stopped(scores[1:] >= scores[0])
        assert outcome is not None
        yes += RULE.p_value(outcome) <= LEVEL
    assert yes / 3_000 <= RULE.size


@pytest.mark.parametrize("runs", [3_000, pytest.param(40_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kinds", [0, 3, 10])
def test_both_tails_are_valid_and_add_up_to_more_than_one(kinds: int, runs: int) -> None:
    """Also with ties, which count against both sides. kinds: of scores; 0: no two are the same."""
    random = generator(6, "tails", kinds)
    found = []
    for _ in range(runs):
        scores = random.random(200)
        scores = np.floor(scores * kinds) if kinds else scores
        tails = RULE.tails(scores[0], scores[1:])
        assert tails is not None
        found.append(tails)
    p = np.array(found)
    assert np.all(p.sum(axis=1) > 1)
    assert np.all((p > 0) & (p <= 1))
    for level in (0.05, 0.1, 0.2, 0.5):
        error = 3 * np.sqrt(level * (1 - level) / len(found))
        assert np.all(np.mean(p <= level, axis=0) <= level + error)


def test_a_test_that_goes_on_has_no_tails_yet() -> None:
    assert RULE.tails(1.0, np.zeros(19)) is None
    assert RULE.tails(0.0, np.zeros(19)) == (1.0, 1.0)  # ties throughout


def test_a_test_stops_where_the_bounds_say_and_needs_the_next_look_before() -> None:
    few = np.zeros(199, dtype=bool)
    assert RULE.stopped(few[:19]) is None
    assert RULE.next_look(19) == 39
    assert RULE.stopped(few[:39]) == (39, 0)
    few[[3, 100, 120]] = True
    assert RULE.stopped(few[:79]) == (79, 1)
    many = np.zeros(199, dtype=bool)
    many[:4] = True
    assert RULE.stopped(many) == (19, 4)
    assert RULE.p_value((19, 4)) == pytest.approx(5 / 20)


@pytest.mark.parametrize("draws", [1, 18, 19, 20, 150])
def test_one_look_is_the_plain_p(draws: int) -> None:
    rule = one_look(draws)
    random = generator(5, "plain", draws)
    null = random.random(draws)
    outcome = rule.stopped(null >= 0.7)
    assert outcome is not None
    assert rule.p_value(outcome) == pytest.approx(ranks.p_value(0.7, null))
    both = ranks.p_value(0.7, null), ranks.p_anti(0.7, null)
    assert rule.tails(0.7, null) == pytest.approx(both)
    assert rule.attainable_p == pytest.approx(1 / (draws + 1))


def test_the_urn_is_the_beta_binomial() -> None:
    outcomes = one_look(30).outcomes(None)
    assert [outcomes[30, count] for count in range(31)] == pytest.approx([1 / 31] * 31)
    known = one_look(30).outcomes(0.8)
    assert known[30, 5] == pytest.approx(stats.binom.pmf(5, 30, 0.2))


def test_bounds_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        GroupSequential((19, 39), (), (0, 0))
    with pytest.raises(ValueError, match="ascend"):
        GroupSequential((39, 19), (6,), (0, 0))
