"""Problems point at places in the body, and only at those.

Strict, but a whole number is an integer however it is written.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts import Message
from shared.errors import BadInput
from shared.problems import problem, read_strictly, validation_problem


class Inner(Message):
    """A part."""

    number: int


class Outer(Message):
    """A whole with a union in it."""

    either: Literal["a", "b"] | dict[str, list[int]]
    inner: Inner
    items: tuple[Inner, ...] = ()


def pointers(body: Any) -> set[str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(body)
    return {entry["pointer"] for entry in validation_problem(caught.value, body)["errors"]}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"either": "c"}, {"#/either"}),
        ({"either": {"x": ["no"]}}, {"#/either", "#/either/x/0"}),
        ({"inner": {}}, {"#/inner/number"}),
        ({"inner": {"number": "x"}}, {"#/inner/number"}),
        ({"a/b~c": 1}, {"#/a~1b~0c"}),
        ({"items": [{"number": 1}, {"number": None}]}, {"#/items/1/number"}),
    ],
)
def test_a_pointer_names_a_place_in_the_body(change: Any, expected: set[str]) -> None:
    assert pointers({"either": "a", "inner": {"number": 1}} | change) == expected


def test_a_body_that_is_no_object_is_wrong_at_its_root() -> None:
    assert pointers([1]) == {"#"}


def test_our_own_errors_carry_their_pointer() -> None:
    made = problem(BadInput("unknown model", pointer="/model"))
    assert (made["status"], made["errors"][0]["pointer"]) == (422, "#/model")


class Numbers(Message):
    """Both kinds."""

    whole: int = 0
    any: float = 0.0
    many: tuple[int, ...] = ()


def read(body: dict[str, Any]) -> Numbers:
    return read_strictly(Numbers, json.dumps(body), body)


@given(st.integers(-(2**53), 2**53))
def test_the_same_number_is_the_same_message(number: int) -> None:
    assert read({"whole": float(number), "many": [float(number)]}) == read(
        {"whole": number, "many": [number]}
    )


@pytest.mark.parametrize("wrong", [1.5, "1", True, None, [1], 1e308 * 10])
def test_what_is_no_integer_stays_none(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        read({"whole": wrong})


def test_a_float_stays_what_it_is() -> None:
    assert read({"any": 0.5, "whole": 3.0}) == Numbers(any=0.5, whole=3)
