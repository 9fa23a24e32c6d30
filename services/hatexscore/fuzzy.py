"""The passage of a text that a misquotation means: at most 15 % of its characters edited.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 ("fuzzy matching"); the share is the released
code's. A needle with k edits, cut into k + 1 pieces, keeps one piece whole: pieces vote where to
look. The pieces are looked up in an index of the text, and only passages whose length and borders
fit are compared, so that a quotation costs what its own length costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from itertools import pairwise

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extractOne

from services.hatexscore.haystack import Haystack, around
from services.hatexscore.languages import Span
from shared.job_context import checking

MAX_EDITS = 0.15  # of the quotation's length
MIN_LENGTH = 8  # characters; shorter words are near to too much
REGIONS = 8  # places that are looked at closely
BORDERS = 24  # tried at either end, the nearest first: word borders, or characters of Chinese
LONG = 500  # characters; of longer quotations fewer borders are tried
REACH = 40  # characters beside the expected border, and one more for every allowed edit


def nearest(haystack: Haystack, needle: str) -> tuple[Span, float] | None:
    """The passage nearest to a folded needle and its similarity [0.85, 1), or None.

    Begins and ends at word borders; on a tie the earliest, then the shortest passage.
    """
    if len(needle) < MIN_LENGTH:
        return None
    spans = passages(haystack, needle)
    text = haystack.folded.text
    found = extractOne(
        needle,
        [text[start:end] for start, end in spans],
        scorer=Levenshtein.normalized_distance,
        score_cutoff=MAX_EDITS,
    )
    if found is None:
        return None
    _, distance, place = found  # of equal distances the first
    return haystack.folded.span(*spans[place]), 1.0 - distance


def passages(haystack: Haystack, needle: str) -> list[Span]:
    """The passages that are compared with the needle, ascending: none is mostly blank."""
    edits = int(MAX_EDITS * len(needle))
    text = haystack.folded.text
    found = {
        (start, end)
        for begin in checking(_regions(haystack, needle, edits))
        for start, end in _near(haystack, begin, len(needle))
        if text[start] != " " and text[end - 1] != " "
    }
    return sorted(found)


def _regions(haystack: Haystack, needle: str, edits: int) -> list[int]:
    """Positions where the needle may begin, those with the most pieces in place first."""
    votes: Counter[int] = Counter()
    for offset, piece in _pieces(needle, edits + 1):
        votes.update([place - offset for place in haystack.places(piece)])
    nearby: Counter[int] = Counter()  # edits shift later pieces: neighbours vote together
    for begin, count in votes.items():
        nearby[begin // (edits + 1)] += count
    ranked = nsmallest(REGIONS, nearby, key=lambda group: (-nearby[group], group))
    return [_favourite(votes, group * (edits + 1), edits + 1) for group in ranked]


def _favourite(votes: Counter[int], first: int, width: int) -> int:
    """The position in first..first + width that most pieces name."""
    return max(range(first, first + width), key=lambda begin: (votes.get(begin, 0), -begin))


def _pieces(needle: str, count: int) -> Iterator[tuple[int, str]]:
    """The needle cut into `count` pieces of nearly equal length, with their offsets."""
    borders = [len(needle) * i // count for i in range(count + 1)]
    for start, end in pairwise(borders):
        yield start, needle[start:end]


def _near(haystack: Haystack, begin: int, length: int) -> Iterator[Span]:
    """Passages between borders that begin near `begin`, of a length that so few edits can reach.

    The edit distance of two texts is at least the difference of their lengths.
    """
    most = BORDERS if length <= LONG else BORDERS // 4
    reach = REACH + int(MAX_EDITS * length)
    longer = min(reach, int(length * MAX_EDITS / (1 - MAX_EDITS)) + 1)
    for start in around(haystack.begins, begin, reach, most):
        for end in around(haystack.ends, start + length, longer, most):
            if end > start:
                yield start, end
