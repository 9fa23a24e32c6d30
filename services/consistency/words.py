"""The words of a text, without punctuation, and the words that an explanation cites. Citations are
quotations of the text or, if there are none, words that text and explanation share."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from services.consistency.kernel import Bools
from services.consistency.report import CitedBy
from shared.contracts.calls import Example, WordRow, WordRows, WordSpan
from shared.text.word_segmentation import word_spans

SHORT = 3  # characters; contributions of short words are permuted among themselves


@dataclass(frozen=True)
class TextWords:
    text: str
    spans: tuple[tuple[int, int], ...]  # character offsets, in order
    language: str  # whose rules split the text

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def written(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]

    def split(self, written: str) -> list[str]:
        """Split another text into words by the same rules."""
        return text_words(written, self.language).written

    def under(self, passages: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """Return the indices of the words that overlap with a passage."""
        covered = np.zeros(len(self.text) + 1, dtype=bool)
        for start, end in passages:
            covered[start:end] = True
        return tuple(n for n, (start, end) in enumerate(self.spans) if covered[start:end].any())

    def strata(self) -> list[list[int]]:
        """Return two lists of word indices: words of up to three characters, and all others."""
        short = [end - start <= SHORT for start, end in self.spans]
        return [
            [n for n, is_short in enumerate(short) if is_short is kind] for kind in (True, False)
        ]

    def word_rows(self, example: Example, rows: Sequence[WordRow]) -> WordRows:
        spans = tuple(WordSpan(start=start, end=end) for start, end in self.spans)
        return WordRows(example=example, words=spans, rows=tuple(rows))


def row_of(standing: Bools, absent: str | None) -> WordRow:
    """Return a variation of the text that keeps the words where `standing` is True. `absent`
    replaces the other words; if it is None they are deleted."""
    if absent is None:
        return WordRow(kept=tuple(np.flatnonzero(standing).tolist()))
    removed = np.flatnonzero(~standing).tolist()
    return WordRow(replaced=tuple((word, absent) for word in removed))


def text_words(text: str, language: str) -> TextWords:
    """Split a text into words. `language` is a code that `find_language` returns. A word contains a
    letter, a digit or a symbol such as an emoji."""
    spans = (
        (start, end)
        for start, end in word_spans(text, language)
        if any(unicodedata.category(character)[0] in "LNS" for character in text[start:end])
    )
    return TextWords(text, tuple(spans), language)


MOST_QUOTATIONS = 200
FEWEST_LETTERS = 3  # of a word that counts as cited because it is shared
_QUOTATION = re.compile(
    '"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201e\u201c\u201d]+)[\u201c\u201d]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|\u300c([^\u300c\u300d]+)\u300d|\u300e([^\u300e\u300f]+)\u300f"
    r"|`([^`]+)`|(?<!\w)\u2018([^\u2018\u2019]+)\u2019(?!\w)|(?<![\w'])'([^'\n]+)'(?![\w'])"
)
FUNCTION_WORDS = Path(__file__).parent / "data" / "function_words_en.json"


@dataclass(frozen=True)
class Citations:
    words: tuple[int, ...] = ()  # indices of the text's words
    by: CitedBy | None = None
    missing: tuple[str, ...] = ()  # quotations that are not in the text


def citations(text: TextWords, explanation: str) -> Citations:
    """Return the words that the explanation quotes. If there are none and the text is English,
    return the words that both texts share."""
    quoted, missing = set[int](), list[str]()
    searched = _SearchedWords(text)
    for quotation in quotations(explanation):
        words = searched.find(quotation)
        quoted.update(words)
        if not words:
            missing.append(quotation)
    if quoted:
        return Citations(tuple(sorted(quoted)), "quotations", tuple(missing))
    if text.language != "en":
        return Citations((), None, tuple(missing))
    used = {fold(word) for word in text.split(explanation)} - function_words()
    shared = tuple(
        index
        for index, word in enumerate(map(fold, text.written))
        if word in used and sum(map(str.isalnum, word)) >= FEWEST_LETTERS
    )
    return Citations(shared, "shared words" if shared else None, tuple(missing))


def quotations(explanation: str) -> list[str]:
    """Return the distinct quotations, without quotation marks."""
    quoted = (next(filter(None, match.groups()), "") for match in _QUOTATION.finditer(explanation))
    return list(dict.fromkeys(filter(None, map(str.strip, quoted))))[:MOST_QUOTATIONS]


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Return English function words, which are no evidence of a citation."""
    return frozenset(json.loads(FUNCTION_WORDS.read_text("utf-8")))


def fold(word: str) -> str:
    """Return the form in which words are compared: NFKC-normalised and case-folded."""
    return unicodedata.normalize("NFKC", word).casefold()


class _SearchedWords:
    """Finds quotations word by word, ignoring characters between the words. In scripts without
    spaces it compares letters instead, because word boundaries there depend on the context."""

    def __init__(self, text: TextWords) -> None:
        self._text = text
        self._folded = [fold(word) for word in text.written]

    def find(self, quotation: str) -> list[int]:
        """Return the word indices of every occurrence of the quotation."""
        words = [fold(word) for word in self._text.split(quotation)]
        indices = list(self._search("\n", words)) if words else []
        if not indices and words and not quotation.isascii():
            indices = list(self._search("", words))
        return indices

    def _search(self, separator: str, words: Sequence[str]) -> Iterator[int]:
        sizes = (len(word) + len(separator) for word in self._folded)
        starts = list(accumulate(sizes, initial=0))
        text = separator + "".join(word + separator for word in self._folded)
        pattern = separator + "".join(word + separator for word in words)
        at = text.find(pattern)
        while at >= 0:
            end = at + len(pattern) - len(separator)
            first = bisect_right(starts, at) - 1
            last = bisect_right(starts, end - 1) - 1
            yield from range(first, last + 1)
            at = text.find(pattern, end)
