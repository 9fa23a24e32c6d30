from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from services.hatexscore.quote_search import fold, is_trivial, locate
from services.hatexscore.quotes import (
    MASK,
    Quotation,
    mask_spans,
    merge_spans,
    quotations,
    quoted_spans,
)
from services.hatexscore.variant_paper import CommonSpans
from services.hatexscore.words import Span

MARKED = st.text(alphabet="ab c'\"“”‘’«»「」《》.…!\n文이🙂", max_size=60)


def test_a_near_quotation_reports_its_similarity() -> None:
    text = "Those immigrants are ruining our town"
    located = locate(text, quotations('It says "imigrants are ruining our town", no?'))
    found = located.quotes
    assert not located.missing
    assert found[0].match == "fuzzy"
    expected = Levenshtein.normalized_similarity(
        "imigrants are ruining our town", "immigrants are ruining our town"
    )
    assert found[0].similarity == pytest.approx(expected)


def test_a_quotation_from_nowhere_is_missing() -> None:
    found = locate("We lost the match", quotations('It says "we won" and "the match".'))
    assert [quote.text for quote in found.quotes] == ["the match"]
    assert [quotation.text for quotation in found.missing] == ["we won"]


def test_a_function_word_alone_is_trivial() -> None:
    for quoted, language, trivial in [
        ("the", "en", True),
        ("the town", "en", False),
        ("town", "en", False),
        ("的", "zh", True),
    ]:
        quotation = Quotation(0, len(quoted), quoted)
        assert is_trivial(quotation, "zh" if language == "zh" else "en") is trivial


@given(MARKED)
def test_quotations_are_slices_of_the_explanation_in_order(explanation: str) -> None:
    found = quotations(explanation)
    assert all(explanation[q.start : q.end] == q.text and q.text for q in found)
    assert [q.start for q in found] == sorted(q.start for q in found)
    spans = quoted_spans(explanation)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(st.one_of(MARKED, st.text(max_size=60)), MARKED)
def test_quotes_are_slices_of_the_text(text: str, explanation: str) -> None:
    quoted = quotations(explanation)
    located = locate(text, quoted)
    found, missing = located.quotes, located.missing
    assert all(text[q.start : q.end] == q.text and q.start < q.end for q in found)
    assert all(0.85 <= q.similarity <= 1 for q in found)
    assert all((q.match == "exact") == (q.similarity == 1) for q in found)
    known = {fold(q.quoted_as).text for q in found}
    assert not known & {fold(q.text).text for q in missing}


@given(st.text(max_size=80))
def test_folding_remembers_where_it_came_from(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.origin)
    assert all(0 <= start < end <= len(text) for start, end in folded.origin)
    assert list(folded.origin) == sorted(folded.origin)
    assert fold(folded.text).text == folded.text or not text.isascii()


TOKENS = st.lists(st.sampled_from("abc"), max_size=12)


@given(TOKENS, TOKENS)
def test_shared_runs_agree_with_trying_every_run(tokens: list[str], other: list[str]) -> None:
    occurring = {
        (first, last)
        for first in range(len(tokens))
        for last in range(first + 1, len(tokens) + 1)
        if any(other[i : i + last - first] == tokens[first:last] for i in range(len(other)))
    }
    maximal = sorted(
        run
        for run in occurring
        if not any(o != run and o[0] <= run[0] and run[1] <= o[1] for o in occurring)
    )
    assert CommonSpans(other).maximal(tokens) == maximal


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
