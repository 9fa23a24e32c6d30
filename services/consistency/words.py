"""The words of a text, without punctuation, and those that an explanation cites.

Rules find the citations: quotations of the text, or without any the words that both share. Linear
in text and explanation.
"""

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

SHORT = 3  # characters: of such words contributions are compared among themselves


@dataclass(frozen=True)
class TextWords:
    """spans: character offsets, in order. language: as they were cut by."""

    text: str
    spans: tuple[tuple[int, int], ...]
    language: str

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def written(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]

    def split(self, written: str) -> list[str]:
        """Another text as this one is cut."""
        return text_words(written, self.language).written

    def under(self, passages: Sequence[tuple[int, int]]) -> tuple[int, ...]:
        """The words that a passage touches."""
        covered = np.zeros(len(self.text) + 1, dtype=bool)
        for start, end in passages:
            covered[start:end] = True
        return tuple(n for n, (start, end) in enumerate(self.spans) if covered[start:end].any())

    def strata(self) -> list[list[int]]:
        """The words of up to three characters, and all others."""
        short = [end - start <= SHORT for start, end in self.spans]
        return [[n for n, one in enumerate(short) if one is kind] for kind in (True, False)]

    def word_rows(self, example: Example, rows: Sequence[WordRow]) -> WordRows:
        spans = tuple(WordSpan(start=start, end=end) for start, end in self.spans)
        return WordRows(example=example, words=spans, rows=tuple(rows))


def row_of(standing: Bools, absent: str | None) -> WordRow:
    """standing: (n,) which words stay. absent: what stands for the others; None: nothing."""
    if absent is None:
        return WordRow(kept=tuple(np.flatnonzero(standing).tolist()))
    gone = np.flatnonzero(~standing).tolist()
    return WordRow(replaced=tuple((word, absent) for word in gone))


def text_words(text: str, language: str) -> TextWords:
    """language: the code that `find_language` tells."""
    found = word_spans(text, language)
    return TextWords(text, tuple(s for s in found if _is_word(text[s[0] : s[1]])), language)


def _is_word(written: str) -> bool:
    """With a letter, a digit or a symbol such as an emoji."""
    return any(unicodedata.category(sign)[0] in "LNS" for sign in written)


MOST_QUOTATIONS = 200
FEWEST_LETTERS = 3  # of a word that is cited by being shared
_QUOTATION = re.compile(
    '"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u201e([^\u201e\u201c\u201d]+)[\u201c\u201d]'
    "|\u00ab([^\u00ab\u00bb]+)\u00bb|\u300c([^\u300c\u300d]+)\u300d|\u300e([^\u300e\u300f]+)\u300f"
    r"|`([^`]+)`|(?<!\w)\u2018([^\u2018\u2019]+)\u2019(?!\w)|(?<![\w'])'([^'\n]+)'(?![\w'])"
)
FUNCTION_WORDS = Path(__file__).parent / "data" / "function_words_en.json"


@dataclass(frozen=True)
class Citations:
    """words: numbers of the text's words. missing: quotations that do not stand there."""

    words: tuple[int, ...] = ()
    by: CitedBy | None = None
    missing: tuple[str, ...] = ()


def citations(text: TextWords, explanation: str) -> Citations:
    """What the rules read."""
    found, missing = set[int](), list[str]()
    searched = _SearchedWords(text)
    for quotation in quotations(explanation):
        places = set(searched.places(quotation))
        found |= places
        if not places:
            missing.append(quotation)
    if found:
        return Citations(tuple(sorted(found)), "quotations", tuple(missing))
    shared = tuple(_shared(text, explanation)) if text.language == "en" else ()
    return Citations(shared, "shared words" if shared else None, tuple(missing))


def quotations(explanation: str) -> list[str]:
    """Different ones, as they stand between their marks."""
    each = (next(filter(None, one.groups()), "") for one in _QUOTATION.finditer(explanation))
    return list(dict.fromkeys(filter(None, map(str.strip, each))))[:MOST_QUOTATIONS]


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Of English: sharing them says nothing."""
    return frozenset(json.loads(FUNCTION_WORDS.read_text("utf-8")))


def fold(word: str) -> str:
    """As words are compared: compatible characters, without case."""
    return unicodedata.normalize("NFKC", word).casefold()


class _SearchedWords:
    """A text in which quotations are looked for: word for word, whatever stands between words; in
    scripts without blanks, whose words depend on what is around them, letter for letter."""

    def __init__(self, text: TextWords) -> None:
        self._text = text
        self._folded = [fold(word) for word in text.written]

    def places(self, quotation: str) -> Iterator[int]:
        """The words of every occurrence."""
        wanted = [fold(word) for word in self._text.split(quotation)]
        found = list(self._found("\n", wanted)) if wanted else []
        if not found and wanted and not quotation.isascii():
            found = list(self._found("", wanted))
        yield from found

    def _found(self, between: str, wanted: Sequence[str]) -> Iterator[int]:
        starts = list(accumulate((len(one) + len(between) for one in self._folded), initial=0))
        whole = between + "".join(one + between for one in self._folded)
        written = between + "".join(one + between for one in wanted)
        at = whole.find(written)
        while at >= 0:
            first = bisect_right(starts, at) - 1
            last = bisect_right(starts, at + len(written) - len(between) - 1) - 1
            yield from range(first, last + 1)
            at = whole.find(written, at + len(written) - len(between))


def _shared(text: TextWords, explanation: str) -> Iterator[int]:
    """Content words of the text that the explanation uses."""
    used = {fold(word) for word in text.split(explanation)} - function_words()
    for number, word in enumerate(map(fold, text.written)):
        if word in used and sum(map(str.isalnum, word)) >= FEWEST_LETTERS:
            yield number
