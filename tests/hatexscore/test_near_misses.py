"""The indexed search finds what the plain one finds, and its work grows as its input does."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.process import extractOne

from services.hatexscore import quote_search
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import QuotedSpans, detect_languages
from services.hatexscore.quote_search import (
    Haystack,
    exact_spans,
    locate,
    nearest_borders,
    nearest_span,
    passages,
    regions_of,
)
from services.hatexscore.quotes import Quotation, quotations
from services.hatexscore.variants import read_quotations
from tests.hatexscore import plain_search
from tests.linear.growth import seconds

ALPHABETS = [
    "ab ",
    "abcdef gh'",
    "今天和同事一起看 ",
    "오늘 도서관에서",
    "ﬁe\u0301 '\u200bß哈k",
    "town ",
]
EDITS = "xyz 哈"


@st.composite
def misquoted(draw: st.DrawFn) -> tuple[str, str]:
    """A text and one of its passages with some characters changed, put in, or left out."""
    random_ = draw(st.randoms(use_true_random=False))
    letters = draw(st.sampled_from(ALPHABETS))
    length = draw(st.sampled_from([20, 100, 700, 3_000]))
    text = "".join(random_.choice(letters) for _ in range(length))
    start = draw(st.integers(0, length - 1))
    passage = list(text[start : start + draw(st.sampled_from([8, 14, 27, 60, 200, 650]))])
    for _ in range(int(len(passage) * draw(st.sampled_from([0.02, 0.08, 0.14, 0.2])))):
        place = random_.randrange(len(passage))
        change = random_.choice(["replace", "insert", "delete"])
        if change != "insert":
            del passage[place]
        if change != "delete":
            passage.insert(place, random_.choice(EDITS))
        if not passage:
            break
    return text, "".join(passage)


@settings(deadline=None, max_examples=120)
@given(misquoted())
def test_the_index_finds_what_the_plain_search_finds(pair: tuple[str, str]) -> None:
    text, quoted = pair
    haystack = Haystack(text)
    needle = fuzzy_needle(quoted)
    assert exact_spans(haystack, needle) == plain_search.exact(text, quoted)
    regions = regions_of(haystack, needle)
    assert nearest_span(haystack, needle, regions) == plain_search.nearest(text, quoted)


def fuzzy_needle(quoted: str) -> str:
    return Haystack(quoted).folded.text


@given(
    st.lists(st.integers(0, 60), unique=True).map(sorted),
    st.integers(-5, 70),
    st.integers(0, 30),
    st.integers(0, 8),
)
def test_borders_around_a_position_are_the_nearest(
    borders: list[int], position: int, reach: int, most: int
) -> None:
    near = [border for border in borders if abs(border - position) <= reach]
    expected = sorted(near, key=lambda border: (abs(border - position), border))[:most]
    assert nearest_borders(borders, position, reach, most) == expected


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


@pytest.mark.parametrize("family", FAMILIES)
def test_the_work_grows_as_text_and_quotations_do(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0
    extract_one = extractOne

    def counting(needle: str, choices: list[str], **options: Any) -> Any:
        nonlocal compared
        compared += len(choices)
        return extract_one(needle, choices, **options)

    monkeypatch.setattr(quote_search, "extractOne", counting)
    found = []
    for characters in (5_000, 20_000):
        text, explanation = FAMILIES[family](characters)
        quoted = quotations(explanation)
        compared = 0
        calls = steps(lambda text=text, quoted=quoted: locate(text, quoted))  # type: ignore[misc]
        found.append((calls, compared))
        assert compared <= quote_search.REGIONS * quote_search.BORDERS**2 * len(quoted)
    smaller, larger = found  # four times the characters; a search of everything takes 16 times
    assert larger[0] <= 8 * smaller[0]  # more places agree by chance in a longer text
    assert larger[1] <= 8 * smaller[1] + 500


def test_six_hundred_near_misses_are_few_comparisons() -> None:
    """40 s of one core before the index; 6.4 million word borders were looked at."""
    text = prose(20_000)
    quoted = quotations(near_misses(text, 30))
    assert len(quoted) > 590
    haystack = Haystack(text)
    needles = [fuzzy_needle(one.text) for one in quoted]
    spans = [passages(haystack, needle, regions_of(haystack, needle)) for needle in needles]
    assert sum(map(len, spans)) < 200 * len(quoted)
    calls = steps(lambda: locate(text, quoted))
    assert calls < 5_000_000


def test_a_quotation_that_occurs_nowhere_is_missing() -> None:
    quoted = [Quotation(0, 5, "nothing of this stands there")]
    located = locate("A text about something else entirely", quoted)
    assert (located.quotes, located.missing) == ((), tuple(quoted))


def request(characters: int, quoted: int, different: int) -> HatexscoreRequest:
    """Quotations of 30 characters, each wrong by a tenth."""
    text = prose(characters)
    passages_ = near_misses(text, 30).split('" "')[:different]
    explanation = " ".join(
        f'"{passages_[place % different].strip(chr(34))}"' for place in range(quoted)
    )
    return HatexscoreRequest(
        text=text, explanation=explanation[:20_000], language="en", predicted_label="hateful"
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
    assert all(passage for _, passage in read.hallucinated)  # none is attributed to it


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
    assert [one.text for one, _ in read.hallucinated] == ["qqq zzz yyy xxx", "ppp zzz yyy xxx"]
