"""Strict, but a whole number is an integer however it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts import Message
from shared.problems import read_strictly


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
