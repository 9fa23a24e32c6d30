"""Laws of packing: a row's width is its own, and little of it is padding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.inference.packing import WIDTH_STEP, kind

LONGEST = 120  # no multiple of the step


@given(st.integers(1, LONGEST))
def test_a_width_holds_its_row_and_wastes_less_than_a_step(length: int) -> None:
    width, full = kind(length, LONGEST)
    assert length <= width <= LONGEST
    assert width - length < WIDTH_STEP
    assert full == (length == width)
