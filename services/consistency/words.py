"""The words of a text that can be taken away, cited, and contribute: all but punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from services.consistency.kernel import Bools
from shared.contracts.calls import Example, WordRow, WordRows, WordSpan
from shared.text.word_segmentation import word_spans

SHORT = 3  # characters: of such words contributions are compared among themselves

Split = Callable[[str], list[str]]  # a text of the same language → its words


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

    def rows(self, example: Example, standing: Bools, absent: str | None) -> WordRows:
        """standing: (R, n) words that stay in each row; absent: what stands for one that does not,
        None: nothing."""
        return self.word_rows(example, [row_of(standing_row, absent) for standing_row in standing])

    def word_rows(self, example: Example, rows: Sequence[WordRow]) -> WordRows:
        spans = tuple(WordSpan(start=start, end=end) for start, end in self.spans)
        return WordRows(example=example, words=spans, rows=tuple(rows))


def row_of(standing: Bools, absent: str | None) -> WordRow:
    """standing: (n,) which words stay."""
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
