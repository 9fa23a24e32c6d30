"""The figures of `bench.explanations`: areas, correlations, and what it makes of rationales."""

from __future__ import annotations

import pytest

from bench.explanations import DATA, RATIONALES, area, correlation, rationales


def test_an_area_is_one_for_what_is_told_apart_and_half_for_ties() -> None:
    assert area([0.9, 0.8], [0.1, 0.2, 0.3]) == 1
    assert area([0.1], [0.9]) == 0
    assert area([0.5, 0.5], [0.5]) == 0.5
    assert area([0.2, 0.6], [0.4]) == 0.5


def test_a_correlation_of_too_little_is_none() -> None:
    assert correlation([(0.1, 0.2), (0.2, 0.4)]) is None
    assert correlation([(0.1, 0.5), (0.2, 0.5), (0.3, 0.5)]) is None
    assert correlation([(0.1, 0.9), (0.2, 0.8), (0.3, 0.7)]) == pytest.approx(-1)


@pytest.mark.skipif(not (DATA / RATIONALES).exists(), reason="no shared data on this machine")
def test_rationales_are_quoted_word_for_word() -> None:
    for one in rationales()[:40]:
        quoted = one.explanation.split('"')[1::2]
        assert quoted
        assert all(run in one.text for run in quoted)
