"""From what a judge wrote to a ranking or a score, without a silent default.

Source: Chen et al., EMNLP 2025, Appendix D; `*_as_released` follow Evaluation/ of mainlp/CoT2EL,
which scans single characters. Letters are the keys of the options.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from services.hlv.kernel import Floats, fractional_ranks

LETTER = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
# A list of letters that a colon introduces: nothing but separators before and between them.
COLON_LIST = re.compile(
    r":[\s*_`(\[>]*(?P<letters>[A-Z](?:[\s,;>()\[\].=*`|-]+[A-Z])*)(?![A-Za-z])"
)
SCALE = re.compile(r"[1-5] *(?:-|–|to) *[1-5](?!\d)|5[ -]point", re.IGNORECASE)
INTEGER = re.compile(r"(?<![\d.])[1-5](?!\d|\.\d)")


def mentioned(raw: str, keys: Sequence[str]) -> list[str]:
    """The options in the order of their first mention; empty: no ranking can be read.

    A mention is a letter of `keys` that stands alone. Where a colon introduces a list of letters
    ("the ranking is: C B A"), only what follows that colon counts; of several such lists the
    longest, of equally long ones the last. Several lists of one letter are no list ("1: C, 2: A").
    """
    lists = [
        (len(set(LETTER.findall(found["letters"])) & set(keys)), found.start("letters"))
        for found in COLON_LIST.finditer(raw)
    ]
    longest, begin = max(lists, default=(0, 0))
    told = raw[begin:] if longest > 1 or (longest == 1 == len(lists)) else raw
    return list(dict.fromkeys(letter for letter in LETTER.findall(told) if letter in keys))


def mentioned_as_released(raw: str, keys: Sequence[str]) -> list[str]:
    """Any character that is a key, letters of words included, in the order of first occurrence."""
    return list(dict.fromkeys(letter for letter in raw.upper() if letter in keys))


def ranks_of(order: Sequence[str], keys: Sequence[str]) -> Floats:
    """(n,) ranks of the keys, 1 = best; those that are not mentioned tie for last."""
    places = [order.index(key) if key in order else len(order) for key in keys]
    return fractional_ranks(np.array(places, dtype=np.float64), higher_is_better=False)


def rating(raw: str) -> int | None:
    """The first standalone integer from 1 to 5; None where there is none.

    The name of the scale itself ("from 1 to 5", "5-point") is no rating, and neither is 10 or 4.5.
    """
    found = INTEGER.search(SCALE.sub(" ", raw))
    return int(found[0]) if found else None


def rating_as_released(raw: str) -> int:
    """The first character where it is a digit, else 1: "Rating: 4" is 1, "9 of 10" is 9."""
    start = raw.strip()[:1]
    return int(start) if start.isascii() and start.isdigit() else 1
