"""Draws without replacement: distinct, uniform, nested; how many of them a test needs."""

from __future__ import annotations

from itertools import islice
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, chisquare
from statsmodels.stats.power import TTestPower

from shared.statistics import draws
from shared.statistics.draws import (
    Rankings,
    first_of_strata,
    first_units,
    others,
    placed,
)
from shared.statistics.placements import Places, Product, Runs, Subsets, runs_of, strata
from shared.statistics.power import draws_needed, texts_needed
from shared.statistics.seeds import generator


def test_random_subsets_are_nested_over_sizes() -> None:
    rankings = Rankings(generator(1, "text"), 30)
    for place in range(200):
        small, large = (first_units(size)(rankings[place]) for size in (3, 6))
        assert set(small) < set(large)
    again = Rankings(generator(1, "text"), 30)
    assert again[150] == rankings[150]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_rankings_give_every_subset_once(size: int) -> None:
    rankings = Rankings(generator(4, "all"), 12)
    found = list(rankings.distinct(Subsets(12, size), first_units(size), 999))
    assert len(set(found)) == len(found) == comb(12, size)


def test_rankings_of_large_texts_go_on_without_end() -> None:
    rankings = Rankings(generator(4, "long"), 40)
    found = list(islice(rankings.distinct(Subsets(40, 8), first_units(8), 999), 1_000))
    assert len(set(found)) == 1_000
    assert [first_units(8)(rankings[place]) for place in range(20)] == found[:20]


def test_random_subsets_keep_to_their_strata_and_are_nested_in_them() -> None:
    labels = ["rare", "common", "common"] * 6
    rankings = Rankings(generator(7, "strata"), 18)
    space = strata(labels, (0, 1, 2, 4))
    chosen = first_of_strata(labels, {"rare": 1, "common": 3})
    found = list(rankings.distinct(space, chosen, 9_999))
    assert len(set(found)) == len(found) == comb(6, 1) * comb(12, 3)
    assert all(sum(labels[unit] == "rare" for unit in one) == 1 for one in found)
    more = first_of_strata(labels, {"rare": 2, "common": 3})
    assert all(set(chosen(rankings[n])) < set(more(rankings[n])) for n in range(50))


def test_more_runs_than_can_be_ranked_are_shuffled() -> None:
    lengths = (1,) * 40 + (2,) * 30
    space = Product(
        (Runs(300, lengths), Runs(9, (2,))), (tuple(range(300)), tuple(range(300, 309)))
    )
    found = list(islice(placed(space, generator(1, "many"), 199), 300))
    assert len(set(found)) == 300
    for one in found:
        runs = runs_of(tuple(unit for unit in one if unit < 300))
        assert sorted(end - start for start, end in runs) == sorted(lengths)
        assert len([unit for unit in one if unit >= 300]) == 2
    starts = [runs_of(one)[0][0] for one in found]
    assert len(set(starts)) > 3


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("beat_rate", "power"), [(0.985, 0.8), (0.99, 0.8), (0.995, 0.95)])
def test_planned_draws_are_the_fewest_that_reach_their_power(
    beat_rate: float, power: float, sides: int
) -> None:
    """By brute force over the rejection region of every smaller number."""
    planned = draws_needed(beat_rate, power, sides=sides)
    draws = np.arange(1, 3_000)
    losses = np.arange(200)[:, None]
    rejected = (losses + 1) / (draws + 1) <= 0.05 / sides + 1e-12
    reached = np.sum(rejected * binom.pmf(losses, draws, 1 - beat_rate), axis=0)
    assert planned == draws[np.argmax(reached >= power)]


def test_no_number_of_draws_finds_what_beats_too_few() -> None:
    assert draws_needed(0.975, 0.8) is None
    assert draws_needed(0.9751, 0.8) is None  # more than can be drawn
    assert draws_needed(0.97, 0.8) is None
    assert draws_needed(0.97, 0.8, sides=1) is not None


@pytest.mark.parametrize("power", [0.8, 0.95])
@pytest.mark.parametrize("effect", [0.01, 0.2, 0.5, 1.5, 3.0])
def test_planned_texts_are_statsmodels(effect: float, power: float) -> None:
    planned = texts_needed(effect, power)
    assert planned == np.ceil(TTestPower().solve_power(effect, power=power, alpha=0.05))


def test_however_large_or_small_the_effect_a_number_comes_or_none() -> None:
    assert texts_needed(1e6) == 2
    assert texts_needed(1e-4) is None
    assert [texts_needed(effect) for effect in (10, 20, 50)] == [3, 2, 2]
    with pytest.raises(ValueError, match="greater"):
        texts_needed(0)


def lengths_of(places: Places) -> list[int]:
    return sorted(last - first for first, last in runs_of(places))


@pytest.mark.parametrize("lengths", [(3,), (1, 2), (2, 2, 1)])
@pytest.mark.parametrize("first", [0, 10_000])
def test_other_runs_are_all_placements_but_the_observed_each_once(
    lengths: tuple[int, ...], first: int
) -> None:
    space = Runs(10, lengths)
    observed = space.at(4)
    found = list(others(space, observed, generator(1, "runs", first), first))
    assert sorted([*found, observed]) == sorted(map(space.at, range(space.count)))


def test_a_longer_draw_of_runs_begins_with_the_shorter() -> None:
    space = Runs(400, (3, 2, 2))
    observed = space.at(17)
    one, two = (list(islice(others(space, observed, generator(1, "r"), 20), n)) for n in (20, 60))
    assert two[:20] == one
    assert len(set(two)) == 60
    assert observed not in two


def test_more_runs_than_are_ranked_are_shuffled() -> None:
    lengths = (1,) * 50 + (2,) * 30
    space = Runs(300, lengths)
    observed = space.place(lengths, range(80))
    found = list(islice(others(space, observed, generator(3, "many"), 19), 200))
    assert len({*found, observed}) == 201
    assert all(lengths_of(places) == sorted(lengths) for places in found)


def test_shuffled_runs_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "MOST_RUNS", 0)
    space = Runs(8, (2, 1))
    observed = space.at(0)
    drawn = [next(others(space, observed, generator(seed, "uniform"), 0)) for seed in range(5_800)]
    counts = [drawn.count(space.at(rank)) for rank in range(1, space.count)]
    assert sum(counts) == len(drawn)
    assert chisquare(counts).pvalue > 0.001
