"""Two answers agree as far as their models guarantee it, and not a digit further."""

from __future__ import annotations

from typing import Any

import pytest

from bench.agreement import agree, difference


def answer(score: Any, numerics: str = "bytes", dtype: str = "float32", **more: Any) -> Any:
    use = {"name": "m", "dtype": dtype, "numerics": numerics}
    return {"score": score, "rows": [[score], 3, "x"], "provenance": {"models": [use]}} | more


@pytest.mark.parametrize(
    ("numerics", "dtype", "apart", "agreed"),
    [
        ("bytes", "float32", 0.0, True),
        ("bytes", "float32", 1e-16, False),
        ("tolerance", "float32", 9e-6, True),
        ("tolerance", "float32", 1e-4, False),
        ("tolerance", "bfloat16", 0.015, True),
        ("tolerance", "bfloat16", 0.03, False),
        ("tolerance", "server", 0.015, True),
    ],
)
def test_floats_agree_as_their_model_promises(
    numerics: str, dtype: str, apart: float, agreed: bool
) -> None:
    pair = answer(0.125, numerics, dtype), answer(0.125 + apart, numerics, dtype)
    assert agree(*pair) == agreed
    assert agree(*reversed(pair)) == agreed


def test_the_weaker_promise_of_two_counts() -> None:
    weak, strong = answer(0.5, "tolerance"), answer(0.5 + 1e-6)
    weak["provenance"] = strong["provenance"] | {"before": weak["provenance"]}
    strong["provenance"] = weak["provenance"]
    assert agree(weak, strong)


def test_without_a_model_every_byte_counts() -> None:
    assert agree({"score": 0.1}, {"score": 0.1})
    assert not agree({"score": 0.1}, {"score": 0.1 + 1e-12})


@pytest.mark.parametrize(
    ("other", "place"),
    [
        (answer(None, "tolerance"), "/score"),
        (answer(0.5, "tolerance", extra=1), ""),
        (answer(0.5, "tolerance") | {"rows": [[0.5], 3]}, "/rows"),
        (answer(0.5, "tolerance") | {"rows": [[0.5], 4, "x"]}, "/rows/1"),
        (answer(0.5, "tolerance") | {"rows": [[0.5], 3.0, "x"]}, "/rows/1"),
        (answer(0.5, "tolerance") | {"rows": [[0.5], 3, "y"]}, "/rows/2"),
    ],
)
def test_all_but_floats_is_equal_whatever_is_promised(other: Any, place: str) -> None:
    found = difference(answer(0.5, "tolerance"), other)
    assert found is not None
    assert found.startswith(f"{place}:")
