from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ftc import phrases
from services.ftc.counterfactuals import same_words
from services.ftc.extraction import PATTERNS, extract
from services.ftc.grammar import finish, is_sentence
from services.ftc.lead_ins import bare_explanation
from services.ftc.report import NliLabel
from tests.wording import Row, check, load

ABSTAINED: list[tuple[NliLabel, str, str, str]] = [
    # footnote 10 of the paper: naive substitution says that the boy is a tire swing
    ("entailment", "The boy is outside.", "A tire swing is usually installed outside.", ""),
    ("entailment", "A man sleeps.", "", "no pattern"),
    ("entailment", "A man sleeps.", "Cheese is a dairy product.", "does not restate"),
    ("entailment", "A man sleeps.", "A man is a man.", ""),
    ("entailment", "A man sleeps.", "A man sleeping is a rephrasing of a man sleeps.", ""),
    ("contradiction", "A man sleeps.", "A dog is not a cat.", "neither of the explanation"),
    ("neutral", "A man sleeps.", "Not all dogs are brown.", "does not contain span B"),
    ("contradiction", "The man is in his car.", "A farmer cannot be in his car.", ""),
]


def test_it_abstains_rather_than_scores_nonsense() -> None:
    for label, hypothesis, explanation, reason in ABSTAINED:
        found = extract(label, hypothesis, explanation, printed=False)
        assert found.made == ()
        assert found.reason is not None
        assert reason in found.reason


def test_the_first_sentence_that_can_be_used_is() -> None:
    found = extract("entailment", "A dog sleeps.", "Nice. A poodle is a dog.", printed=False)
    assert [made.text for made in found.made] == ["A poodle sleeps."]
    part = extract(
        "entailment", "A dog sleeps.", "The weather is fine, a poodle is a dog.", printed=False
    )
    assert [made.text for made in part.made] == ["A poodle sleeps."]


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        "Explanation: {}",
        "**Rationale:** {}",
        "Label: entailment\nExplanation: {}",
        "Well, {}",
        "It says that {}",
        '{{"label": "entailment", "explanation": "{}"}}',
        "<think>A cat is an animal.</think>\n{}",
        "<b>{}</b>",
        "{} \u2014 that's all.",
    ],
)
@pytest.mark.parametrize("said", ["A poodle is a dog.", "The man in red is at home"])
def test_what_stands_around_an_explanation_is_no_part_of_it(written: str, said: str) -> None:
    explanation = written.format(said)
    bare = bare_explanation(explanation)
    start, end = bare.original(bare.text.index(said), bare.text.index(said) + len(said))
    assert explanation[start:end] == said
    assert bare.text.replace(said, "").strip() in ("", "; that's all.")


def test_the_printed_patterns_are_fewer() -> None:
    said = "A boy can't be at the beach while sitting on a sofa."
    assert extract("contradiction", "A boy is sitting on a sofa.", said, printed=True).made == ()
    assert all(any(p.printed for p in rows) for rows in PATTERNS.values())


VOCABULARY = (
    *("a", "the", "man", "men", "dog", "is", "are", "not", "sleeping", "in"),
    *("park", "and", "happy", "runs", "if"),
)
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["entailment", "neutral", "contradiction"]), WORDS, WORDS)
def test_what_is_made_is_new_and_parses(label: NliLabel, hypothesis: str, said: str) -> None:
    found = extract(label, hypothesis or "x", said, printed=False)
    for made in found.made:
        assert made.kind == "b" or not same_words(made.text, hypothesis)
        assert made.how == "whole" or is_sentence(made.text)


def test_joints_articles_capital_and_stop() -> None:
    for text, like, wanted in [
        ("a apple is n't an pear", "It is.", "An apple isn't a pear."),
        ("the dog runs .", "The dog .", "The dog runs ."),
        ("The dog runs.", "a dog", "the dog runs"),
        ("he ca n't wear an uniform", "x", "he can't wear a uniform"),
    ]:
        assert finish(text, like) == wanted


def test_what_is_no_sentence_is_seen() -> None:
    for text in [
        "The the dog runs.",
        "A the dog runs.",
        "A dogs run.",
        "The is running.",
        "Quickly.",
    ]:
        assert not is_sentence(text)


def test_a_hypothesis_that_is_too_long_is_refused() -> None:
    long = extract("entailment", "A dog. " * 500, "A poodle is a dog.", printed=False)
    assert long.reason == "the hypothesis is empty or too long"


def counterfactuals(row: Row) -> list[str | None]:
    found = extract(row["label"], row["hypothesis"], row["explanation"], printed=False)
    return [found.rule, *(made.text for made in found.made)]


def test_a_pattern_makes_the_counterfactual_that_the_logic_asks_for() -> None:
    check(load(Path(__file__).parent / "data" / "extraction.jsonl"), counterfactuals, floor=0.96)


def test_a_sentence_of_many_parts_costs_no_more_than_one_of_a_dozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    parse = phrases.parse

    def counted(sentence: str) -> phrases.Words:
        parsed.append(sentence)
        return parse(sentence)

    monkeypatch.setattr(phrases, "parse", counted)
    said = ", ".join(f"dog{number} implies cat{number}" for number in range(33))
    extract("entailment", "A man plays guitar outside.", said, printed=False)
    assert 0 < len(parsed) < 45
