"""Tokens to characters: a cover of the text, whatever the bytes are cut into."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.errors import ScoringError
from shared.models.openai.protocol import encoded
from shared.models.openai.text import spans

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd"), max_size=30)


@st.composite
def cut(draw: st.DrawFn) -> tuple[str, list[bytes]]:
    """A text and its bytes in pieces."""
    text = draw(TEXTS)
    raw = text.encode()
    places = sorted(draw(st.sets(st.integers(1, max(1, len(raw) - 1)), max_size=12)))
    return text, [raw[a:b] for a, b in pairwise([0, *places, len(raw)])]


@given(cut())
def test_spans_tile_the_text_in_order(given_: tuple[str, list[bytes]]) -> None:
    text, pieces = given_
    found = [place for place in spans(pieces, text) if place]
    assert "".join(text[a:b] for a, b in found) == text
    cursor = 0
    for start, end in found:
        assert start == cursor <= end
        cursor = end


@given(cut())
def test_special_tokens_around_the_text_belong_to_nothing(
    given_: tuple[str, list[bytes]],
) -> None:
    text, pieces = given_
    around = spans([b"<|begin|>", *pieces, b"<|end|>"], text)
    if text and text not in "<|begin|>":
        assert around[0] is None
        assert around[-1] is None
        assert around[1:-1] == spans(pieces, text)


def test_a_character_in_parts_is_covered_by_its_last() -> None:
    cafe = "caf\u00e9 🙂".encode()
    pieces = [cafe[:4], cafe[4:5], cafe[5:6], cafe[6:8], cafe[8:]]
    assert spans(pieces, "café 🙂") == [(0, 3), (3, 4), (4, 5), (5, 5), (5, 6)]


def test_a_text_cut_at_a_stop_string_cuts_its_tokens() -> None:
    assert spans([b" one", b" two", b" three"], " one t") == [(0, 4), (4, 6), None]


def test_spaces_that_the_server_stripped_belong_to_nothing() -> None:
    assert spans([b"\n", b" one", b" two"], "one two") == [None, (0, 3), (3, 7)]


def test_older_servers_write_parts_of_characters_as_replacements() -> None:
    pieces = [encoded(token) for token in ("a", "\ufffd", "\ufffd", " b")]
    assert spans(pieces, "a🙂 b") == [(0, 1), (1, 1), (1, 2), (2, 4)]


def test_or_spell_their_bytes() -> None:
    assert [encoded(t) for t in (r"bytes:\xf0\x9f", "bytes:", "é")] == [
        b"\xf0\x9f",
        b"bytes:",
        "é".encode(),
    ]


@pytest.mark.parametrize("pieces", [[b"one"], [b"\x82"], []])
def test_pieces_of_another_text_are_refused(pieces: list[bytes]) -> None:
    with pytest.raises(ScoringError, match="do not add up"):
        spans(pieces, "🙂 two")
