"""Laws of words and sentences: offsets are exact for any Unicode, and no word is cut in two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.hatexscore.words import Language, detect_language, sentences, words

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


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=120)
@given(text=st.one_of(MIXED, PIECES))
def test_sentences_share_out_everything_but_white_space(language: Language, text: str) -> None:
    spans = sentences(text, language)
    covered = [place for start, end in spans for place in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {place for place, c in enumerate(text) if not c.isspace()} <= set(covered)
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert spans == sorted(spans)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=120)
@given(text=PIECES)
def test_no_word_lies_in_two_sentences(language: Language, text: str) -> None:
    spans = sentences(text, language)
    for word in words(text, language):
        assert any(start <= word.start and word.end <= end for start, end in spans)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("unit", ["!", "。", "女", "가", "a", "😀", "Muslims ", '"a". '])
def test_twenty_thousand_characters_are_no_burden(language: Language, unit: str) -> None:
    text = (unit * 20_000)[:20_000]
    found = words(text, language)
    assert "".join(word.text for word in found).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("text", ["", " \n\t\u3000", "\ud800"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_to_read(text: str, language: Language) -> None:
    assert len(words(text, language)) <= len(text.strip())


@pytest.mark.parametrize("language", LANGUAGES)
def test_threads_agree(language: Language) -> None:
    texts = [f"This attacks women {n}. 该文本攻击女性{n}。 여성은 {n}" * 60 for n in range(8)]
    alone = [words(text, language) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: words(text, language), texts)) == alone


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


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("en", 'He said "go." The rest', ['He said "go."', "The rest"]),
        ("en", "He wrote “go.” That is", ["He wrote “go.”", "That is"]),
        ("en", '"Stop!" is rude. Yes.', ['"Stop!" is rude.', "Yes."]),
        ("en", 'One is here. "two" is not.', ["One is here.", '"two" is not.']),
        ("en", "Well... and so on… it ends.", ["Well... and so on… it ends."]),
        ("en", "groups.[...] It is.", ["groups.[...]", "It is."]),
        (
            "en",
            "Two kinds: 1. Explicit hate speech: none. 2. Implicit: some.",
            ["Two kinds: 1. Explicit hate speech: none.", "2. Implicit: some."],
        ),
        ("en", "1. One\n2. Two\n- three", ["1. One", "2. Two", "- three"]),
        (
            "en",
            "In the U.S. army, e.g. Dr. Who vs. all.",
            ["In the U.S. army, e.g. Dr. Who vs. all."],
        ),
        ("en", "Is the answer no. Yes.", ["Is the answer no.", "Yes."]),
        ("zh", "是的。不！对吗？好", ["是的。", "不！", "对吗？", "好"]),
        ("zh", "文中“滚！”攻击了移民。完。", ["文中“滚！”攻击了移民。", "完。"]),
        ("zh", "他说“好。”\n完", ["他说“好。”", "完"]),
        (
            "ko",
            "공격한다. 아니다! “가라.”라고 했다.",
            ["공격한다.", "아니다!", "“가라.”라고 했다."],
        ),
    ],
)
def test_where_sentences_end(language: Language, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text, language)] == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("12 !?", "en"),
        ("The text attacks women.", "en"),
        ('The phrase "去死" attacks women.', "en"),
        ("该文本 attacks 女性，属于仇恨言论。", "zh"),
        ("이 글은 women을 공격한다.", "ko"),
        ("これはひらがなのテストです", "en"),
        ("Этот текст", "en"),
    ],
)
def test_detection_by_script(text: str, language: Language) -> None:
    assert detect_language(text) == language


@settings(max_examples=60)
@given(text=MIXED)
def test_detection_survives_anything(text: str) -> None:
    assert detect_language(text) in LANGUAGES
