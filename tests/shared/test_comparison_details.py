"""What a comparison shows beside its tests: laws of the bounds, the grid and the changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from shared.reports.comparison_details import ScoredPair, details_of

scores = st.one_of(st.none(), st.floats(0, 1))
UNIT = (0.0, 1.0)


def pair(first: float | None, second: float | None, name: str = "a") -> ScoredPair:
    def row(score: float | None) -> Any:
        verdict = "not_tested" if score is None else "holds_up"
        report = SimpleNamespace(verdict=verdict)
        return cast(Any, SimpleNamespace(report=report, job_id=f"j{score}", custom_id=name))

    return ScoredPair(row(first), row(second), first, second)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=30))
def test_details_hold_what_they_say(values: list[tuple[float | None, float | None]]) -> None:
    found = details_of([pair(*one) for one in values], UNIT)
    both = [(a, b) for a, b in values if a is not None and b is not None]
    bounds = found["bounds"]
    assert -1 <= bounds.low <= bounds.high <= 1
    if len(both) == len(values):
        assert bounds.low == bounds.high
    for filler in (0.0, 0.5, 1.0):  # whatever the undefined ones are
        mean = sum(
            (filler if a is None else a) - (1 - filler if b is None else b) for a, b in values
        ) / len(values)
        assert bounds.low - 1e-9 <= mean <= bounds.high + 1e-9
    assert sum(cell.pairs for cell in found["density"]) == len(both)
    assert sum(found["histogram"].counts) == len(both) if both else found["histogram"] is None
    assert sum(one.pairs for one in found["verdicts"]) == len(values)
    sizes = [abs(one.difference) for one in found["changes"]]
    assert sizes == sorted(sizes, reverse=True)
    assert found["undefined_new"] == sum(a is None and b is not None for a, b in values)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=20))
def test_swapped_sides_change_sign(values: list[tuple[float | None, float | None]]) -> None:
    one = details_of([pair(*both) for both in values], UNIT)
    other = details_of([pair(*both[::-1]) for both in values], UNIT)
    assert (one["undefined_new"], one["undefined_baseline"]) == (
        other["undefined_baseline"],
        other["undefined_new"],
    )
    assert abs(one["bounds"].low + other["bounds"].high) < 1e-9
    cells = {(cell.new, cell.baseline, cell.pairs) for cell in one["density"]}
    assert cells == {(cell.baseline, cell.new, cell.pairs) for cell in other["density"]}
