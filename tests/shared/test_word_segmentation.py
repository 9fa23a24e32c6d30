"""Words cover every character that is no blank, once; each script in its way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text.language import find_language
from shared.text.word_segmentation import word_spans, words_obstacle


def words(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in word_spans(text, language)]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "Don't stop — it's well-known!!!", "Don't stop — it's well-known !!!"),
        ("en", "'quoted' 3.5% a_b", "' quoted ' 3 . 5 % a_b"),
        ("hi", "मुझे यह शहर पसंद है।", "मुझे यह शहर पसंद है ।"),
        ("ar", "مرحبا، كيف حالك؟", "مرحبا ، كيف حالك ؟"),
        ("zh", "我们喜欢这个城市 and 好吗？", "我们 喜欢 这个 城市 and 好 吗 ？"),
        ("en", "I saw 城市 there", "I saw 城市 there"),
        ("ko", "나는 이 도시를 좋아했다! OK", "나 는 이 도시 를 좋아했 다 ! OK"),
        ("en", "ok \U0001f44d\U0001f3fd\u2764\ufe0f", "ok \U0001f44d\U0001f3fd \u2764\ufe0f"),
    ],
)
def test_words_of_each_script(language: str, text: str, found: str) -> None:
    assert words(text, language) == found.split()


ANY = st.text(
    alphabet=st.one_of(
        st.sampled_from(" \n\t'-.,!_\u2019\u200d\ufe0f\U0001f44d\U0001f3fd\ud800"),
        st.sampled_from("abZß0我们城市한국어는ไทยहि\u0940"),
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(ANY, st.sampled_from(("en", "zh", "ko", "und")))
def test_every_character_that_is_no_blank_is_in_one_word(text: str, language: str) -> None:
    found = word_spans(text, language)
    places = [place for start, end in found for place in range(start, end)]
    assert places == [place for place, sign in enumerate(text) if not sign.isspace()]
    assert all(start < end for start, end in found)


@pytest.mark.parametrize(
    ("text", "language"),
    [("この町が大好きです", "ja"), ("เรารักเมืองนี้มาก", "th"), ("ພວກເຮົາຮັກເມືອງນີ້", "lo"),
     ("យើងស្រឡាញ់ទីក្រុងនេះ", "km"), ("ဒီမြို့ကိုချစ်တယ်", "my")],
)  # fmt: skip
def test_some_languages_have_no_words(text: str, language: str) -> None:
    for requested in (None, language, "en"):
        obstacle = words_obstacle(text, find_language(text, requested))
        assert obstacle is not None
        assert obstacle.code == "no-words"
        assert language in obstacle.detail
    assert words_obstacle("We lost", find_language("We lost")) is None
    assert words_obstacle("我们喜欢这个城市", find_language("我们喜欢这个城市")) is None
