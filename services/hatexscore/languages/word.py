"""One word of a text, and where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Language = Literal["en", "zh", "ko"]
Span = tuple[int, int]  # half-open character offsets

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Word:
    """A token of the analysed string: `text == string[start:end]`.

    lemma:   dictionary form in lower case; of a Korean noun, the noun without its particle.
    is_stop: a function word (in Korean: particle, ending, suffix, auxiliary).
    is_word: False for punctuation and symbols.
    """

    text: str
    lemma: str
    start: int
    end: int
    is_stop: bool
    is_word: bool

    def cut_from(self, text: str) -> Word:
        """The same word with the characters of the string as sent."""
        cut = text[self.start : self.end]
        return self if cut == self.text else replace(self, text=cut)


def is_word(text: str) -> bool:
    """Does it hold a letter or a digit of any script?"""
    return any(character.isalnum() for character in text)


def without_surrogates(text: str) -> str:
    """The same length, each lone surrogate replaced by U+FFFD: no analyser can encode one."""
    return _SURROGATE.sub("\ufffd", text)
