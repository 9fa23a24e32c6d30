"""A text in parts that an analyser can take: it is cut inside runs without a blank alone.

spaCy takes minutes for 20,000 times "!", kiwi takes time by the square of such a run.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

Span = tuple[int, int]  # half-open character offsets


def segments(text: str, longest_run: int) -> list[Span]:
    """The whole text, cut wherever so many characters in a row are no blank and another follows."""
    cuts = [run.end() for run in _long_run(longest_run).finditer(text)]
    return list(pairwise([0, *cuts, len(text)]))


@lru_cache(maxsize=8)
def _long_run(length: int) -> re.Pattern[str]:
    return re.compile(rf"\S{{{length}}}(?=\S)")
