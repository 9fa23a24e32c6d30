"""What a script tells of a language, and that every text of a page says it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.pages.templates import environment
from shared.page_text import Mark, language_of, pieces

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


def test_marks_are_shown_without_white_space_of_the_template() -> None:
    said = pieces("ab c d", [Mark(0, 2, "a", "first"), Mark(3, 4, "b")])
    assert shown("ui.marked(said)", said=said) == (
        '<mark class="mark-a" title="first">ab<span class="spoken" lang="en"> [first] </span>'
        "</mark> "
        '<mark class="mark-b">c</mark> d'
    )


def test_a_table_is_a_region_that_can_be_scrolled_by_keyboard() -> None:
    source = (
        '{% import "macros.html" as ui %}{% call ui.table(said, "A & B") %}<tbody>{% endcall %}'
    )
    html = environment().from_string(source).render(said="<b>")
    assert '<div class="wide" tabindex="0" role="region" aria-label="A &amp; B">' in html
    assert "<caption>&lt;b&gt;</caption>" in html
    assert "<tbody>" in html
