"""Problems point at places in the body, and only at those."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import ValidationError

from shared.contracts import Message
from shared.errors import BadInput
from shared.problems import problem, validation_problem


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
