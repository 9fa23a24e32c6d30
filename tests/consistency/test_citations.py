"""What the rules read of an explanation: its quotations, or the words that it shares."""

from __future__ import annotations

import pytest

from services.consistency.words import Citations, citations, function_words, quotations, text_words

TEXT = "The film was slow, but the ending of the film was wonderful"


def cited(explanation: str, text: str = TEXT, language: str = "en") -> tuple[Citations, list[str]]:
    words = text_words(text, language)
    found = citations(words, explanation)
    return found, [words.written[word] for word in found.words]


@pytest.mark.parametrize(
    "quoted",
    [
        'It says "wonderful".',
        "It says \u201cWonderful!\u201d there.",
        "Es sagt \u201ewonderful\u201c.",
        "Il dit \u00ab wonderful \u00bb.",
        "It says `wonderful`.",
        "It says 'wonderful', doesn't it?",
        "It says \u2018wonderful\u2019.",
        "\u300cwonderful\u300d",
    ],
)
def test_quotation_marks_of_many_kinds(quoted: str) -> None:
    found, words = cited(quoted)
    assert (found.by, words, found.missing) == ("quotations", ["wonderful"], ())


def test_a_quotation_is_found_word_for_word_wherever_it_stands() -> None:
    found, words = cited('Because of "slow but the" and "THE FILM".')
    assert words == ["The", "film", "slow", "but", "the", "the", "film"]
    assert found.missing == ()


def test_a_part_of_a_word_is_no_word() -> None:
    found, words = cited('It says "end" and "lo".')
    assert (found.by, words, found.missing) == (None, [], ("end", "lo"))


def test_a_quotation_that_stands_nowhere_is_told() -> None:
    found, words = cited('It says "slow" and "awful".')
    assert (words, found.missing) == (["slow"], ("awful",))


def test_without_quotations_shared_content_words_are_read() -> None:
    found, words = cited("Slow films are one thing, but a wonderful ending is another.")
    assert (found.by, words) == ("shared words", ["slow", "ending", "wonderful"])
    assert "but" in function_words()


def test_shared_words_are_read_in_english_alone() -> None:
    found, _ = cited("Wunderbar ist das Ende.", "Das Ende ist wunderbar und lang.", "de")
    assert (found.by, found.words) == (None, ())
    found, words = cited("Es sagt \u201ewunderbar\u201c.", "Das Ende ist wunderbar und lang.", "de")
    assert (found.by, words) == ("quotations", ["wunderbar"])


def test_chinese_quotations_whose_words_are_cut_otherwise() -> None:
    text = "今天和同事一起看了一场很好的电影。"
    found, words = cited("“很好的电影”是评价。", text, "zh")
    assert found.by == "quotations"
    assert "".join(words) == "很好的电影"
    found, words = cited("“的电”", text, "zh")
    assert "的电" in "".join(words)


def test_an_apostrophe_opens_nothing() -> None:
    assert quotations("It's the writer's mood, isn't it?") == []
    assert quotations('An unclosed " mark, and "one" more') == ["mark, and"]


def test_punctuation_is_no_word_and_emoji_are() -> None:
    words = text_words("Well, well … 😀!", "en")
    assert words.written == ["Well", "well", "😀"]
    assert words.under([(0, 4), (5, 7)]) == (0, 1)
    assert words.strata() == [[2], [0, 1]]
