"""What judges write, read without a silent default."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hlv import prompts

KEYS = ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("raw", "order"),
    [
        ("B A C D", "BACD"),
        ("(c) B", "B"),
        ("Based on the context, the ranking is: C B A", "CBA"),
        ("Ranking: B A\nExplanation: A is less apt than B.", "BA"),
        ("Options: A B C D. Final ranking: **D, C, B, A**", "DCBA"),
        ("B: Neutral\nA: Entailment\nC: Contradiction", "BAC"),
        ("1. C\n2. A\n3. B", "CAB"),
        ("Answer: C", "C"),
        ("1: C, 2: A, 3: B", "CAB"),
        ("C: 1, A: 2", "CA"),
        ("C>A>B", "CAB"),
        ("DNA and CABs", ""),
        ("", ""),
    ],
)
def test_the_order_of_first_mention(raw: str, order: str) -> None:
    assert prompts.parse_ranking(raw, KEYS) == list(order)


@given(st.permutations(KEYS), st.sampled_from([" ", ", ", " > ", "\n", "; "]))
def test_every_order_is_read_back(order: list[str], between: str) -> None:
    raw = between.join(order)
    assert prompts.parse_ranking(raw, KEYS) == order
    assert prompts.parse_ranking(f"Here is a list: {raw}", KEYS) == order


@given(st.text())
def test_any_text_gives_distinct_keys(raw: str) -> None:
    found = prompts.parse_ranking(raw, KEYS)
    assert len(set(found)) == len(found)
    assert set(found) <= set(KEYS)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("4", 4),
        ("Rating: 4", 4),
        ("**5** (very likely)", 5),
        ("3/5", 3),
        ("On a scale of 1 to 5, I would say 2.", 2),
        ("On the 5-point scale: 3", 3),
        ("10", None),
        ("0", None),
        ("4.5", None),
        ("9 out of 10", None),
        ("", None),
        ("four", None),
    ],
)
def test_a_rating_is_read_or_it_is_none(raw: str, value: int | None) -> None:
    assert prompts.parse_rating(raw) == value


@pytest.mark.parametrize(
    ("raw", "value"), [("Rating: 4", 1), ("10", 1), ("0", 0), ("9 out of 10", 9), ("", 1)]
)
def test_ratings_as_released(raw: str, value: int) -> None:
    assert prompts.parse_rating_as_released(raw) == value


def test_rankings_as_released_scan_letters_of_words() -> None:
    """The released code gives B 3 points, A 2 and C 1: that is, the order B, A, C."""
    raw = "Based on the context, the ranking is: C B A"
    assert prompts.parse_ranking_as_released(raw, ("A", "B", "C")) == ["B", "A", "C"]
