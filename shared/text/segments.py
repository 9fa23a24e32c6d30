"""A text in parts that an analyser can take: it is cut inside runs without a blank alone.

spaCy takes minutes for 20,000 times "!", kiwi takes time by the square of such a run.
"""

from __future__ import annotations

import re
from itertools import pairwise

Span = tuple[int, int]  # half-open character offsets


def segments(text: str, longest_run: int) -> list[Span]:
    """The whole text, cut wherever so many characters in a row are no blank and another follows."""
    cuts = [run.end() for run in re.finditer(rf"\S{{{longest_run}}}(?=\S)", text)]
    return list(pairwise([0, *cuts, len(text)]))
