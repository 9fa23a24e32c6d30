"""What was done with a text: read where hate is its ground, and never taken for no conclusion."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import VerdictsRead, read_conclusion
from services.hatexscore.vocabulary import built_in

OBJECTS = ("Content", "The post", "Comment", "Reported video", "It")
AGAINST = ("removed", "was taken down", "deleted", "was blocked", "has been hidden")
FAVOUR = ("kept up", "was restored", "approved", "was left alone", "has been reinstated")
GROUNDS = (" under section 3 (hateful conduct)", ", hate against a faith", ": hate policy, rule 2")
ENDED = (
    *(("Strike upheld", "hateful"), ("Strike withdrawn", "non-hateful")),
    *(("Report accepted", "hateful"), ("Report dismissed", "non-hateful")),
    *(("Appeal denied", "hateful"), ("Appeal granted", "non-hateful")),
    *(("Violation confirmed", "hateful"), ("Outcome: no violation", "non-hateful")),
)


def read(explanation: str) -> VerdictsRead:
    return read_conclusion(explanation, built_in("default"), "en")


def label(explanation: str) -> str | None:
    found = read(explanation).conclusion
    return found.label if found else None


@given(st.sampled_from(OBJECTS), st.sampled_from(AGAINST), st.sampled_from(GROUNDS))
def test_an_act_against_a_text_speaks_where_hate_is_its_ground(
    what: str, act: str, ground: str
) -> None:
    assert label(f"{what} {act}{ground}.") == "hateful"
    bare = read(f"{what} {act}.")
    assert bare.conclusion is None
    assert bare.unread
    assert label(f"{what} {act} for spam.") is None


@given(st.sampled_from(OBJECTS), st.sampled_from(FAVOUR))
def test_an_act_in_its_favour_speaks_unless_another_ground_is_named(what: str, act: str) -> None:
    assert label(f"{what} {act}.") == "non-hateful"
    assert label(f"{what} {act}: no spam.") is None
    assert label(f"Had it been longer, {what.lower()} would have been {act}.") is None


def test_how_a_case_ended() -> None:
    for said, expected in ENDED:
        assert label(f"{said} (hate policy).") == expected
        assert label(f"Was the {said.lower()} (hate policy)?") is None


WOULD = ("I would", "I'd", "We would", "So I will", "Thus, we'd")
NOT_UP = ("remove this", "take it down", "delete the post", "not leave it up", "never keep this")
UP = ("leave it up", "keep this", "let the post stand", "not remove it", "not take this down")


@given(st.sampled_from(WOULD), st.sampled_from(NOT_UP), st.sampled_from(UP))
def test_what_a_judge_would_do_speaks_as_what_was_done(would: str, down: str, up: str) -> None:
    assert label(f"It demeans a faith. {would} {down}.") == "hateful"
    bare = read(f"{would} {down}.")
    assert (bare.conclusion, bool(bare.unread)) == (None, True)
    assert label(f"{would} {up}.") == "non-hateful"
    assert label(f"{would} {up} if it named a faith.") is None
    policy = [read_conclusion(f"{would} {one}.", built_in("policy"), "en") for one in (down, up)]
    assert [one.conclusion and one.conclusion.label for one in policy] == ["hateful", "non-hateful"]


def test_a_value_that_nothing_explains_is_unread() -> None:
    assert read("Final answer: 1").unread
    assert not read("Target: none").unread


def test_comparatives_say_which_of_two_it_is() -> None:
    for side in ["a joke", "criticism of a law", "banter among friends"]:
        assert label(f"It is less {side} than plain hate speech.") == "hateful"
        assert label(f"It is {side} rather than hate speech.") == "non-hateful"
        assert label(f"{side.capitalize()} rather than hate speech.") == "non-hateful"
        assert label(f"This is not {side} but hatred of a people.") == "hateful"
