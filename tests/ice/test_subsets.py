from __future__ import annotations

from collections import Counter
from itertools import combinations, islice
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from services.ice import subsets
from services.ice.contract import IceRequest
from services.ice.model_calls import run_experiments
from services.ice.randomization_test import Experiment
from services.ice.subsets import Subset
from shared.statistics.seeds import generator
from tests.ice.planted import planted


def draws(seed: int, eligible: int, size: int, count: int) -> list[Subset]:
    return list(islice(subsets.distinct(generator(seed), eligible, size), count))


@given(st.integers(0, 2**63 - 1), st.integers(2, 60), st.data())
def test_subsets_are_ascending_distinct_and_within(
    seed: int, eligible: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, eligible))
    found = draws(seed, eligible, size, 60)
    assert len(found) == len(set(found)) == min(60, comb(eligible, size))
    for subset in found:
        assert len(subset) == size
        assert list(subset) == sorted(set(subset))
        assert subset[0] >= 0
        assert subset[-1] < eligible


@pytest.mark.parametrize(("eligible", "size"), [(40, 8), (200, 2), (12, 3), (300, 60)])
def test_a_longer_draw_only_adds(eligible: int, size: int) -> None:
    assert draws(1, eligible, size, 150)[:40] == draws(1, eligible, size, 40)


def test_all_subsets_come_where_all_are_asked_for() -> None:
    assert set(draws(0, 7, 3, 1_000)) == set(combinations(range(7), 3))
    assert len(draws(0, 300, 2, 44_850)) == 44_850  # by rejection, to the last one


@pytest.mark.parametrize(("eligible", "size"), [(6, 2), (210, 2)])
def test_draws_are_uniform(eligible: int, size: int) -> None:
    counts = Counter(place for seed in range(4_000) for place in draws(seed, eligible, size, 1)[0])
    observed = [counts[place] for place in range(eligible)]
    assert stats.chisquare(observed).pvalue > 0.001


def test_the_rationale_is_never_drawn() -> None:
    text = "w10 w11 w12 w13 w14 w15"
    spans = [{"start": 0, "end": 7}]
    asked = IceRequest.model_validate(
        {"text": text, "rationale": spans, "draws": 13, "null": "tokens"}
    )
    with planted():
        [(experiment, _)] = run_experiments([asked])
        assert isinstance(experiment, Experiment)
    [trial] = experiment.trials
    subsets = experiment._drawn[trial.null.key].subsets
    found = [subsets[place] for place in experiment.null_places(trial)]
    assert trial.rationale == (0, 1)
    assert len(set(found)) == 13
    assert (0, 1) not in found


def test_a_key_is_content() -> None:
    def first(*about: object) -> float:
        return float(generator(*about).random())  # type: ignore[arg-type]

    assert first(0, "a", None) == first(0, "a", None)
    keys = [(0, "a", None), (1, "a", None), (0, "b", None), (0, "a", "b"), (0, "ab", None)]
    assert len({first(*key) for key in keys}) == len(keys)
    assert first(0, "\ud800") != first(0, "\ud801")


def test_released_draws_are_numpy_s_global_ones() -> None:
    state = np.random.get_state()  # noqa: NPY002 - what the released code uses
    try:
        np.random.seed(42)  # noqa: NPY002
        positions = np.arange(1, 11)
        theirs = [
            tuple(sorted((np.random.choice(positions, 3, replace=False) - 1).tolist()))  # noqa: NPY002
            for _ in range(20)
        ]
    finally:
        np.random.set_state(state)  # noqa: NPY002
    assert list(islice(subsets.released(42, 10, 3), 20)) == theirs
