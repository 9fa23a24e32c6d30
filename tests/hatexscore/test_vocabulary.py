from __future__ import annotations

from typing import get_args

import pytest

from services.hatexscore.report import VocabularyName
from services.hatexscore.vocabulary import (
    SIDES,
    built_in,
    fold,
    mistake,
    own_vocabulary,
    vocabulary_of_word,
)

NAMES = get_args(VocabularyName)


@pytest.mark.parametrize("name", NAMES)
def test_no_built_in_word_is_on_both_sides(name: VocabularyName) -> None:
    vocabulary = built_in(name)
    folded = [{fold(word) for word in vocabulary.side(side)} for side in SIDES]
    assert not folded[0] & folded[1]
    assert all(folded)


@pytest.mark.parametrize("name", NAMES)
def test_every_word_is_found_and_is_of_its_side(name: VocabularyName) -> None:
    vocabulary = built_in(name)
    for word in vocabulary.words:
        if "*" in word.text:
            continue
        assert vocabulary.label_of(word.text) == word.side
        assert vocabulary.label_of(word.text.upper()) == word.side
        found = next(vocabulary.find(word.text.lower(), word.text, in_line=True), None)
        assert found is not None


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("toxic", "toxicity"),
        ("non-toxic", "toxicity"),
        ("unsafe", "safety"),
        ("compliant", "policy"),
        ("hateful", "default"),
        ("harmless", "default"),  # toxicity and safety both have it
        ("neither", "three-way"),
    ],
)
def test_a_decision_puts_its_only_vocabulary_in_force(word: str, name: str) -> None:
    assert vocabulary_of_word(word) == name


def test_hyphens_blanks_and_case_are_one() -> None:
    own = own_vocabulary({"hateful": ["Out-of bounds"], "non-hateful": ["fine"]})
    assert own.label_of("OUT OF BOUNDS") == "hateful"
    assert [one.word.text for one in own.find("it is out of-bounds.", "it is out of-bounds.")] == [
        "Out-of bounds"
    ]


@pytest.mark.parametrize(
    ("labels", "where"),
    [
        ({"hateful": ["a b", "rude"], "non-hateful": ["fine", "A-B"]}, ("non-hateful", 1)),
        ({"hateful": ["rude", "-"], "non-hateful": ["fine"]}, ("hateful", 1)),
        ({"hateful": ["x" * 61], "non-hateful": ["fine"]}, ("hateful", 0)),
    ],
)
def test_a_mistake_is_pointed_to(labels: dict[str, list[str]], where: tuple[str, int]) -> None:
    found = mistake(labels)  # type: ignore[arg-type]
    assert found is not None
    assert found[:2] == where
    assert mistake({"hateful": ["rude"], "non-hateful": ["fine"]}) is None
