"""Passages against marked passages: laws, and sets of characters as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.statistics.spans import Span, chance_f1, character_f1, merged, overlap, size, span_f1

LENGTH = 40
places = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(
    lambda pair: (min(pair), max(pair))
)
several = st.lists(places, max_size=6)


def characters(spans: list[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


@given(several, several)
def test_overlap_is_that_of_the_sets_of_characters(first: list[Span], second: list[Span]) -> None:
    ours, theirs = characters(first), characters(second)
    assert overlap(first, second) == overlap(second, first) == len(ours & theirs)
    assert (size(first), size(second)) == (len(ours), len(theirs))
    found = character_f1(first, second)
    if not ours and not theirs:
        assert found is None
    else:
        assert found == pytest.approx(2 * len(ours & theirs) / (len(ours) + len(theirs)))


@given(several, several)
def test_f1_is_a_share_and_symmetric(first: list[Span], second: list[Span]) -> None:
    for of in (character_f1, span_f1):
        found = of(first, second)
        assert found is None or 0 <= found <= 1
        assert found == of(second, first)


@given(several.filter(lambda spans: bool(characters(spans))))
def test_the_same_passages_are_found_whole(spans: list[Span]) -> None:
    assert character_f1(spans, spans) == span_f1(spans, spans) == 1
    assert merged(merged(spans)) == merged(spans)


@given(several, several)
def test_chance_is_the_mean_over_all_shifts(first: list[Span], second: list[Span]) -> None:
    mask = np.zeros(LENGTH, dtype=bool)
    gold = np.zeros(LENGTH, dtype=bool)
    mask[sorted(characters(first))] = True
    gold[sorted(characters(second))] = True
    found = chance_f1(first, second, LENGTH)
    if not mask.any() and not gold.any():
        assert found is None
        return
    whole = mask.sum() + gold.sum()
    shifted = [2 * (np.roll(mask, shift) & gold).sum() / whole for shift in range(LENGTH)]
    assert found == pytest.approx(np.mean(shifted))


def test_a_passage_is_found_from_half_of_what_both_have() -> None:
    assert span_f1([(0, 10)], [(0, 5)]) == 1  # 5 of 10
    assert span_f1([(0, 11)], [(0, 5)]) == 0
    # two marked, one found, one of ours beside: precision 1/2, recall 1/2
    assert span_f1([(0, 10), (50, 60)], [(0, 8), (20, 30)]) == pytest.approx(0.5)


def test_a_passage_beyond_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="after the end"):
        chance_f1([(0, 5)], [(0, 11)], 10)
