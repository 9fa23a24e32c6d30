from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.quotes import MASK, mask_spans, merge_spans
from services.hatexscore.words import Span

TEXTS = st.text(max_size=60)


@st.composite
def text_and_spans(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(st.text(min_size=1, max_size=60))
    starts = st.integers(0, len(text) - 1)
    spans = draw(st.lists(st.tuples(starts, st.integers(1, 10)), max_size=5))
    return text, [(start, min(len(text), start + length)) for start, length in spans]


@given(text_and_spans())
def test_all_other_characters_stay(case: tuple[str, list[Span]]) -> None:
    text, spans = case
    covered = {i for start, end in spans for i in range(start, end)}
    kept = [character for i, character in enumerate(text) if i not in covered]
    merged = merge_spans(spans)
    assert len(mask_spans(text, spans)) == len(kept) + len(MASK) * len(merged)
    borders = [0, *(border for span in merged for border in span), len(text)]
    pieces = [text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True)]
    assert MASK.join(pieces) == mask_spans(text, spans)
    assert "".join(pieces) == "".join(kept)


@given(text_and_spans())
def test_masking_is_idempotent_and_blind_to_order(case: tuple[str, list[Span]]) -> None:
    text, spans = case
    assert (
        mask_spans(text, spans + spans)
        == mask_spans(text, spans[::-1])
        == mask_spans(text, merge_spans(spans))
    )
    assert merge_spans(merge_spans(spans)) == merge_spans(spans)


@given(TEXTS)
def test_no_span_no_change(text: str) -> None:
    assert mask_spans(text, []) == text


def test_a_mask_inside_the_text_is_left_alone() -> None:
    assert mask_spans("a [MASK] b", [(0, 1)]) == "[MASK] [MASK] b"


def test_overlaps_merge_and_neighbours_stay_two() -> None:
    assert mask_spans("abcdef", [(0, 3), (2, 4)]) == "[MASK]ef"
    assert mask_spans("abcdef", [(0, 2), (2, 4)]) == "[MASK][MASK]ef"
