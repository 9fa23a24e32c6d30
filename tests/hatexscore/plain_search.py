"""The search for near misses as it is defined, step by step: what the indexed one must find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from rapidfuzz.distance import Levenshtein

from services.hatexscore.quote_search import Folded, fold, may_begin, may_end
from services.hatexscore.words import Span

MAX_EDITS, MIN_LENGTH, REGIONS, HITS, PIECE, BORDERS, LONG = 0.15, 8, 3, 32, 4, 24, 500


def nearest(text: str, quotation: str) -> tuple[Span, float] | None:
    """The nearest passage of all that are tried, and its similarity."""
    folded, needle = fold(text), fold(quotation).text
    if len(needle) < MIN_LENGTH:
        return None
    tried = [
        (_distance(needle, folded.text[start:end]), start, end)
        for begin in _regions(folded.text, needle)
        for start, end in _passages(text, folded, begin, len(needle))
    ]
    distance, start, end = min(tried, default=(1.0, 0, 0))
    return None if distance > MAX_EDITS else (folded.span(start, end), 1.0 - distance)


def exact(text: str, quotation: str) -> list[Span]:
    """Occurrences between word borders, looked for at every character."""
    folded, needle = fold(text), fold(quotation).text
    spans: list[Span] = []
    position = folded.text.find(needle) if needle else -1
    while position >= 0:
        start, end = folded.span(position, position + len(needle))
        fits = may_begin(text, start) and may_end(text, end)
        spans += [(start, end)] if fits else []
        position = folded.text.find(needle, position + (len(needle) if fits else 1))
    return spans


def _distance(needle: str, passage: str) -> float:
    if passage != passage.strip():
        return 1.0
    return float(Levenshtein.normalized_distance(needle, passage))


def _regions(haystack: str, needle: str) -> list[int]:
    width = int(MAX_EDITS * len(needle)) + 1
    votes: Counter[int] = Counter()
    for offset in range(len(needle) - PIECE + 1):
        piece = needle[offset : offset + PIECE]
        position = haystack.find(piece)
        for _ in range(HITS):
            if position < 0:
                break
            votes[position - offset] += 1
            position = haystack.find(piece, position + 1)
    nearby: Counter[int] = Counter()
    for begin, count in votes.items():
        nearby[begin // width] += count
    ranked = sorted(nearby, key=lambda group: (-nearby[group], group))[:REGIONS]
    return [
        max(range(group * width, (group + 1) * width), key=lambda b: (votes[b], -b))
        for group in ranked
    ]


def _passages(text: str, folded: Folded, begin: int, length: int) -> Iterator[Span]:
    limit = BORDERS if length <= LONG else BORDERS // 4
    reach = 2 * (int(MAX_EDITS * length) + 1)
    longer = int(length * MAX_EDITS / (1 - MAX_EDITS)) + 1
    origin = folded.origin
    starts = _near(begin, reach, range(len(origin)), lambda i: may_begin(text, origin[i][0]))
    for start in starts[:limit]:
        fits = range(start + 1, len(origin) + 1)
        ends = _near(start + length, longer, fits, lambda i: may_end(text, origin[i - 1][1]))
        yield from ((start, end) for end in ends[:limit])


def _near(position: int, reach: int, allowed: range, fits: Callable[[int], bool]) -> list[int]:
    around = range(max(allowed.start, position - reach), min(allowed.stop, position + reach + 1))
    return sorted((i for i in around if fits(i)), key=lambda i: (abs(i - position), i))
