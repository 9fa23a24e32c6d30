"""For how long a measure holds, and of which day it is, in one sentence.

Source: Regulation (EU) 2022/2065, Article 17(3)(a): "and, where relevant, the territorial scope of
the decision and its duration".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from services.sor.concepts import ReadSentence
from services.sor.lexicon import DATED, MONTHS, NUMBERS, OF_TIME, UNITS
from services.sor.sentences import SHORT

NEAR = 3  # words before a date that say whose date it is
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?!\d)"
)  # the months in words are found among the words
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_MONTH = [[month] for month in sorted(MONTHS)]


def is_duration(one: ReadSentence) -> bool:
    """Whether it says how long the measure holds."""
    if len(one.folded) <= SHORT and one.folded[0] in OF_TIME and len(one.folded) > 1:
        return True
    if "lasting" in one and (one.any_of("restriction", "reach", "decided") or len(one.folded) < 12):
        return True
    return _spans_time(one.folded) and one.any_of("restriction", "reach")


def _spans_time(words: Sequence[str]) -> bool:
    """Such as "for 30 days", "a three-month suspension"."""
    return any(
        unit in UNITS and (number[0].isdigit() or number in NUMBERS)
        for number, unit in pairwise(words)
    )


def is_dated(one: ReadSentence, text: str) -> bool:
    """A date that is the measure's, not the post's."""
    if not one.any_of("restriction", "reach", "lasting", "decided") and len(one.folded) > SHORT:
        return False
    words = one.folded
    for place, word in enumerate(words):
        if _is_day(words, place) or (_YEAR.fullmatch(word) and _written(one, place, text)):
            before = words[max(0, place - NEAR) : place]
            if (
                not before
                or not (DATED & set(before))
                or {"from", "until", "since", "as"} & set(before)
            ):
                return True
    return False


def _is_day(words: Sequence[str], place: int) -> bool:
    """Such as "3 March", "March 3rd": a month beside a number."""
    if words[place] not in MONTHS:
        return _DAY.fullmatch(words[place]) is not None and words[place + 1 : place + 2] in _MONTH
    return any(_DAY.fullmatch(word) for word in words[place + 1 : place + 2])


def _written(one: ReadSentence, place: int, text: str) -> bool:
    """Whether this year begins or ends a date in figures."""
    word = one.sentence.words[place]
    around = text[max(0, word.start - 6) : word.end + 6]
    return _DATE.search(around) is not None
