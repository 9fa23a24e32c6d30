"""Decisions stated as data: what one mark changes, and that no mark costs time."""

from __future__ import annotations

import time

import pytest

from shared.readers.decision_words import side_of
from shared.readers.structured import read_structured
from shared.text.normalized import normalize


def read(text: str) -> str | None:
    found = read_structured(normalize(text).text, side_of)
    return found.label if found else None


@pytest.mark.parametrize(
    "text", ["❌✅" * 5_000 + "hateful: no", "✅ " * 5_000 + "Label: hateful", "\n-\n" * 5_000]
)
def test_marks_without_end_take_no_time(text: str) -> None:
    """Work that grows with the square of the text takes longer."""
    started = time.thread_time()
    read(text)
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("high", ["hateful", "not hateful"])
def test_the_higher_score_decides_with_either_decimal_mark(high: str, mark: str) -> None:
    low = "hateful" if high != "hateful" else "not hateful"
    expected = "hateful" if high == "hateful" else "non-hateful"
    assert read(f"{high}: 0{mark}97\n{low}: 0{mark}03") == expected


def test_ticked_lines_stand_alone() -> None:
    assert read("hateful ✅\nnot hateful ❌") == "hateful"
    assert read("hateful ❌\nnot hateful ✅") == "non-hateful"
