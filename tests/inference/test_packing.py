"""Laws of packing: every row travels once, in a width of its own, within the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.inference.packing import WIDTH_STEP, batches, padded_width

LONGEST = 120  # no multiple of the step


@given(
    st.lists(st.integers(1, LONGEST), max_size=200),
    st.integers(1, 4_096),
)
def test_every_row_travels_exactly_once_and_within_the_budget(
    lengths: list[int], budget: int
) -> None:
    packed = list(batches(lengths, LONGEST, budget))
    assert sorted(row for _, rows in packed for row in rows) == list(range(len(lengths)))
    for width, rows in packed:
        assert len(rows) == 1 or width * len(rows) <= budget
        assert all(padded_width(lengths[row], LONGEST) == width for row in rows)


@given(st.integers(1, LONGEST))
def test_a_width_holds_its_row_and_wastes_less_than_a_step(length: int) -> None:
    width = padded_width(length, LONGEST)
    assert length <= width <= LONGEST
    assert width - length < WIDTH_STEP


@given(st.lists(st.integers(1, LONGEST), min_size=1, max_size=100))
def test_rows_without_padding_travel_apart(lengths: list[int]) -> None:
    for width, rows in batches(lengths, LONGEST, 2_048):
        assert len({lengths[row] == width for row in rows}) == 1
