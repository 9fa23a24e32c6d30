"""The estimate of work: what it refuses, and what it then says."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.registry import all_contracts
from shared.contracts.errors import TooCostly
from shared.contracts.problems import problem
from shared.contracts.request_cost import FEWEST_READ, Size, Work, WorkLimit, words_of

LIMIT = WorkLimit(seconds=900, tokens_per_second=10_000)
TOKENS_A_SECOND = 1_000
LOWERED = re.compile(r"`(\w)` to at most ([\d,]+)")


def work(*values: int, **more: object) -> Work:
    names = [f"`{letter}`" for letter in "abcd"]
    sizes = [Size(n, v, f"/{n[1]}") for n, v in zip(names, values, strict=False)]
    return Work(tuple(sizes), **more)  # type: ignore[arg-type]


def refused(limit: WorkLimit, *works: Work) -> TooCostly | None:
    try:
        limit.check(works)
    except TooCostly as error:
        return error
    return None


def test_a_refusal_says_which_number_to_lower_and_how_far() -> None:
    error = refused(LIMIT, work(10_000, 4, 500))
    assert error is not None
    assert error.detail == (
        "10,000 `a` × 4 `b` × 500 `c` make 20,000,000 tokens that a model reads or writes, and "
        "one request may need at most 900 seconds of work (this is about 2,000): lower `a` to "
        "at most 4,500, or `b` to at most 1, or `c` to at most 225"
    )
    told = problem(error)
    assert told["type"].endswith("#too-costly")
    assert told["status"] == 422
    assert [one["pointer"] for one in told["errors"]] == ["#/a", "#/b", "#/c"]


@given(
    st.lists(st.integers(1, 100_000), min_size=1, max_size=4).filter(lambda some: max(some) > 1),
    st.data(),
)
def test_who_lowers_a_number_as_advised_is_accepted(values: list[int], data: st.DataObject) -> None:
    """The limit is a share of what is asked, so that it is always refused; the largest number
    is always one that can be lowered enough, where the share leaves it at least 1."""
    whole = math.prod(values) / TOKENS_A_SECOND
    share = data.draw(st.floats(1.001 / max(values), 0.999_999))  # no rounding is refused
    accepted_if_lowered(values, whole * share)


@pytest.mark.parametrize(("values", "seconds"), [([1_027], 1.0259999999999998)])
def test_rounding_refuses_nobody_who_does_as_told(values: list[int], seconds: float) -> None:
    accepted_if_lowered(values, seconds)


def accepted_if_lowered(values: list[int], seconds: float) -> None:
    """Each number that a refusal names, lowered alone as far as it says."""
    limit = WorkLimit(seconds, tokens_per_second=TOKENS_A_SECOND)
    error = refused(limit, work(*values))
    assert error is not None
    lowered = LOWERED.findall(error.detail)
    assert lowered
    for letter, told in lowered:
        own = list(values)
        own["abcd".index(letter)] = int(told.replace(",", ""))
        assert refused(limit, work(*own)) is None


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=4), st.integers(0, 3), st.integers(0))
def test_more_is_never_less(values: list[int], which: int, more: int) -> None:
    assume(which < len(values))
    larger = [value + more * (place == which) for place, value in enumerate(values)]
    assert LIMIT.expected_time([work(*values)]) <= LIMIT.expected_time([work(*larger)])
    if refused(LIMIT, work(*values)):
        assert refused(LIMIT, work(*larger))


def test_what_is_only_likely_refuses_nothing() -> None:
    likely = work(10**9, certain=False)
    assert refused(LIMIT, likely) is None
    assert LIMIT.expected_time([likely]) > LIMIT.seconds


def test_a_limit_of_its_own_holds_whatever_the_settings_say() -> None:
    generous = WorkLimit(seconds=1e12, tokens_per_second=1e12)
    error = refused(generous, work(50, unit="rows", seconds_each=1e-9, most=20))
    assert error is not None
    assert error.detail == "50 `a` make 50 rows, and one request may need at most 20: " + (
        "lower `a` to at most 20"
    )


def test_several_small_ones_make_a_large_one() -> None:
    small = work(500, unit="steps", seconds_each=1.0)
    assert refused(LIMIT, small) is None
    error = refused(LIMIT, small, work(600, unit="steps", seconds_each=1.0))
    assert error is not None
    assert "lower `a` to at most 400" in error.detail


@given(st.text(), st.text())
def test_words_are_counted_as_no_tokenizer_joins_them(first: str, second: str) -> None:
    joined = f"{first} {second}"
    assert words_of(joined) == words_of(first) + words_of(second)
    assert words_of(first) <= len(first)


@pytest.mark.parametrize("name", sorted(all_contracts()))
def test_every_example_is_far_from_the_limit(name: str) -> None:
    contract = all_contracts()[name]
    for example in contract.examples.values():
        works = contract.work(contract.request.model_validate(example), FEWEST_READ)
        LIMIT.check(works)
        assert LIMIT.expected_time(works) < 5


def test_every_service_says_what_it_costs() -> None:
    assert all(
        contract.cost is not None or "report" in name for name, contract in all_contracts().items()
    )
