from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts import Histogram
from shared.counting import BINS, histogram_of

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@given(VALUES)
def test_every_value_is_counted_once_between_the_least_and_the_greatest(
    values: np.ndarray,
) -> None:
    found = histogram_of(values)
    assert found is not None
    assert sum(found.counts) == values.size
    assert (found.low, found.high) == (values.min(), values.max())
    assert len(found.counts) == (BINS if found.low < found.high else 1)
    assert found.counts[0] > 0
    assert found.counts[-1] > 0
    assert Histogram.model_validate_json(found.model_dump_json()) == found


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_values_changes_nothing(values: np.ndarray, random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert histogram_of(shuffled) == histogram_of(values)


def test_counts_are_numpy_s_where_numpy_counts() -> None:
    values = np.random.default_rng(5).beta(2, 3, size=500)
    found = histogram_of(values, 7)
    assert found is not None
    assert found.counts == tuple(np.histogram(values, bins=7)[0].tolist())


def test_ranges_of_one_float_s_width_are_counted_too() -> None:
    values = np.array([0.5, np.nextafter(0.5, 1)])
    found = histogram_of(values)
    assert found is not None
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (1, 1, 2)
    with pytest.raises(ValueError, match="finite-sized"):
        np.histogram(values, bins=20)


def test_no_values_have_no_histogram() -> None:
    assert histogram_of(np.empty(0)) is None


def test_a_histogram_does_not_end_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="before it begins"):
        Histogram(low=1, high=0, counts=(1,))


def test_the_message_loads_no_numpy() -> None:
    program = "import sys, shared.contracts; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
