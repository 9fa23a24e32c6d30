"""What a text is counted in: words between spaces, single characters in Chinese.

Quotations are found, covered and compared with chance in these units.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from services.hatexscore.languages import Language, Span, words
from services.hatexscore.masking import merge

_HAN_CLASS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN = re.compile(f"[{_HAN_CLASS}]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_APOSTROPHES = "'\u2019"
_UNIT = re.compile(rf"[{_HAN_CLASS}]|[^\W{_HAN_CLASS}]+(?:['\u2019][^\W{_HAN_CLASS}]+)*|[^\w\s]")


def units(text: str) -> list[Span]:
    """Words with their inner apostrophes, single Han characters, single emoji; no punctuation."""
    found = _UNIT.finditer(text)
    return [match.span() for match in found if _counts(match.group())]


def _counts(unit: str) -> bool:
    """A word character, or a pictograph."""
    return unit[0].isalnum() or unit[0] == "_" or unicodedata.category(unit[0]) == "So"


def word_spans(text: str, language: Language) -> list[Span]:
    """What a reader calls words: `units`, but Chinese characters joined to words."""
    if language != "zh":
        return units(text)
    return [(word.start, word.end) for word in words(text, language) if word.is_word]


def touched(counted: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Index ranges (first, last + 1) of the units that the spans touch, merged and in order."""
    starts = [start for start, _ in counted]
    ends = [end for _, end in counted]
    ranges = ((bisect_right(ends, start), _count_before(starts, end)) for start, end in spans)
    return merge((first, last) for first, last in ranges if first < last)


def _count_before(starts: Sequence[int], end: int) -> int:
    return bisect_right(starts, end - 1)


def may_begin(text: str, position: int) -> bool:
    """May a quoted span begin here? At a word's beginning, not at its "'s"; anywhere among Han."""
    if not _is_border(text, position):
        return False
    inner = position >= 2 and text[position - 1] in _APOSTROPHES and position < len(text)
    return not (inner and _spaced(text[position - 2]) and _spaced(text[position]))


def may_end(text: str, position: int) -> bool:
    """May it end here? At a word's end, before its "'s", before a Korean particle: 이민자|들은."""
    if _is_border(text, position):
        return True
    return bool(_HANGUL.match(text[position - 1]) and _HANGUL.match(text[position]))


def _is_border(text: str, position: int) -> bool:
    if position <= 0 or position >= len(text):
        return True
    return not (_spaced(text[position - 1]) and _spaced(text[position]))


def _spaced(character: str) -> bool:
    """Is it part of a word in a script that writes spaces between words?"""
    if _HAN.match(character) or _KANA.match(character):
        return False
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
