"""Laws of words: offsets are exact for any Unicode, and no word is cut in two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.hatexscore.words import Language, detect_language, words
from tests.wording import check, load

LANGUAGES: list[Language] = ["en", "zh", "ko"]
MIXED = st.text(
    alphabet=st.one_of(
        st.characters(),  # any code point, lone surrogates included
        st.sampled_from(
            "abc .!?…\"'”’-#@1\n\r\t\0\u0301\u200d😀👩🏽\u2028한국인은。！？，的人女攻击"
        ),
    ),
    max_size=60,
)
PIECES = st.lists(
    st.sampled_from(
        [
            "the ",
            "U.S. ",
            "e.g. ",
            '"no." ',
            "1. ",
            "\n",
            "…",
            "He ",
            "无 ",
            "穆斯林",
            "。",
            "”",
            "무슬림은 ",
            "않는다. ",
            " ",
        ]
    ),
    max_size=20,
).map("".join)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=120)
@given(text=st.one_of(MIXED, PIECES))
def test_a_word_is_what_stands_at_its_offsets(language: Language, text: str) -> None:
    found = words(text, language)
    assert all(text[word.start : word.end] == word.text for word in found)
    assert all(word.text.strip() and word.lemma == word.lemma.lower() for word in found)
    assert [word.start for word in found] == sorted(word.start for word in found)


def test_twenty_thousand_characters_are_no_burden() -> None:
    for language in LANGUAGES:
        for unit in ["!", "。", "女", "가", "a", "😀", "Muslims ", '"a". ']:
            text = (unit * 20_000)[:20_000]
            found = words(text, language)
            assert "".join(word.text for word in found).replace(" ", "") == text.replace(" ", "")


def test_nothing_to_read() -> None:
    for text in ["", " \n\t\u3000", "\ud800"]:
        for language in LANGUAGES:
            assert len(words(text, language)) <= len(text.strip())


def test_threads_agree() -> None:
    for language in LANGUAGES:
        texts = [f"This attacks women {n}. 该文本攻击女性{n}。 여성은 {n}" * 60 for n in range(8)]
        alone = [words(text, language) for text in texts]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(partial(words, language=language), texts)) == alone


def test_english_lemmas_and_stop_words() -> None:
    found = {
        word.text: word for word in words("The women mocked Muslims’ children, e.g. “x”.", "en")
    }
    assert found["women"].lemma == "woman"
    assert found["children"].lemma == "child"
    assert found["The"].is_stop
    assert not found[","].is_word
    assert "’" in found  # as sent, although analysed as '


def test_a_korean_noun_stands_apart_from_its_particle() -> None:
    found = words("😀 무슬림은 공격받았다", "ko")
    assert [(word.text, word.lemma, word.is_stop) for word in found[1:3]] == [
        ("무슬림", "무슬림", False),
        ("은", "은", True),
    ]


def test_chinese_words() -> None:
    assert [word.text for word in words("攻击穆斯林。", "zh")] == ["攻击", "穆斯林", "。"]


@settings(max_examples=60)
@given(text=MIXED)
def test_detection_survives_anything(text: str) -> None:
    assert detect_language(text) in LANGUAGES


def test_languages_are_found() -> None:
    rows = load(Path(__file__).parent / "data" / "words.jsonl")
    check(rows, lambda row: detect_language(row["text"]), floor=0.95)
