"""Word diffs: laws first.

What a script tells of a language, and that every text of a page says it.

Marked text: laws of cutting. Numbers of a column: laws of their decimals.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.pages.templates import decimals, environment
from shared.reports.pages.page_text import Mark, language_of, pieces
from shared.reports.pages.word_changes import MOST_WORDS, changes

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


def test_white_space_alone_joins_nothing() -> None:
    found = changes("an old man", "two young women")
    assert [one.how for one in found] == ["deleted", "added"]


def test_a_long_middle_is_one_deletion_and_one_insertion() -> None:
    found = changes("so " + "a b " * MOST_WORDS + "end", "so " + "b c " * MOST_WORDS + "end")
    assert [one.how for one in found] == ["same", "deleted", "added", "same"]


HANGUL, KANA, HAN = (
    st.text(st.characters(min_codepoint=low, max_codepoint=high), min_size=1)
    for low, high in ((0xAC00, 0xD7A3), (0x3041, 0x3096), (0x4E00, 0x9FFF))
)
LATIN = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x24F))


@given(HANGUL, st.text("0123456789 .,!"))
def test_hangul_is_korean(text: str, more: str) -> None:
    assert language_of(more + text) == "ko"


@given(KANA)
def test_kana_is_japanese(text: str) -> None:
    assert language_of(text) == "ja"


@given(HAN)
def test_han_alone_is_taken_for_chinese(text: str) -> None:
    assert language_of(text) == "zh"


@given(LATIN)
def test_other_scripts_tell_nothing(text: str) -> None:
    assert language_of(text) == ""


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert language_of(text) in {"", "ko", "zh", "ja"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("이 글은 이웃을 게으르다고 부른다. (AI)", "ko"),
        ("大韓民國의 글", "ko"),
        ("これは日本語の文章です。", "ja"),
        ("この文は漢字が多い日本国憲法前文", "ja"),
        ("这段文字说邻居很懒。", "zh"),
        ("這段文字說「の」這個字很常見,鄰居們都很勤勞,今天天氣很好", "zh"),
        ("The word 的 is frequent in Chinese texts.", ""),
        ("نص عربي", ""),
        ("", ""),
    ],
)
def test_sentences(text: str, language: str) -> None:
    assert language_of(text) == language


def shown(call: str, **context: object) -> str:
    template = environment().from_string('{% import "macros.html" as ui %}{{ ' + call + " }}")
    return template.render(**context).strip()


def test_a_text_says_its_language_or_that_it_is_not_known() -> None:
    korean = pieces("이웃이 게으르다", [Mark(0, 3, "quote", "quoted")])
    assert 'lang="ko"' in shown("ui.text(said)", said=korean)
    assert 'lang="en"' in shown('ui.text(said, "en")', said=korean)
    assert 'lang=""' in shown("ui.text(said)", said=pieces("lazy", []))
    assert shown("ui.inline(said)", said="懒") == '<bdi class="sensitive" lang="zh">懒</bdi>'
    assert shown("ui.inline(said)", said="a<b") == '<bdi class="sensitive" lang="">a&lt;b</bdi>'
    assert 'lang="ja"' in shown('ui.inline(said, "ja")', said="漢字")


MARKED = st.lists(
    st.builds(
        Mark,
        start=st.integers(0, 40),
        end=st.integers(0, 50),
        kind=st.sampled_from("ab"),
        label=st.sampled_from(("", "one", "two")),
    ),
    max_size=8,
)


@given(st.text(max_size=30), MARKED)
def test_the_pieces_are_the_text_and_each_knows_its_marks(text: str, marks: list[Mark]) -> None:
    found = pieces(text, marks)
    assert "".join(piece.text for piece in found) == text
    place = 0
    for piece in found:
        for character in range(place, place + len(piece.text)):
            covering = [mark for mark in marks if mark.start <= character < mark.end]
            assert sorted(map(repr, piece.marks)) == sorted(map(repr, covering))
        place += len(piece.text)


@given(st.floats(-1e6, 1e6), st.integers(1, 5))
def test_numbers_of_a_column_have_equal_decimals_and_lose_no_more(
    value: float, digits: int
) -> None:
    told = decimals(value, digits)
    assert float(told.replace("\u202f", "")) == pytest.approx(value, abs=0.5001 * 10**-digits)
    if "e" not in told:
        assert len(told.partition(".")[2]) == digits
    else:
        assert 0 < abs(value) < 10**-digits
    assert (float(told.replace("\u202f", "")) == 0) == (value == 0)  # small is not nothing


def test_whole_numbers_and_what_is_none_stay_what_they_are() -> None:
    assert decimals(12_345) == "12\u202f345"
    assert [decimals(one) for one in (None, float("nan"), "–", -0.0)] == ["–", "–", "–", "0.000"]
