"""P of labels: sums, masses, votes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from shared.contracts.errors import DegenerateInput
from shared.contracts.judgement import Judgement, from_counts, normalize
from shared.statistics.wilson import Z_95, half_wilson

shares = st.floats(0, 0.5)


@given(shares, shares)
def test_p_sums_to_one_or_is_null_for_want_of_mass(yes: float, no: float) -> None:
    found = normalize({"yes": yes, "no": no}, "scored")
    assert found.mass == pytest.approx(yes + no)
    if yes + no < 0.01:
        assert found.probabilities is None
        assert found.unread is not None
        assert found.unread.code == "answer-unread"
        with pytest.raises(DegenerateInput, match="answer-unread"):
            found.unwrap()
    else:
        assert sum(found.probabilities or ()) == pytest.approx(1)
        assert found.low_mass == (yes + no < 0.5)


@given(st.integers(0, 300), st.integers(0, 300))
def test_votes_have_half_of_wilsons_interval(yes: int, no: int) -> None:
    found = from_counts({"yes": yes, "no": no}, 1 + yes + no)
    if yes + no < max(1, 0.01 * (1 + yes + no)):
        assert found.probabilities is None
        return
    interval = binomtest(yes, yes + no).proportion_ci(method="wilson")
    assert found.uncertainty == pytest.approx((interval.high - interval.low) / 2)
    assert found.probabilities == (yes / (yes + no), no / (yes + no))
    assert found.mass == pytest.approx((yes + no) / (1 + yes + no))


def test_two_hundred_votes_are_within_seven_hundredths() -> None:
    assert half_wilson(0.5, 200, Z_95) == pytest.approx(0.0686, abs=1e-4)


def test_a_judgement_has_p_or_a_reason() -> None:
    with pytest.raises(ValueError, match="why there are none"):
        Judgement(labels=("yes", "no"), probabilities=None, reading="head")
    with pytest.raises(ValueError, match="one probability for each label"):
        Judgement(labels=("yes", "no"), probabilities=(1.0,), reading="head")
