"""Other spellings of a word are found where the word stands, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore import quote_spelling
from services.hatexscore.quote_spelling import Spellings, emoji_name, without_brackets
from services.hatexscore.quotes import code_as_quotations, plain_format, quotations

TEXT = "those grumpy neighbours never greet anybody in the narrow stairway"
LONG = [word for word in TEXT.split() if len(word) >= 5]


def found(text: str, quoted: str) -> list[str]:
    return [text[start:end] for start, end in Spellings(text).find(quoted)]


@given(st.sampled_from(LONG), st.data())
def test_a_censored_word_is_found_from_either_side(word: str, data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.integers(1, len(word) - 1), min_size=1, max_size=len(word) - 2))
    censored = "".join("*" if place in hidden else c for place, c in enumerate(word))
    assert word in found(TEXT, censored)
    assert found(TEXT.replace(word, censored), word) == [censored]


@given(st.sampled_from(LONG), st.integers(2, 9), st.data())
def test_a_lengthened_letter_is_the_letter(word: str, more: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    longer = word[:place] + word[place] * more + word[place:]
    assert found(TEXT, longer) == [word]
    assert found(TEXT.replace(word, longer), word) == [longer]


def test_words_are_compared_while_the_budget_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quote_spelling, "MOST_COMPARED", 50)
    spellings = Spellings("gramp " * 500)
    assert spellings.find("gr*mp") != []
    assert spellings.is_spent
    assert spellings.find("gram*") == []


def test_brackets_are_an_editor_s() -> None:
    for quoted, readings in [
        ("leave[s] [their] bins", ("leaves their bins", "leave bins")),
        ("there [sic] bins", ("there bins",)),
        ("no brackets", ()),
    ]:
        assert without_brackets(quoted) == readings


def test_an_emoji_s_name_is_its_meaning() -> None:
    assert emoji_name("CLOWN FACE") == emoji_name("the clown emoji") == "clown"


def test_marks_of_other_alphabets_quote_and_move_nothing() -> None:
    for marks in ["‹›", "»«", "›‹", "‚‘", "‚’", "〝〞", "❝❞", "“”", "„“", "「」", ("``", "''")]:
        said = f"The words {marks[0]}never greet{marks[1]} complain."
        plain = plain_format(code_as_quotations(said))
        (quoted,) = quotations(plain.text)
        start, end = plain.original(quoted.start, quoted.end)
        assert said[start:end] == quoted.text == "never greet"


def test_backticks_quote_and_code_blocks_do_not() -> None:
    assert [one.text for one in quotations(code_as_quotations("See `never greet`."))] == [
        "never greet"
    ]
    assert quotations(code_as_quotations("```json\nnothing\n```")) == []
