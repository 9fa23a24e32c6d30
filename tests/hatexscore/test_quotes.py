from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from services.hatexscore.quote_kinds import attributed
from services.hatexscore.quote_search import fold, is_trivial, locate
from services.hatexscore.quotes import (
    MASK,
    Quotation,
    mask_spans,
    merge_spans,
    plain_format,
    quotations,
    quoted_spans,
)
from services.hatexscore.variant_paper import CommonSpans
from services.hatexscore.words import Span

MARKED = st.text(alphabet="ab c'\"“”‘’«»「」《》.…!\n文이🙂", max_size=60)


def texts(explanation: str) -> list[str]:
    return [quotation.text for quotation in quotations(explanation)]


def located(text: str, explanation: str) -> list[str]:
    return [quote.text for quote in locate(text, quotations(explanation)).quotes]


@pytest.mark.parametrize(
    ("explanation", "expected"),
    [
        ('It says "go home" twice.', ["go home"]),
        ("It says “go home” and ‘stay there’.", ["go home", "stay there"]),
        ("It says 'go home', doesn't it?", ["go home"]),
        ("It's the users' fine day, isn't it?", []),
        ("rock 'n' roll", ["n"]),
        ("‘it ain’t over’", []),  # marks around everything
        ("so ‘it ain’t over’", ["it ain’t over"]),
        ("il dit «va-t'en» ici", ["va-t'en"]),
        ("他说「回家」和『走开』，见《书名》。", ["回家", "走开", "书名"]),
        ('文本"回家"是', ["回家"]),
        ("全角＂回家＂。", ["回家"]),
        ('a 6" and 5" board is "fine"', ["fine"]),
        ('it says "go home." and "out!"', ["go home", "out"]),
        ('it says "go ... home" and "[...] out"', ["go", "home", "out"]),
        ('it says " *go home* "', ["go home"]),
        ('it says "" and "..." and "!"', []),
        ('an "open mark', []),
        ('an "open mark\n\nand another" one', []),
        ("\"The text says 'go home' to us.\"", ["go home"]),
        ("“he said ‘go home’ now” and so on", ["he said ‘go home’ now"]),
    ],
)
def test_what_stands_in_quotation_marks(explanation: str, expected: list[str]) -> None:
    assert texts(explanation) == expected


@pytest.mark.parametrize(
    ("text", "explanation", "expected"),
    [
        ("They whitewash white walls", 'the word "white"', ["white"]),
        ("it's his sister's house", 'the letter "s"', []),
        ("it's his sister's house", 'the word "sister"', ["sister"]),
        ("GO HOME. Go  home!", 'it says "go home"', ["GO HOME", "Go  home"]),
        ("ｇｏ home, don’t wait", "it says “go home, don't wait”", ["ｇｏ home, don’t wait"]),
        ("cafe\u0301 is closed", 'it says "café"', ["cafe\u0301"]),
        ("我们的移民朋友", "文本提到“移民”。", ["移民"]),
        ("이민자들은 돌아가라", "'이민자'라는 표현", ["이민자"]),
        ("비이민자는 남는다", "'이민자'라는 표현", []),
        ("zero\u200bwidth here", 'it says "zerowidth"', ["zero\u200bwidth"]),
        ("The road is closed to visitors", 'it says "rode was open to visits"', []),
        ("The road is closed today", 'it says "raod is closed"', ["road is closed"]),
        ("The road is closed", 'it says "roda"', []),
        ("The road is closed", 'it says "bridge was opened"', []),
        ("下午道路对访客关闭，绕行", "“下午道路对游客关闭”", []),
        ("下午道路对访客关闭，绕行", "文本“下午道路对游客关闭”", ["下午道路对访客关闭"]),
        ("", 'it says "anything"', []),
    ],
)  # fmt: skip
def test_where_quotations_occur(text: str, explanation: str, expected: list[str]) -> None:
    assert located(text, explanation) == expected


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


@pytest.mark.parametrize(
    ("quoted", "language", "trivial"),
    [("the", "en", True), ("the town", "en", False), ("town", "en", False), ("的", "zh", True)],
)
def test_a_function_word_alone_is_trivial(quoted: str, language: str, trivial: bool) -> None:
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


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("a" * 20_000, '"' + "a" * 9_000 + 'b" ' * 2),
        ("town " * 4_000, '"tovn town town" ' * 1_100),
        ("哈" * 20_000, "“哈哈”" * 5_000),
        ("x", "'a " * 6_000),
        ("x", "«" * 20_000),
        ("one two three four " * 1_000, '"' + "one two thre four " * 1_000 + '" x'),
    ],
)
def test_a_hostile_request_ends_soon(text: str, explanation: str) -> None:
    begin = time.process_time()
    locate(text, quotations(explanation))
    assert time.process_time() - begin < 10


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


TEXT = "They never pay, they never leave."


@pytest.mark.parametrize(
    ("explanation", "expected"),
    [
        ("It says:\n\n> never pay\n\nHateful.", ["never pay"]),
        ("- **Quote:** never pay\n- Label: hateful", ["never pay"]),
        ("Evidence: never pay; never leave\nLabel: hateful", ["never pay", "never leave"]),
        ("evidence:\n  - never pay\n  - never leave\nlabel: hateful", ["never pay", "never leave"]),
        ("label = hateful; span = never leave; target = none", ["never leave"]),
        ("| quote | never pay |", ["never pay"]),
        ("引用：never pay\n结论：仇恨", ["never pay"]),
        ("Evidence: they are called lazy", []),  # in the explainer's words
        ("Reason: never pay", []),
        ("Quote: ever pay", []),  # not at the borders of words
    ],
)
def test_a_line_quotes_what_the_text_holds(explanation: str, expected: list[str]) -> None:
    plain = plain_format(explanation, TEXT)
    assert len(plain) == len(explanation)
    found = quotations(plain)
    assert [one.text for one in found] == expected
    assert [explanation[one.start : one.end] for one in found] == expected


DENIALS = (
    *("It doesn't say", "It doesn’t say", "The author didn't write", "They don't say"),
    *("The post doesn't use the word", "It isn't a post that says", "Nor does it use the word"),
    *("It does not go so far as to say", "The post stops short of calling them"),
    *("Nowhere does the post say", "Nobody is called", "It refrains from calling anyone"),
)
SAYINGS = (
    *("It says", "It doesn't only say", "It doesn't just use the word", "It isn't kind and says"),
    *("It doesn't hesitate to say", "The post doesn't stop short of calling them"),
    "According to the author, they are",
)


@pytest.mark.parametrize(
    ("said", "is_said"), [(one, False) for one in DENIALS] + [(one, True) for one in SAYINGS]
)
def test_what_is_denied_is_no_word_of_the_text(said: str, is_said: bool) -> None:
    explanation = f'{said} "get out".'
    quoted = quotations(explanation)
    assert bool(attributed(explanation, "en", quoted)) == is_said
