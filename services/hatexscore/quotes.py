"""Quotations of an explanation, where they occur in the text, and the text with them masked.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 (quoted spans, exact and fuzzy matching, "[MASK]").
Deviates: a quotation is what stands in quotation marks; the released code takes every token that
text and explanation share, "the" included, so that no explanation is ever without a quotation. It
also masks token by token, inside words and inside earlier masks; here merged spans are masked in
one pass.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extractOne

from services.hatexscore.words import Language, Span, words
from shared.cached import cached_property
from shared.job_context import check, checking

MASK = "[MASK]"
MAX_EDITS = 0.15  # of the quotation's length
MIN_LENGTH = 8  # characters; shorter words are near to too much
REGIONS = 8  # places that are looked at closely
BORDERS = 24  # tried at either end, the nearest first: word borders, or characters of Chinese
LONG = 500  # characters; of longer quotations fewer borders are tried
REACH = 40  # characters beside the expected border, and one more for every allowed edit
HITS = 200  # places of one piece that are remembered, the first ones

# With all the blanks around it.
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++|(?!\s))(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\.{3,}|\u2026+)\s*")
_LONGEST_WORD = 20  # characters of a function word, generously
_EDGES = " \t\r\n\u3000*_~`.,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f-"


@dataclass(frozen=True, slots=True)
class Quotation:
    """The inside of quotation marks: `text == explanation[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a quotation occurs in the text: `text == original[start:end]`.

    similarity: 1 - edit distance / longer length, [0, 1]; 1 for an exact match.
    """

    start: int
    end: int
    text: str
    quoted_as: str
    match: Literal["exact", "fuzzy"]
    similarity: float


def quotations(explanation: str) -> list[Quotation]:
    """What is quoted, in order; an ellipsis separates two quotations; punctuation only is none."""
    return [
        quotation
        for start, end in quoted_spans(explanation)
        for quotation in _parts(explanation, start + 1, end - 1)
    ]


def _parts(explanation: str, start: int, end: int) -> Iterator[Quotation]:
    """The stretches between ellipses, without punctuation and mark-up at their edges."""
    borders = [match.span() for match in _ELLIPSIS.finditer(explanation, start, end)]
    starts = [start, *(after for _, after in borders)]
    ends = [*(before for before, _ in borders), end]
    for left, right in zip(starts, ends, strict=True):
        part = explanation[left:right]
        text = part.strip(_EDGES)
        if text:
            offset = left + len(part) - len(part.lstrip(_EDGES))
            yield Quotation(offset, offset + len(text), text)


def is_trivial(quotation: Quotation, language: Language) -> bool:
    """Is it a function word alone? Quoting "the" points at nothing (section 3.2, "non-trivial")."""
    if len(quotation.text) > _LONGEST_WORD:
        return False
    found = [word for word in words(quotation.text, language) if word.is_word]
    return len(found) == 1 and found[0].is_stop


def locate(text: str, quoted: Sequence[Quotation]) -> tuple[list[Quote], list[Quotation]]:
    """Every occurrence of each quotation in the text, and the quotations that have none.

    Exact after folding and at word borders; else the nearest passage within 15 % edits.
    """
    haystack = Haystack(text)
    found: dict[str, list[Quote]] = {}
    missing: list[Quotation] = []
    for quotation in checking(quoted):
        needle = fold(quotation.text).text
        if needle not in found:
            found[needle] = _occurrences(haystack, needle, quotation.text)
        if not found[needle]:
            missing.append(quotation)
    quotes = {(q.start, q.end): q for hits in reversed(found.values()) for q in hits}
    return [quotes[span] for span in sorted(quotes)], missing


def _occurrences(haystack: Haystack, needle: str, quoted_as: str) -> list[Quote]:
    check()
    text = haystack.text
    exact = [
        Quote(start, end, text[start:end], quoted_as, "exact", 1.0)
        for start, end in exact_spans(haystack, needle)
    ]
    near = None if exact else nearest_passage(haystack, needle)
    if near is None:
        return exact
    (start, end), similarity = near
    return [Quote(start, end, text[start:end], quoted_as, "fuzzy", similarity)]


def exact_spans(haystack: Haystack, needle: str) -> list[Span]:
    """Occurrences of a folded needle that begin and end at word borders of the text.

    One that begins inside a word is passed over to the next border, not to the next character:
    "aaa" in twenty thousand "a" is looked at once.
    """
    if not needle:
        return []
    folded, begins, ends = haystack.folded, haystack.begins, haystack.ends
    spans: list[Span] = []
    position = folded.text.find(needle)
    while position >= 0:
        after, end = position, position + len(needle)
        if _holds(begins, position) and _holds(ends, end):
            spans.append(folded.span(position, end))
            after = end - 1
        following = bisect_right(begins, after)
        if following == len(begins):
            break
        position = folded.text.find(needle, begins[following])
    return spans


def _holds(ascending: Sequence[int], value: int) -> bool:
    place = bisect_left(ascending, value)
    return place < len(ascending) and ascending[place] == value


def nearest_passage(haystack: Haystack, needle: str) -> tuple[Span, float] | None:
    """The passage that a misquotation means, and its similarity [0.85, 1), or None.

    At most 15 % of the characters edited, as in the released code. A needle with k edits, cut into
    k + 1 pieces, keeps one piece whole: pieces vote where to look, and only passages whose length
    and borders fit are compared. Begins and ends at word borders; on a tie the earliest, then the
    shortest passage.
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
    borders = [len(needle) * i // (edits + 1) for i in range(edits + 2)]
    for offset, end in pairwise(borders):
        piece = needle[offset:end]
        votes.update([place - offset for place in haystack.places(piece)])
    nearby: Counter[int] = Counter()  # edits shift later pieces: neighbours vote together
    for begin, count in votes.items():
        nearby[begin // (edits + 1)] += count
    ranked = nsmallest(REGIONS, nearby, key=lambda group: (-nearby[group], group))
    width = edits + 1
    return [
        max(
            range(group * width, (group + 1) * width),
            key=lambda begin: (votes.get(begin, 0), -begin),
        )
        for group in ranked
    ]


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


_MARK_LETTER = r"A-Za-z0-9\u00c0-\u024f"  # Chinese and Korean letters may touch a mark
_BLANK_LINE = r"\n[^\S\n]*\n"

_OPENING_MARK = re.compile(
    rf"(?<![{_MARK_LETTER}])[\"\uff02]|[\u201c\u201e\u201f\u00ab\u300c\u300e\u300a]"
    r"|(?<!\w)[\u2018\u201b]|(?<![\w'])'(?=[^\s'])"
)
_CLOSING_MARK = {
    mark: re.compile(f"{closing}|{_BLANK_LINE}")
    for marks, closing in (
        ('"\uff02', rf"[\"\uff02](?![{_MARK_LETTER}])"),
        ("\u201c\u201e\u201f", "[\u201c\u201d]"),
        ("\u00ab", "\u00bb"),
        ("\u300c", "\u300d"),
        ("\u300e", "\u300f"),
        ("\u300a", "\u300b"),
        ("\u2018\u201b", rf"\u2019(?![{_MARK_LETTER}])"),
        ("'", rf"(?<=[^\s'])'(?![{_MARK_LETTER}'])"),
    )
    for mark in marks
}


def quoted_spans(text: str) -> list[Span]:
    """Spans of the quotations, marks included; marks around the whole text quote nothing.

    Straight marks are told apart by their neighbours: an opening mark follows no letter, a closing
    one precedes none (an apostrophe is neither), and a straight single mark also hugs what it
    quotes. Marks of other kinds inside a quotation belong to it, and none runs over a blank line.
    """
    spans = _spans(text)
    stripped = text.strip()
    lead = len(text) - len(text.lstrip())
    if spans != [(lead, lead + len(stripped))]:
        return spans
    return [(start + lead + 1, end + lead + 1) for start, end in _spans(stripped[1:-1])]


def _spans(text: str) -> list[Span]:
    """From left to right; an opening mark without its closing one opens nothing."""
    spans: list[Span] = []
    unclosed: set[str] = set()  # no closing mark is left in the text
    position = 0
    while opening := _OPENING_MARK.search(text, position):
        position = opening.end()
        mark = opening.group()
        closing = None if mark in unclosed else _CLOSING_MARK[mark].search(text, position)
        if closing is None:
            unclosed.add(mark)
        elif not closing.group().isspace():
            position = closing.end()
            spans.append((opening.start(), position))
    return spans


_SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
# A base character with what composes onto it: combining marks, Hangul vowels and finals.
_CLUSTER = re.compile("(?s).[\u0300-\u036f\u1160-\u11ff\u3099\u309a\ufe00-\ufe0f]*")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text: character i came from `origin[i]` of the text as sent."""

    text: str
    origin: tuple[Span, ...]

    def span(self, start: int, end: int) -> Span:
        """The span of the text as sent that folds to characters start..end (start < end)."""
        return self.origin[start][0], self.origin[end - 1][1]


def fold(text: str) -> Folded:
    """What the text says, not how it is typed: NFKC, case folding, one space for any white space,
    straight quotation marks and hyphens, no invisible characters, no white space at the ends."""
    characters: list[str] = []
    origin: list[Span] = []
    for cluster in _CLUSTER.finditer(text):
        for character in _folded(cluster.group()):
            if character == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(character)
            origin.append(cluster.span())
    if characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return Folded("".join(characters), tuple(origin))


def _folded(cluster: str) -> str:
    if cluster.isascii():
        return " " if cluster.isspace() else cluster.lower().translate(_SAME)
    composed = unicodedata.normalize("NFKC", cluster).translate(_SAME).casefold()
    return "".join(" " if c.isspace() else c for c in composed if not _invisible(c))


def _invisible(character: str) -> bool:
    """Zero-width and control characters, variation selectors."""
    if character.isspace():
        return False
    return unicodedata.category(character) in ("Cf", "Cc") or "\ufe00" <= character <= "\ufe0f"


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The same characters, as ordered spans without overlap; spans that only touch stay two."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """`text` with each merged span replaced; every other character stays as it is."""
    pieces: list[str] = []
    position = 0
    for start, end in merge_spans(spans):
        pieces += [text[position:start], MASK]
        position = end
    return "".join([*pieces, text[position:]])


_HAN_CLASS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN = re.compile(f"[{_HAN_CLASS}]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_APOSTROPHES = "'\u2019"
_UNIT = re.compile(rf"[{_HAN_CLASS}]|[^\W{_HAN_CLASS}]+(?:['\u2019][^\W{_HAN_CLASS}]+)*|[^\w\s]")


def count_units(text: str) -> list[Span]:
    """Words with their inner apostrophes, single Han characters, single emoji; no punctuation."""
    found = _UNIT.finditer(text)
    return [match.span() for match in found if _counts(match.group())]


def _counts(unit: str) -> bool:
    """A word character, or a pictograph."""
    return unit[0].isalnum() or unit[0] == "_" or unicodedata.category(unit[0]) == "So"


def word_spans(text: str, language: Language) -> list[Span]:
    """Units, but Chinese characters joined to words."""
    if language != "zh":
        return count_units(text)
    return [(word.start, word.end) for word in words(text, language) if word.is_word]


def touched_words(counted: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Index ranges (first, last + 1) of the units that the spans touch, merged and in order."""
    starts = [start for start, _ in counted]
    ends = [end for _, end in counted]
    ranges = ((bisect_right(ends, start), bisect_right(starts, end - 1)) for start, end in spans)
    return merge_spans((first, last) for first, last in ranges if first < last)


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


class Haystack:
    """A text made ready for many searches: each then costs its needle's length, not the text's.

    Indices are those of the folded text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)
        self._pieces: dict[int, dict[str, list[int]]] = {}  # length → piece → its places

    @cached_property
    def begins(self) -> list[int]:
        """Where a quoted span may begin, ascending."""
        origin = self.folded.origin
        return [place for place in range(len(origin)) if may_begin(self.text, origin[place][0])]

    @cached_property
    def ends(self) -> list[int]:
        """Where it may end (exclusive), ascending."""
        origin = self.folded.origin
        last = range(1, len(origin) + 1)
        return [place for place in last if may_end(self.text, origin[place - 1][1])]

    def places(self, piece: str) -> Sequence[int]:
        """The first places where a short piece stands, overlapping ones too."""
        length = len(piece)
        if length not in self._pieces:
            self._pieces[length] = self._index(length)
        return self._pieces[length].get(piece, ())

    def _index(self, length: int) -> dict[str, list[int]]:
        text = self.folded.text
        found: dict[str, list[int]] = {}
        for place in range(len(text) - length + 1):
            places = found.setdefault(text[place : place + length], [])
            if len(places) < HITS:
                places.append(place)
        return found


def around(borders: Sequence[int], position: int, reach: int, most: int) -> list[int]:
    """The borders (ascending) within reach of a position, the nearest first, at most so many.

    Of two as near, the lower one comes first.
    """
    right = bisect_left(borders, position)
    left = right - 1
    found: list[int] = []
    while len(found) < most:
        below = position - borders[left] if left >= 0 else reach + 1
        above = borders[right] - position if right < len(borders) else reach + 1
        if min(below, above) > reach:
            break
        if below <= above:
            found.append(borders[left])
            left -= 1
        else:
            found.append(borders[right])
            right += 1
    return found
