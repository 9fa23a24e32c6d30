"""Clusters: statsmodels as the oracle of standard errors, laws of effective sizes."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from shared.statistics.clusters import (
    clustered,
    spread,
    warnings,
    without_repeats,
)
from shared.statistics.seeds import generator

KEYED = st.lists(st.tuples(st.floats(-10, 10), st.sampled_from("abcdef")), min_size=1, max_size=40)


def alike(groups: int, each: int, correlation: float, name: str) -> tuple[np.ndarray, list[str]]:
    random = generator(0, name)
    shared = np.repeat(random.normal(size=groups), each) * np.sqrt(correlation)
    own = random.normal(size=groups * each) * np.sqrt(1 - correlation)
    return shared + own, [str(place // each) for place in range(groups * each)]


@pytest.mark.parametrize("each", [1, 5])
def test_the_standard_error_is_statsmodels_but_for_its_factor(each: int) -> None:
    values, keys = alike(12, each, 0.5, "oracle")
    found = spread(clustered(values, keys))
    fitted = sm.OLS(values, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(keys, dtype=int)}, use_t=True
    )
    # with one column statsmodels' (n - 1) / (n - K) is 1
    assert found is not None
    assert found.se == pytest.approx(fitted.bse[0], rel=1e-12)


@given(KEYED, st.randoms(use_true_random=False))
def test_neither_order_nor_names_of_clusters_matter(
    rows: list[tuple[float, str]], random: object
) -> None:
    values, keys = zip(*rows, strict=True)
    found = spread(clustered(values, keys))
    assert found is not None
    assert 1 <= found.effective <= len(rows)
    assert found.se is None or found.se >= 0
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert spread(clustered(*zip(*shuffled, strict=True))) == found
    renamed = spread(clustered(values, [f"x{chr(200 - ord(key))}" for key in keys]))
    assert renamed is not None
    assert renamed.mean == pytest.approx(found.mean, abs=1e-12)
    assert (renamed.se is None) == (found.se is None)
    assert (renamed.se or 0) == pytest.approx(found.se or 0, rel=1e-6, abs=1e-12)


def test_copies_count_once() -> None:
    values, _ = alike(12, 1, 0, "copies")
    once = spread(clustered(values))
    copied = clustered(np.repeat(values, 20), [str(place // 20) for place in range(240)])
    found = spread(copied)
    assert once is not None
    assert found is not None
    assert found.se == pytest.approx(once.se)
    assert found.effective == pytest.approx(12, rel=0.1)
    assert "rows of the same text are similar: 240 rows count as" in "\n".join(warnings(copied, 12))


@given(st.lists(st.integers(1, 40), min_size=3, max_size=12))
def test_unequal_clusters_are_worth_fewer_equal_ones(sizes: list[int]) -> None:
    keys = [f"{cluster:02d}" for cluster, size in enumerate(sizes) for _ in range(size)]
    rows = clustered(generator(0, "unequal").normal(size=len(keys)), keys)
    assert 2 <= rows.equal_count <= len(sizes)
    assert (rows.equal_count == len(sizes)) == (len(set(sizes)) == 1)
    found = spread(rows)
    assert found is not None
    assert found.se is not None
    factor = len(sizes) / (len(sizes) - 1)
    sandwich = np.sqrt(factor * np.sum(rows.sums(about=found.mean) ** 2)) / len(keys)
    assert found.se >= sandwich * (1 - 1e-12)


def test_single_rows_are_as_many_as_they_are() -> None:
    values, keys = alike(40, 1, 0, "single")
    found = spread(clustered(values, keys))
    assert found is not None
    assert found.effective == 40
    assert found.se == pytest.approx(values.std(ddof=1) / np.sqrt(40))
    assert list(warnings(clustered(values), 40)) == []


def test_no_spread_counts_clusters() -> None:
    found = spread(clustered([0.1] * 6, list("aabbcc")))
    assert found is not None
    assert (found.se, found.effective) == (0, 3)
    alone = spread(clustered([0.1, 0.2], ["a", "a"]))
    assert alone is not None
    assert (alone.se, alone.clusters) == (None, 1)
    assert spread(clustered([])) is None


def test_readers_are_warned() -> None:
    assert list(warnings(clustered([1.0, 2.0], ["a", "a"]), 1)) == [
        "a single cluster has no spread"
    ]
    few = list(warnings(clustered([1.0, 2.0, 3.0]), 3))
    assert few == ["there are only 3 clusters, fewer than 8"]
    uneven = clustered(np.arange(40.0), ["a"] * 9 + [str(place) for place in range(31)])
    assert list(warnings(uneven, 30)) == ["the largest cluster contains 22% of the rows"]


def test_repeats_count_once() -> None:
    assert without_repeats(["a", "b", "a", "a"]) == ([0, 1], 2)


def test_what_is_not_finite_does_not_enter() -> None:
    with pytest.raises(ValueError, match="finite"):
        clustered([1.0, float("nan")])
    with pytest.raises(ValueError, match="one entry for each row"):
        clustered([1.0, 2.0], ["a"])
