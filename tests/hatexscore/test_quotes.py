"""Laws of quotations: what is quoted, where the text has it, and that the search is linear."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import QuotedSpans, detect_languages
from services.hatexscore.quote_search import (
    Haystack,
    QuoteSearch,
    fold,
    is_trivial,
    locate,
    searchable,
    without_brackets,
)
from services.hatexscore.quotes import (
    MASK,
    Quotation,
    code_as_quotations,
    mask_spans,
    merge_spans,
    plain_format,
    quotations,
    quoted_spans,
)
from services.hatexscore.quoting import read_quotations
from services.hatexscore.variant_paper import common_runs
from services.hatexscore.words import Language, Span
from shared.text.normalized import as_sent
from tests.linear.growth import seconds

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
    assert found[0].value == pytest.approx(expected)


def test_a_quotation_from_nowhere_is_missing() -> None:
    found = locate("We lost the match", quotations('It says "we won" and "the match".'))
    assert [quote.text for quote in found.quotes] == ["the match"]
    assert [quotation.text for quotation in found.missing] == ["we won"]


def test_a_function_word_alone_is_trivial() -> None:
    cases: list[tuple[str, Language, bool]] = [
        ("the", "en", True),
        ("the town", "en", False),
        ("town", "en", False),
        ("的", "zh", True),
    ]
    for quoted, language, trivial in cases:
        assert is_trivial(Quotation(0, len(quoted), quoted), language) is trivial


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
    assert all(0.85 <= q.value <= 1 for q in found)
    assert all((q.match == "exact") == (q.value == 1) for q in found)
    known = {fold(as_sent(q.quoted_as)).text for q in found}
    assert not known & {fold(as_sent(q.text)).text for q in missing}


@given(st.text(max_size=80))
def test_folding_remembers_where_it_came_from(text: str) -> None:
    folded = fold(as_sent(text))
    places = list(zip(folded.starts, folded.ends, strict=True))
    assert len(folded.text) == len(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)


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
    assert common_runs(tokens, other) == maximal


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


GRUMPY = "those grumpy neighbours never greet anybody in the narrow stairway"
LONG = [word for word in GRUMPY.split() if len(word) >= 5]


def found(text: str, quoted: str) -> list[str]:
    search = QuoteSearch(Haystack(text, searchable(text)))
    return [quote.text for quote in search.respelled(Quotation(0, len(quoted), quoted))]


@given(st.sampled_from(LONG), st.data())
def test_a_censored_word_is_found_from_either_side(word: str, data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.integers(1, len(word) - 1), min_size=1, max_size=len(word) - 2))
    censored = "".join("*" if place in hidden else c for place, c in enumerate(word))
    assert word in found(GRUMPY, censored)
    assert found(GRUMPY.replace(word, censored), word) == [censored]


@given(st.sampled_from(LONG), st.integers(2, 9), st.data())
def test_a_lengthened_letter_is_the_letter(word: str, more: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    longer = word[:place] + word[place] * more + word[place:]
    assert found(GRUMPY, longer) == [word]
    assert found(GRUMPY.replace(word, longer), word) == [longer]


def test_brackets_are_an_editor_s() -> None:
    for quoted, readings in [
        ("leave[s] [their] bins", ("leaves their bins", "leave bins")),
        ("there [sic] bins", ("there bins",)),
        ("no brackets", ()),
    ]:
        assert without_brackets(quoted) == readings


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


def prose(characters: int) -> str:
    chance = random.Random(1)  # noqa: S311 - the same text every time
    words = ["".join(chance.choices("abcdefghijklmn", k=chance.randint(2, 8))) for _ in range(300)]
    return " ".join(chance.choices(words, k=characters // 5))[:characters]


def near_misses(text: str, length: int) -> str:
    """Quotations of this length, each wrong by a tenth, that are together as long as the text."""
    chance = random.Random(2)  # noqa: S311 - the same quotations every time
    quoted = []
    for _ in range(len(text) // (length + 3)):
        start = chance.randrange(len(text) - length)
        passage = list(text[start : start + length])
        for place in chance.sample(range(1, length - 1), k=max(1, length // 10)):
            passage[place] = "z"
        quoted.append('"' + "".join(passage) + '"')
    return " ".join(quoted)


FAMILIES: dict[str, Callable[[int], tuple[str, str]]] = {
    "short near misses": lambda n: (prose(n), near_misses(prose(n), 30)),
    "long near misses": lambda n: (prose(n), near_misses(prose(n), 400)),
    "one letter": lambda n: ("a" * n, " ".join('"' + "a" * k + '"' for k in range(2, int(n**0.5)))),
    "one word": lambda n: ("town " * (n // 5), '"tovn town town" ' * (n // 17)),
    "chinese": lambda n: ("今天和同事一起看" * (n // 8), "“今天利同事一起看今天和”" * (n // 13)),
    "from nowhere": lambda n: (prose(n), '"qqq zzz yyy xxx" ' * (n // 18)),
}  # fmt: skip


def steps(work: Callable[[], object]) -> int:
    """Calls of Python and of C functions: the same on every machine."""
    count = 0

    def tick(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("alphabet", ["abcdefghijk", "今天和同事一起看电影", "오늘도서관에서책을"])
def test_a_passage_with_a_few_letters_changed_is_found(alphabet: str) -> None:
    for seed in range(30):
        chance = random.Random(seed)  # noqa: S311 - the same texts every time
        words = ["".join(chance.choices(alphabet, k=chance.randint(2, 9))) for _ in range(300)]
        first, count = chance.randint(0, 290), chance.choice([5, 9])
        there = " ".join(words[first : first + count])
        passage = list(there)
        for _ in range(len(passage) // 20):
            passage[chance.randrange(1, len(passage) - 1)] = "z"
        quoted = "".join(passage)
        [found] = locate(" ".join(words), [Quotation(0, len(quoted), quoted)]).quotes
        similarity = Levenshtein.normalized_similarity(quoted, there)
        assert found.value >= similarity - 1e-9


@pytest.mark.parametrize("family", FAMILIES)
def test_the_work_grows_as_text_and_quotations_do(family: str) -> None:
    calls = []
    for characters in (5_000, 20_000):
        text, explanation = FAMILIES[family](characters)
        quoted = quotations(explanation)
        calls.append(steps(lambda text=text, quoted=quoted: locate(text, quoted)))  # type: ignore[misc]
    smaller, larger = calls  # four times the characters; a search of everything takes 16 times
    assert larger <= 8 * smaller  # more places agree by chance in a longer text


def request(characters: int, quoted: int, different: int) -> HatexscoreRequest:
    """Quotations of 30 characters, each wrong by a tenth."""
    text = prose(characters)
    passages_ = near_misses(text, 30).split('" "')[:different]
    explanation = " ".join(
        f'"{passages_[place % different].strip(chr(34))}"' for place in range(quoted)
    )
    return HatexscoreRequest(
        text=text, explanation=explanation[:20_000], language="en", decision="hateful"
    )


def quoting(asked: HatexscoreRequest) -> QuotedSpans:
    return read_quotations(asked, detect_languages(asked))


def reading_time(asked: HatexscoreRequest) -> float:
    """Processor seconds, the least of three."""
    return seconds(lambda _: quoting(asked), "", tries=3)


def test_the_worst_legal_request_is_read_in_two_seconds() -> None:
    worst = request(20_000, 600, 200)
    assert reading_time(worst) <= 2
    read = quoting(worst)
    assert read.unsearched == 0
    assert all(one.misquotes for one in read.hallucinated)  # none is attributed to it


@pytest.mark.parametrize("what", ["text", "explanation", "quotations"])
def test_doubling_any_size_hardly_more_than_doubles_the_time(what: str) -> None:
    def of(times: int) -> HatexscoreRequest:
        characters = 10_000 * times if what == "text" else 10_000
        quoted = 300 * times if what in ("explanation", "quotations") else 300
        different = 80 * times if what == "quotations" else 80
        return request(characters, quoted, different)

    for _ in range(3):  # a suspicion is raised again from anew before it is one
        once, twice = reading_time(of(1)), reading_time(of(2))
        if twice <= 2.5 * once:
            return
    raise AssertionError(f"{once:.3f} s, {twice:.3f} s")


def test_what_was_not_searched_is_counted_and_not_accused() -> None:
    text = prose(20_000)
    passage = list(text[1_000:4_000])
    passage[::40] = "z" * len(passage[::40])
    explanation = f'It says "{"".join(passage)}" and the words "qqq zzz yyy xxx".'
    body = HatexscoreRequest(text=text, explanation=explanation + explanation.replace("qqq", "ppp"))
    read = quoting(body)
    assert read.unsearched == 2
    assert [one.text for one in read.hallucinated] == ["qqq zzz yyy xxx", "ppp zzz yyy xxx"]
