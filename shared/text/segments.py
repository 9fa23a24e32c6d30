"""Splits a text into parts for an analyser. Only long runs without white space are split. spaCy
takes minutes for 20,000 times "!", and kiwi's time is quadratic in such a run."""

from __future__ import annotations

import re
from itertools import pairwise

Span = tuple[int, int]  # half-open character offsets


def segments(text: str, longest_run: int) -> list[Span]:
    """Split a text so that no part has more than `longest_run` characters without white space."""
    cuts = [run.end() for run in re.finditer(rf"\S{{{longest_run}}}(?=\S)", text)]
    return list(pairwise([0, *cuts, len(text)]))
