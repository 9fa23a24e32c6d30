"""The passage of a text that a misquotation means: at most 15 % of its characters edited.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 ("fuzzy matching"); the share is the released
code's. A needle with k edits, cut into k + 1 pieces, keeps one piece whole: pieces vote where to
look, so that a quotation from nowhere costs a few string searches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from services.hatexscore.folding import Folded
from services.hatexscore.languages import Span
from services.hatexscore.units import may_begin, may_end
from shared.job_context import checking

MAX_EDITS = 0.15  # of the quotation's length
MIN_LENGTH = 8  # characters; shorter words are near to too much
REGIONS = 8  # places that are looked at closely
HITS = 200  # of one piece
BORDERS = 24  # tried at either end, the nearest first: word borders, or characters of Chinese
LONG = 500  # characters; of longer quotations fewer borders are tried
REACH = 40  # characters beside the expected border, and one more for every allowed edit


def nearest(text: str, folded: Folded, needle: str) -> tuple[Span, float] | None:
    """The passage nearest to a folded needle and its similarity [0.85, 1), or None.

    Begins and ends at word borders; on a tie the earliest, then the shortest passage.
    """
    edits = int(MAX_EDITS * len(needle))
    if len(needle) < MIN_LENGTH:
        return None
    best: tuple[float, int, int] | None = None
    for begin in checking(_regions(folded.text, needle, edits)):
        for start, end in _passages(text, folded, begin, len(needle)):
            distance = _distance(needle, folded.text[start:end])
            if distance <= MAX_EDITS and (best is None or (distance, start, end) < best):
                best = (distance, start, end)
    if best is None:
        return None
    return folded.span(best[1], best[2]), 1.0 - best[0]


def _distance(needle: str, passage: str) -> float:
    """Edit distance over the longer length, [0, 1]; 1 for a passage that is mostly blank."""
    if passage != passage.strip():
        return 1.0
    return float(Levenshtein.normalized_distance(needle, passage, score_cutoff=MAX_EDITS))


def _regions(haystack: str, needle: str, edits: int) -> list[int]:
    """Positions where the needle may begin, those with the most pieces in place first."""
    votes: Counter[int] = Counter()
    for offset, piece in _pieces(needle, edits + 1):
        position = haystack.find(piece)
        for _ in range(HITS):
            if position < 0:
                break
            votes[position - offset] += 1
            position = haystack.find(piece, position + 1)
    nearby: Counter[int] = Counter()  # edits shift later pieces: neighbours vote together
    for begin, count in votes.items():
        nearby[begin // (edits + 1)] += count
    ranked = sorted(nearby, key=lambda group: (-nearby[group], group))[:REGIONS]
    return [_favourite(votes, group * (edits + 1), edits + 1) for group in ranked]


def _favourite(votes: Counter[int], first: int, width: int) -> int:
    """The position in first..first + width that most pieces name."""
    return max(range(first, first + width), key=lambda begin: (votes[begin], -begin))


def _pieces(needle: str, count: int) -> Iterator[tuple[int, str]]:
    """The needle cut into `count` pieces of nearly equal length, with their offsets."""
    borders = [len(needle) * i // count for i in range(count + 1)]
    for start, end in pairwise(borders):
        yield start, needle[start:end]


def _passages(text: str, folded: Folded, begin: int, length: int) -> Iterator[Span]:
    """Passages of about this length that begin near `begin`, between word borders."""
    limit = BORDERS if length <= LONG else BORDERS // 4
    reach = REACH + int(MAX_EDITS * length)
    origin = folded.origin
    starts = _near(begin, reach, range(len(origin)), lambda i: may_begin(text, origin[i][0]))
    for start in starts[:limit]:
        fits = range(start + 1, len(origin) + 1)
        ends = _near(start + length, reach, fits, lambda i: may_end(text, origin[i - 1][1]))
        for end in ends[:limit]:
            yield start, end


def _near(position: int, reach: int, allowed: range, fits: Callable[[int], bool]) -> list[int]:
    """The fitting indices around a position, the nearest first."""
    around = range(max(allowed.start, position - reach), min(allowed.stop, position + reach + 1))
    return sorted((i for i in around if fits(i)), key=lambda i: (abs(i - position), i))
