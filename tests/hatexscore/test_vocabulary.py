from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from services.hatexscore import vocabulary
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.report import VocabularyName
from services.hatexscore.vocabulary import (
    MOST_WORDS,
    SIDES,
    built_in,
    custom_vocabulary,
    fold,
    invalid_label,
    vocabulary_of_word,
)
from tests.flat_requests import flat_request

NAMES = get_args(VocabularyName)


def test_no_built_in_word_is_on_both_sides() -> None:
    for name in NAMES:
        vocabulary = built_in(name)
        folded = [{fold(word) for word in vocabulary.side(one)} for one in vocabulary.classes]
        assert len(set.union(*folded)) == sum(map(len, folded))
        assert all(folded)


def test_every_word_is_found_and_is_of_its_side() -> None:
    for name in NAMES:
        vocabulary = built_in(name)
        for word in vocabulary.words:
            if "*" in word.text:
                continue
            assert vocabulary.label_of(word.text) == word.side
            assert vocabulary.label_of(word.text.upper()) == word.side
            found = next(vocabulary.find(word.text.lower(), word.text, in_line=True), None)
            assert found is not None


def test_a_word_is_found_without_any_of_its_blanks() -> None:
    for name in NAMES:
        vocabulary = built_in(name)
        for word in vocabulary.words:
            if fold(word.text) not in vocabulary.known:
                continue  # "not allowed": a negation of another word
            for between in ("", "our own"):
                parts = word.text.lower().replace("*", between).replace("-", " ").split()
                for blanks in itertools.product((" ", ""), repeat=len(parts) - 1):
                    written = "".join(map("".join, zip(parts, (*blanks, ""), strict=True)))
                    found = list(vocabulary.find(written, written.upper(), in_line=True))
                    assert found or between, written
                    assert all(one.label(0) in (None, word.side) for one in found), written


def test_a_decision_puts_its_only_vocabulary_in_force() -> None:
    for word, name in [
        ("toxic", "toxicity"),
        ("non-toxic", "toxicity"),
        ("unsafe", "safety"),
        ("compliant", "policy"),
        ("hateful", "default"),
        ("harmless", "default"),  # toxicity and safety both have it
        ("neither", "three-way"),
        ("offensive", "three-way"),  # a class of its own
        *((word, "default") for word in ("hate", "hate speech", "Not hateful", "no hate", "仇恨")),
    ]:
        assert vocabulary_of_word(word) == name


def test_hyphens_blanks_and_case_are_one() -> None:
    own = custom_vocabulary({"hateful": ["Out-of bounds"], "non-hateful": ["fine"]})
    assert own.label_of("OUT OF BOUNDS") == "hateful"
    assert [one.word.text for one in own.find("it is out of-bounds.", "it is out of-bounds.")] == [
        "Out-of bounds"
    ]


def test_a_mistake_is_pointed_to() -> None:
    for labels, where in [
        ({"hateful": ["a b", "rude"], "non-hateful": ["fine", "A-B"]}, ("non-hateful", 1)),
        ({"hateful": ["rude", "-"], "non-hateful": ["fine"]}, ("hateful", 1)),
        ({"hateful": ["x" * 61], "non-hateful": ["fine"]}, ("hateful", 0)),
    ]:
        found = invalid_label(labels)
        assert found is not None
        assert found[:2] == where
        assert invalid_label({"hateful": ["rude"], "non-hateful": ["fine"]}) is None


STRANGE = "aB1- _\u2010\u00a0\uff0dＡİßΣé\u0301㎏憎비非.*'"


@settings(max_examples=400)
@given(st.text(st.sampled_from(STRANGE), min_size=1, max_size=12))
@example("a" + "-" * 4 + "b")
@example("_rude")
def test_a_word_is_refused_where_its_pattern_would_not_find_it(word: str) -> None:
    """Checking compiles no pattern: a caller's words cost the gateway nothing."""
    found = invalid_label({"hateful": [word], "non-hateful": ["zz"]})
    assume(found is None or "would not be found" in found[2])
    lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in word)
    own = custom_vocabulary({"hateful": [word], "non-hateful": ["zz"]})
    finds = any(one.word.side == "hateful" for one in own.find(lowered, word, in_line=True))
    assert found is not None or (finds and "*" not in word)


@pytest.mark.parametrize("label", ["hateful 7 a b c d", "KEEP"])
def test_checking_labels_compiles_no_pattern(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway checks them on its event loop, where 40 patterns would stop everybody else."""
    monkeypatch.setattr(vocabulary, "_alternatives", None)
    labels = {str(side): [f"{side} {n} a b c d" for n in range(MOST_WORDS)] for side in SIDES}
    own = {"labels": None if label == "KEEP" else labels, "decision": label}
    request = flat_request(HatexscoreRequest, {"text": "t", "explanation": "e"} | own)
    assert request.decision_class in SIDES
