"""Marked text: laws of cutting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.page_text import Mark, pieces

MARKS = st.lists(
    st.builds(
        Mark,
        start=st.integers(0, 40),
        end=st.integers(0, 50),
        kind=st.sampled_from("ab"),
        label=st.sampled_from(("", "one", "two")),
    ),
    max_size=8,
)


@given(st.text(max_size=30), MARKS)
def test_the_pieces_are_the_text_and_each_knows_its_marks(text: str, marks: list[Mark]) -> None:
    found = pieces(text, marks)
    assert "".join(piece.text for piece in found) == text
    place = 0
    for piece in found:
        for character in range(place, place + len(piece.text)):
            covering = [mark for mark in marks if mark.start <= character < mark.end]
            assert sorted(map(repr, piece.marks)) == sorted(map(repr, covering))
        place += len(piece.text)


def test_what_several_marks_say_is_said_once() -> None:
    (_, both, _) = pieces("abc", [Mark(1, 2, "quote", "quoted"), Mark(1, 2, "group", "quoted")])
    assert (both.classes, both.label) == ("mark-quote mark-group", "quoted")
