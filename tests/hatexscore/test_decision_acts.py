"""What was done with a text: read where hate is its ground, and never taken for no conclusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import VerdictsRead, read_conclusion
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language

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


@pytest.mark.parametrize(("said", "expected"), ENDED)
def test_how_a_case_ended(said: str, expected: str) -> None:
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


WHAT_IT_DOES = "It degrades women."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Verdict: OK to stay up.", "non-hateful"),
        ("We can't leave this up.", "hateful"),
        ("This fails our content policy.", "hateful"),
        ("The post follows every rule of ours.", "non-hateful"),
        ("Doesn't come anywhere near our rules.", "non-hateful"),
        ("Kept the strike.", "hateful"),
        ("We lifted the ban.", "non-hateful"),
        ("Dismissed this report.", "non-hateful"),
        ("Appeal denied; original enforcement upheld.", "hateful"),
        ("The user denied the report.", None),
        ("It follows every rule except one.", None),
        ("Respects no rule.", None),
        ("This falls under our satire exception.", None),
    ],
)
def test_what_was_decided_of_a_text_that_does_something_to_a_group(
    said: str, expected: str | None
) -> None:
    assert label(f"{said} {WHAT_IT_DOES}") == expected


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        ("“不该开车”贬低女性。举报成立，删除评论。", "zh", "hateful"),
        ("“很会开车”是夸奖。举报不成立，保留评论。", "zh", "non-hateful"),
        ("여성을 비하한다. 신고 인정, 댓글 삭제.", "ko", "hateful"),
        ("여성을 칭찬한다. 신고 기각, 댓글 유지.", "ko", "non-hateful"),
        ("여성을 비하한다고 댓글을 삭제했지만 잘못이었다.", "ko", None),
    ],
)
def test_acts_in_chinese_and_korean(said: str, language: Language, expected: str | None) -> None:
    found = read_conclusion(said, built_in("default"), language).conclusion
    assert (found.label if found else None) == expected


@pytest.mark.parametrize(
    "said",
    [
        "Leaning hateful, but this needs a second opinion.",
        "Likely hateful. Escalated to the policy team.",
        "Probably not hateful; a native speaker should have the final say.",
    ],
)
def test_a_leaning_that_is_left_to_others_is_no_decision(said: str) -> None:
    found = read(said)
    assert found.conclusion is None
    assert not found.unread


def test_a_value_that_nothing_explains_is_unread() -> None:
    assert read("Final answer: 1").unread
    assert not read("Target: none").unread


@pytest.mark.parametrize(
    "said",
    [
        "Removed for hate speech, then restored on appeal.",
        "Posts removed for hate speech cannot be restored.",
        "The user asked us to remove the post for hate speech.",
        "Removed for spam. Our rules also forbid hate.",
        "Report dismissed. Report upheld. Hate policy.",
        "Our policy forbids attacks on a faith, and this is one.",
        "The post attacks a faith, which our hate policy forbids.",
        "Not actionable.",
    ],
)
def test_what_is_in_doubt_is_unread_and_not_none(said: str) -> None:
    found = read(said)
    assert found.conclusion is None
    assert found.unread


@pytest.mark.parametrize("side", ["a joke", "criticism of a law", "banter among friends"])
def test_comparatives_say_which_of_two_it_is(side: str) -> None:
    assert label(f"It is less {side} than plain hate speech.") == "hateful"
    assert label(f"It is {side} rather than hate speech.") == "non-hateful"
    assert label(f"{side.capitalize()} rather than hate speech.") == "non-hateful"
    assert label(f"This is not {side} but hatred of a people.") == "hateful"
