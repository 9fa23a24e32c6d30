"""Rows of words become the strings that one would write by hand, and are judged as these."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts.calls import Example, WordRow, WordRows, WordSpan
from shared.contracts.judgement import Judgement, from_counts, unread
from shared.models.word_rows import judged_words, render_rows
from shared.text.word_segmentation import word_spans
from tests.fakes import share


def asked(text: str, *rows: WordRow, pair: str | None = None) -> WordRows:
    spans = [WordSpan(start=a, end=b) for a, b in word_spans(text, "en")]
    spans += [WordSpan(start=a, end=b, of="text_pair") for a, b in word_spans(pair or "", "en")]
    return WordRows(example=Example(text=text, text_pair=pair), words=tuple(spans), rows=rows)


def kept(text: str, *words: int) -> str:
    return render_rows(asked(text, WordRow(kept=words)), "[MASK]")[0].text


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("We lost the match again", (0, 1, 4), "We lost again"),
        ("We lost the match.", (0, 1, 2, 4), "We lost the."),
        ("We lost the match.", (3, 4), "match."),
        ("We lost the match.", (), ""),
        ('say "hello" now', (0, 4), "say now"),
        ('say "hello" now', (0, 2, 3, 4), 'say hello" now'),
        ("Well, yes", (0, 2), "Well yes"),
        ("one two\n\nthree four", (0, 3), "one\n\nfour"),
        ("one\ntwo", (1,), "two"),
        ("  one two ", (0,), "  one "),
        ("we\u2019ll see (soon)!", (0, 3), "we\u2019ll soon"),
    ],
)
def test_a_deleted_word_takes_one_blank(text: str, words: tuple[int, ...], found: str) -> None:
    assert kept(text, *words) == found


def test_words_are_masked_and_replaced_in_place() -> None:
    rows = (
        WordRow(masked=(1,), replaced=((3, "garden"),)),
        WordRow(kept=(0, 1, 3), masked=(1, 2)),
        WordRow(),
    )
    found = render_rows(asked("We lost the match.", *rows), "<m>")
    assert [one.text for one in found] == [
        "We <m> the garden.",
        "We <m> match",
        "We lost the match.",
    ]


def test_a_pair_is_varied_beside_its_text() -> None:
    [found] = render_rows(asked("a b", WordRow(kept=(1, 2)), pair="c d"), "m")
    assert found == Example(text="b", text_pair="c")


TEXTS = st.text(alphabet="ab .,\n'城", max_size=14)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_laws_of_rendering(text: str) -> None:
    spans = word_spans(text, "en")
    words = [text[a:b] for a, b in spans]
    numbers = range(len(words))
    every = [c for size in range(len(words) + 1) for c in combinations(numbers, size)][:64]
    rows = [WordRow(kept=one) for one in every] + [WordRow()]
    *found, whole = [one.text for one in render_rows(asked(text, *rows), "[MASK]")]
    assert whole == text
    for chosen, one in zip(every, found, strict=True):
        assert "".join(one.split()) == "".join(words[n] for n in chosen)  # nothing else is lost
        assert len(one) <= len(text)
        places = placed(one, [words[n] for n in chosen])
        for (before, after), (end, start) in zip(pairwise(chosen), pairwise(places), strict=True):
            apart = any(sign.isspace() for sign in text[spans[before][1] : spans[after][0]])
            if apart and words[before][-1].isalnum() and words[after][0].isalnum():
                assert end[1] < start[0]  # no two words become one


def placed(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words of a text of nothing else stand."""
    found, at = [], 0
    for word in words:
        start = text.index(word, at)
        at = start + len(word)
        found.append((start, at))
    return found


class Reads:
    """A judge of strings that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        self.asked += [one.text for one in examples]
        return [self.judgement(one.text) for one in examples]

    def judgement(self, text: str) -> Judgement:
        if text == "few":
            return from_counts({"no": 1, "yes": 2}, 3)
        if text == "bad":
            return unread(("no", "yes"), "label-not-listed", "no label", reading="top-logprobs")
        p = share(text)
        return Judgement(
            labels=("no", "yes"), probabilities=(1 - p, p), reading="scored", uncertainty=p / 1_000
        )


def test_equal_strings_are_asked_once() -> None:
    judge = Reads()
    rows = [WordRow(kept=(0,)), WordRow(kept=(1,)), WordRow(kept=(0, 2)), WordRow(kept=(1, 2))]
    [found, again] = judged_words(judge, [asked("go go on", *rows), asked("go", WordRow())], "m")
    assert judge.asked == ["go", "go on"]
    p = [share("go"), share("go"), share("go on"), share("go on")]
    assert [row and row[1] for row in found.probabilities] == p
    assert again.probabilities == ((1 - p[0], p[0]),)
    assert found.unread is None
    assert found.uncertainty == max(p) / 1_000


def test_what_is_not_read_has_its_reason() -> None:
    rows = [WordRow(kept=(0,)), WordRow(kept=(1,)), WordRow(kept=(2,))]
    [found] = judged_words(Reads(), [asked("few bad good", *rows)], "m")
    assert [row is None for row in found.probabilities] == [True, True, False]
    assert found.unread is not None
    assert found.unread.code == "votes-too-coarse"


@pytest.mark.parametrize(
    ("spans", "row"),
    [
        ([(0, 1), (0, 2)], {}),
        ([(0, 9)], {}),
        ([(1, 1)], {}),
        ([(0, 1)], {"kept": (1,)}),
        ([(0, 1), (2, 3)], {"kept": (1, 0)}),
        ([(0, 1)], {"masked": (1,)}),
    ],
)
def test_words_that_are_none_are_refused(
    spans: list[tuple[int, int]], row: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        WordRows.model_validate(
            {
                "example": {"text": "a b"},
                "words": [{"start": a, "end": b} for a, b in spans],
                "rows": [row],
            }
        )
