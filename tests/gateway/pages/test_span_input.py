"""Words that a person marks in a form: what stands in a text wins over what looks like offsets."""

from __future__ import annotations

import pytest

from services.gateway.pages.span_input import parse_spans
from shared.contracts.errors import BadInput

TEXTS = {"text": "aaa in 2019-2020, the ages 12-20, yes yes", "explanation": "It says so."}


@pytest.mark.parametrize(
    ("typed", "of", "start", "end"),
    [
        ("12-20", "text", 27, 32),
        ("2019-2020", "text", 7, 16),
        ("3-5", "text", 3, 5),
        ("explanation 3-7", "explanation", 3, 7),
        ("says", "explanation", 3, 7),
    ],
)
def test_words_that_stand_there_win_over_offsets(typed: str, of: str, start: int, end: int) -> None:
    assert parse_spans(typed, TEXTS) == [{"of": of, "start": start, "end": end}]


@pytest.mark.parametrize(
    ("typed", "told"),
    [("aa", "more than once"), ("yes", "more than once"), ("٣-٥", "in no text")],
)
def test_words_that_stand_twice_or_nowhere_are_refused(typed: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        parse_spans(typed, TEXTS)
