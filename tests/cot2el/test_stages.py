"""Keys, statements and JSON as language models write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cot2el.stages import clean_statement, first_valid_json, label_of, pairs_of
from shared.contracts.questions import Option

NLI = [
    Option(key=k, text=t)
    for k, t in zip("ABC", ("Entailment", "Neutral", "Contradiction"), strict=False)
]
ARTS = [Option(key="A", text="art"), Option(key="B", text="party"), Option(key="C", text="data")]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("A", "A"),
        ("b", "B"),
        ("Option A", "A"),
        ("option (C)", "C"),
        ("A. Entailment", "A"),
        ("(B) Neutral", "B"),
        ("B: Neutral", "B"),
        ("Option C - Contradiction", "C"),
        (" neutral ", "B"),
        ("The neutral option", "B"),
        ("Neutral or Contradiction", None),
        ("Option D", None),
        ("Because", None),
        ("Summary", None),
        ("", None),
    ],
)
def test_keys_of_inference(name: str, label: str | None) -> None:
    assert label_of(name, NLI) == label


@pytest.mark.parametrize(
    ("name", "label"), [("party", "B"), ("A. data", "A"), ("a party", "B"), ("artful", None)]
)
def test_a_text_counts_as_whole_words_only(name: str, label: str | None) -> None:
    """The released code finds "art" in "party" and "A." in "data."."""
    assert label_of(name, ARTS) == label


@pytest.mark.parametrize(
    ("statement", "bare"),
    [
        ('1. "It rains."', "It rains."),
        ("- **It rains.**", "It rains."),
        ("  • 'It rains'  ", "It rains"),
        ("“It rains.”", "It rains."),
        ("It says 'no'", "It says 'no'"),
        ("- ", ""),
        ("", ""),
    ],
)
def test_statements_lose_marks_and_quotes(statement: str, bare: str) -> None:
    expected = bare.strip("- ") if statement == "- " else bare
    assert clean_statement(statement) == expected


def test_two_keys_of_one_option_are_joined_and_repeats_fall() -> None:
    raw = {
        "A": {"support": ["It rains.", "It rains."], "oppose": ["No."]},
        "Entailment": {"support": ["- It rains.", "He waits."], "oppose": []},
        "D": {"support": ["x"], "oppose": ["y"]},
    }
    sides = first_valid_json(json.dumps(raw))
    assert sides is not None
    found = pairs_of(sides, NLI)
    assert [(p.explanation, p.label, p.stance) for p in found.pairs] == [
        ("It rains.", "A", "support"),
        ("He waits.", "A", "support"),
        ("No.", "A", "oppose"),
    ]
    assert found.unplaced == (("D", 2),)


@pytest.mark.parametrize(
    ("raw", "valid"),
    [
        ('{"A": {"support": [], "oppose": []}}', True),
        ('Sure!\n```json\n{"A": {"support": ["x"]}}\n```', True),
        ('{note} {"A": {"support": ["x"], "oppose": []}}', True),
        ('{"A": {"support": "x", "oppose": []}}', False),
        ('{"A": {"support": [1], "oppose": []}}', False),
        ('{"A": ["x"]}', False),
        ('{"A": {"support": ["x"], "neutral": []}}', False),
        ("{}", False),
        ("[]", False),
        ("I cannot do that.", False),
        ('{"A": {"support": ["x"', False),
        ('{"A": {"support": ["' + "x" * 20_000 + '"]}}', True),
        ('{"A": {"support": ["' + "x" * 20_001 + '"]}}', False),  # more than a pair may hold
        ('{"A": {"support": ["half \\ud83d"]}}', False),
        ('{"\\ud83d": {"support": ["x"]}}', False),
    ],
)
def test_the_schema(raw: str, valid: bool) -> None:
    assert (first_valid_json(raw) is not None) is valid


@given(st.text() | st.lists(st.sampled_from('{}[]":,A ')).map("".join))
def test_any_answer_is_read(raw: str) -> None:
    found = first_valid_json(raw)
    assert found is None or found
    first_valid_json("{" * 3_000 + raw)
