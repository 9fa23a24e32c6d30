"""Keys, statements and JSON as language models write them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from services.cot2el.stages import clean_statement, first_valid_json, label_of, pairs_of
from shared.contracts.questions import Option
from tests.wording import check, load

NLI = [
    Option(key=k, text=t)
    for k, t in zip("ABC", ("Entailment", "Neutral", "Contradiction"), strict=False)
]
ARTS = [Option(key="A", text="art"), Option(key="B", text="party"), Option(key="C", text="data")]


def test_statements_lose_marks_and_quotes() -> None:
    for statement, bare in [
        ('1. "It rains."', "It rains."),
        ("- **It rains.**", "It rains."),
        ("  • 'It rains'  ", "It rains"),
        ("“It rains.”", "It rains."),
        ("It says 'no'", "It says 'no'"),
        ("- ", ""),
        ("", ""),
    ]:
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


def test_the_schema() -> None:
    for raw, valid in [
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
    ]:
        assert (first_valid_json(raw) is not None) is valid


@given(st.text() | st.lists(st.sampled_from('{}[]":,A ')).map("".join))
def test_any_answer_is_read(raw: str) -> None:
    found = first_valid_json(raw)
    assert found is None or found
    first_valid_json("{" * 3_000 + raw)


def test_keys_are_read_and_a_text_counts_as_whole_words_only() -> None:
    """The released code finds "art" in "party" and "A." in "data."."""
    options = {"inference": NLI, "arts": ARTS}
    rows = load(Path(__file__).parent / "data" / "keys.jsonl")
    check(rows, lambda row: label_of(row["text"], options[row["options"]]), floor=0.94)
