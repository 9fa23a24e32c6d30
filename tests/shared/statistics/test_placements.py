"""Placements: counts and ranks against all subsets there are, by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from shared.statistics.draws import distinct_below, others
from shared.statistics.placements import (
    Placements,
    Places,
    Product,
    Runs,
    RunsWithGaps,
    Subsets,
    Words,
    overlap,
    overlaps,
    runs_of,
    strata,
)
from shared.statistics.seeds import generator


def every_set(units: int) -> Iterator[Places]:
    for size in range(units + 1):
        yield from combinations(range(units), size)


def lengths_of(places: Places) -> list[int]:
    return [end - start for start, end in runs_of(places)]


def gaps_of(places: Places) -> list[int]:
    runs = runs_of(places)
    return [second[0] - first[1] for first, second in pairwise(runs)]


def all_of(space: Placements) -> list[Places]:
    return [space.at(rank) for rank in range(space.count)]


@pytest.mark.parametrize("units", range(1, 11))
def test_runs_are_all_sets_with_runs_of_these_lengths(units: int) -> None:
    by_lengths = Counter(tuple(sorted(lengths_of(places))) for places in every_set(units))
    for lengths, count in by_lengths.items():
        found = all_of(Runs(units, lengths))
        assert len(set(found)) == len(found) == count
        assert all(tuple(sorted(lengths_of(places))) == lengths for places in found)


@pytest.mark.parametrize("units", range(1, 11))
def test_runs_with_gaps_are_all_sets_with_these_gaps_too(units: int) -> None:
    kind = Counter(
        (tuple(sorted(lengths_of(places))), tuple(sorted(gaps_of(places))))
        for places in every_set(units)
        if places
    )
    for (lengths, gaps), count in kind.items():
        found = all_of(RunsWithGaps(units, lengths, gaps))
        assert len(set(found)) == len(found) == count
        assert {tuple(sorted(gaps_of(places))) for places in found} == {gaps}


@pytest.mark.parametrize(
    ("units", "lengths", "count"),
    [
        (13, (8,), 6),
        (8, (2, 1), 30),
        (10, (2, 2, 1), 60),
        (12, (3, 2, 2), 60),
        (9, (1, 1, 1, 1), 15),
    ],
)
def test_runs_are_counted_as_by_hand(units: int, lengths: tuple[int, ...], count: int) -> None:
    assert Runs(units, lengths).count == count
    brute = sum(
        sorted(lengths_of(places)) == sorted(lengths)
        for places in combinations(range(units), sum(lengths))
    )
    assert brute == count


def test_subsets_are_listed_in_lexicographic_order() -> None:
    assert all_of(Subsets(7, 3)) == list(combinations(range(7), 3))
    assert all_of(Subsets(4, 0)) == [()]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.data())
def test_words_are_all_choices_with_as_many_tokens(sizes: list[int], data: st.DataObject) -> None:
    words = data.draw(st.integers(1, len(sizes)))
    observed = data.draw(st.permutations(range(len(sizes))))[:words]
    tokens = sum(sizes[place] for place in observed)
    found = all_of(Words(tuple(sizes), words, tokens))
    brute = [
        chosen
        for chosen in combinations(range(len(sizes)), words)
        if sum(sizes[place] for place in chosen) == tokens
    ]
    assert sorted(found) == brute


def test_strata_keep_as_many_of_each() -> None:
    labels = ("rare", "often", "rare", "often", "often", "rare")
    found = all_of(strata(labels, (0, 1, 3)))
    assert len(set(found)) == len(found) == 3 * 3
    assert {Counter(labels[place] for place in places)["rare"] for places in found} == {1}


def test_passages_are_placed_each_by_itself() -> None:
    space = Product((Runs(4, (2,)), Subsets(3, 1)), ((0, 1, 2, 3), (4, 5, 6)))
    found = all_of(space)
    assert len(set(found)) == space.count == 3 * 3
    assert all(len(set(places) & {4, 5, 6}) == 1 for places in found)


def test_what_does_not_fit_is_refused() -> None:
    for wrong in (
        lambda: Runs(4, (2, 2)),
        lambda: RunsWithGaps(4, (2, 2), (1,)),
        lambda: RunsWithGaps(9, (2, 2), ()),
        lambda: Subsets(3, 4),
        lambda: Words((1, 1), 1, 5),
        lambda: Subsets(4, 2).at(6),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


SPACES = [
    Subsets(8, 3),
    Runs(10, (2, 1)),
    Runs(9, (3,)),
    RunsWithGaps(10, (2, 1, 1), (1, 2)),
    Words((1, 2, 1, 3, 2, 1, 2), 3, 5),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_draws_are_uniform_over_all_others(space: Placements) -> None:
    observed = space.at(space.count // 2)
    drawn = Counter(
        next(others(space, observed, generator(run, "uniform"), 1)) for run in range(6_000)
    )
    assert observed not in drawn
    assert len(drawn) == space.count - 1
    assert chisquare(list(drawn.values())).pvalue > 0.001


def test_large_counts_are_drawn_uniformly_too() -> None:
    count = 10**30 + 7
    random = generator(3, "large")
    drawn = [value for value, _ in zip(distinct_below(count, random), range(4_000), strict=False)]
    assert len(set(drawn)) == 4_000
    assert max(drawn) < count
    assert chisquare(np.histogram([value / count for value in drawn], 20, (0, 1))[0]).pvalue > 0.001


def test_a_longer_draw_only_adds_and_ends_with_all() -> None:
    space = Runs(20, (3, 2))
    observed = space.at(11)
    short = [one for one, _ in zip(
        others(space, observed, generator(1), 5), range(30), strict=False)]  # fmt: skip
    whole = list(others(space, observed, generator(1), 5))
    assert whole[:30] == short
    assert len(set(whole)) == space.count - 1
    listed = list(others(space, observed, generator(1), space.count))
    assert listed == [one for one in all_of(space) if one != observed]


def test_all_integers_are_drawn_before_the_end() -> None:
    assert sorted(distinct_below(100, generator(0))) == list(range(100))


def test_overlap_is_jaccard_s() -> None:
    assert overlap((1, 2, 3), (3, 4)) == 0.25
    assert overlap((), ()) == 0
    assert overlaps((1, 2, 3), [(3, 4), (), (1, 2, 3)]) == [0.25, 0, 1]


def test_a_rank_of_a_large_text_takes_no_time_to_speak_of() -> None:
    space = Runs(400, (5, 3, 2, 1))
    assert log(space.count, 10) > 9
    places = space.at(space.count - 1)
    assert sorted(lengths_of(places)) == [1, 2, 3, 5]
