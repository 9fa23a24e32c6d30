"""Laws of packing: a row's width is its own, and little of it is padding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.inference.weights.batcher import LEAST_WIDTH, WIDTH_STEP, classifier_row_kind

LONGEST = 118  # no multiple of a step
lengths = st.integers(1, LONGEST)


@given(lengths, st.sampled_from(list(WIDTH_STEP)))
def test_a_width_holds_its_row_and_wastes_less_than_a_step(length: int, device: str) -> None:
    width, full = classifier_row_kind(length, LONGEST, device)
    assert length <= width <= LONGEST
    assert width - length < WIDTH_STEP[device] or width == LEAST_WIDTH
    assert full == (length == width)


@given(lengths, st.sampled_from(list(WIDTH_STEP)))
def test_no_width_is_so_small_that_a_row_alone_is_rounded_otherwise(
    length: int, device: str
) -> None:
    assert classifier_row_kind(length, LONGEST, device)[0] >= LEAST_WIDTH
