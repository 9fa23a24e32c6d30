"""Word diffs: laws first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.page_text import MOST_WORDS, Mark, changes

WORDS = st.lists(st.sampled_from(["a", "man", "is", "not", ",", "结论", "🙂", "an"]), max_size=12)
TEXTS = st.one_of(st.text(max_size=40), WORDS.map(" ".join))
MARKS = st.lists(st.builds(Mark, st.integers(0, 40), st.integers(0, 45), st.just("x")), max_size=4)


@given(TEXTS, TEXTS)
def test_both_texts_are_whole(before: str, after: str) -> None:
    found = changes(before, after)
    assert "".join(one.text for one in found if one.how != "added") == before
    assert "".join(one.text for one in found if one.how != "deleted") == after
    assert all(one.text for one in found)


@given(TEXTS)
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert [one.how for one in changes(text, text)] == ["same"] * bool(text)


@given(TEXTS, TEXTS, MARKS)
def test_every_mark_covers_the_characters_that_it_covered(
    before: str, after: str, marks: list[Mark]
) -> None:
    for old, new, left_out, text in (
        (marks, (), "added", before),
        ((), marks, "deleted", after),
    ):
        found = changes(before, after, old, new)
        covered = "".join(
            ("x" if piece.marks else ".") * len(piece.text)
            for one in found
            if one.how != left_out
            for piece in one.pieces
        )
        assert covered == "".join(
            "x" if any(mark.start <= place < mark.end for mark in marks) else "."
            for place in range(len(text))
        )


def test_words_change_as_a_whole() -> None:
    found = changes("Four friends are playing chess in town.", "Four friends play in town.")
    assert [(one.how, one.text) for one in found] == [
        ("same", "Four friends "),
        ("deleted", "are playing chess"),
        ("added", "play"),
        ("same", " in town."),
    ]


def test_white_space_alone_joins_nothing() -> None:
    found = changes("an old man", "two young women")
    assert [one.how for one in found] == ["deleted", "added"]


def test_a_long_middle_is_one_deletion_and_one_insertion() -> None:
    found = changes("so " + "a b " * MOST_WORDS + "end", "so " + "b c " * MOST_WORDS + "end")
    assert [one.how for one in found] == ["same", "deleted", "added", "same"]
