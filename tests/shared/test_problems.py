"""Problems point at places in the body, and only at those.

Strict, but a whole number is an integer however it is written.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts.errors import BadInput, ScoringError
from shared.contracts.messages import Message
from shared.contracts.problems import (
    can_retry,
    kind_of,
    make,
    parameter,
    parse_strict,
    pointer,
    problem,
    repeated_key,
    to_public,
    validation_problem,
)


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
        ({"either": {"x": ["no"]}}, {"#/either/x/0"}),
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
    return parse_strict(Numbers, json.dumps(body), body)


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


SLUG = re.compile(r"[a-z][a-z0-9-]*")


def every_error() -> list[type[ScoringError]]:
    """Every class of the tree."""
    found, left = [], [ScoringError]
    while left:
        left += (one := left.pop()).__subclasses__()
        found.append(one)
    return found


def test_every_error_of_the_tree_has_an_address_and_a_kind() -> None:
    for error in every_error():
        found = to_public(make(error.slug, error.title, error.status, "a detail"), "req_1")
        assert SLUG.fullmatch(found["error"]["code"]), error
        assert found["type"] == f"/guide/errors#{error.slug}"
        assert found["instance"] == "urn:touchstone:req_1"
        assert found["error"]["message"] == f"{error.title}: a detail"
        assert found["error"]["type"].endswith("_error")


@given(st.lists(st.text(min_size=1).filter(lambda one: "." not in one), max_size=4))
def test_a_place_is_the_pointer_with_dots(steps: list[str]) -> None:
    faults = [{"detail": "wrong", "pointer": pointer(steps)}]
    found = make("x", "X", 422, "wrong") | {"errors": faults}
    assert parameter(found) == (".".join(steps) or None)


@pytest.mark.parametrize(
    ("status", "slug", "policies", "kind", "retry"),
    [
        (400, "x", None, "invalid_request_error", False),
        (401, "x", None, "authentication_error", False),
        (403, "x", None, "permission_error", False),
        (404, "x", None, "not_found_error", False),
        (405, "x", None, "invalid_request_error", False),
        (409, "x", None, "conflict_error", False),
        (409, "still-running", None, "conflict_error", True),
        (413, "x", None, "invalid_request_error", False),
        (422, "x", None, "invalid_request_error", False),
        (429, "x", ["requests"], "rate_limit_error", True),
        (429, "x", ["open-streams"], "rate_limit_error", True),
        (429, "x", ["open-jobs"], "insufficient_quota", False),
        (429, "x", ["stored-bytes"], "insufficient_quota", False),
        (500, "x", None, "server_error", None),
        (503, "x", None, "service_unavailable_error", True),
    ],
)
def test_kinds_and_retries_follow_from_the_status(
    status: int, slug: str, policies: list[str] | None, kind: str, retry: bool | None
) -> None:
    found = make(slug, "X", status, "x")
    if policies:
        found["violated-policies"] = policies
    assert (kind_of(found), can_retry(found)) == (kind, retry)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["about:blank", "https://x/problems/a-b", "x#y"]),
            "title": st.text(),
            "status": st.integers(400, 599),
            "detail": st.text(),
            "errors": st.none() | st.just([]),
        },
    )
)
def test_what_is_there_of_a_problem_is_shown(found: dict[str, Any]) -> None:
    error = to_public(found, "req_1")["error"]
    assert set(error) == {"message", "type", "code", "param"}
    assert found.get("detail", "") in error["message"]
    assert found.items() <= to_public(found, None).items()


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "an object has the key 'c' more than once"),
        (b'{"a": 1, "b": {"a": 2}}', None),
        (b"{", None),
        (b"[" * 100_000, None),
    ],
)
def test_a_key_that_stands_twice_is_told_and_nothing_else(raw: bytes, named: str | None) -> None:
    assert repeated_key(raw) == named
