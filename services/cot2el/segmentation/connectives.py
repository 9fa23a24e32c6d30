"""DSeg2: what a discourse connective begins, as in the Penn Discourse Treebank.

Source: Chen et al., EMNLP 2025, Eq. 3. The list is of our own typing; English only.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from services.cot2el.segmentation.spans import Span, trimmed

LIST = Path(__file__).with_name("connectives.en.json")


@lru_cache(maxsize=1)
def _connective() -> re.Pattern[str]:
    """At the beginning of a sentence, after a mark, or after and/but; the longest one wins."""
    known = sorted(json.loads(LIST.read_text("utf-8")), key=len, reverse=True)
    any_of = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in known)
    # "and" alone begins too much; "and therefore" begins with its adverb
    return re.compile(rf"(?:^|[,;:(—–]\s*)(?:and\s+)?(?P<first>(?:{any_of})\b)", re.IGNORECASE)


def connective_units(text: str, sentence: Span, language: str) -> list[Span]:
    """From each connective to the next one, or to the sentence's end; in order.

    Empty for languages without a list.
    """
    if language != "en":
        return []
    start, end = sentence
    alone = text[start:end]
    firsts = [found.start("first") for found in _connective().finditer(alone)]
    units = [trimmed(alone, *piece) for piece in pairwise([*firsts, len(alone)])]
    return [(start + a, start + b) for a, b in units if a < b]
