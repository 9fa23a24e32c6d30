from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.ftc import phrases
from services.ftc.phrases import phrase, shape
from shared.contracts.errors import Unavailable
from shared.text import english
from tests.wording import Row, check, load


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_words_are_where_the_text_has_them(text: str) -> None:
    for word in phrases.parse(text):
        assert text[word.start : word.end] == word.text
    read = phrase(text)
    if read is not None:
        assert text[read.start : read.end] == read.text


def test_who_a_hypothesis_speaks_of() -> None:
    for text, who, plural in [
        ("A man is playing chess.", "A man", False),
        ("A man and a woman are playing.", "A man and a woman", True),
        ("Two men playing soccer.", "Two men", True),
        ("There are people in the park.", "people", True),
        ("There is a man and a woman here.", "a man", False),
        ("People run.", "People", True),
    ]:
        found = shape(text)
        assert found is not None
        assert (found.who, found.plural) == (who, plural)


def test_other_files_than_those_checked_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    phrases._pipeline.cache_clear()
    monkeypatch.setattr(english, "SHA256", "0" * 64)
    with pytest.raises(Unavailable):
        phrases._pipeline()
    phrases._pipeline.cache_clear()


def test_the_fingerprint_sees_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    one = english.fingerprint(tmp_path)
    (tmp_path / "a").write_text("2")
    two = english.fingerprint(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert len({one, two, english.fingerprint(tmp_path)}) == 3


def type_of(row: Row) -> str | None:
    read = phrase(row["text"])
    return read.type if read else None


def test_phrases_have_their_type() -> None:
    check(load(Path(__file__).parent / "data" / "phrases.jsonl"), type_of, floor=0.93)
