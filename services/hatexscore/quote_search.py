"""Where quotations occur in a text: exactly, inflected, nearly; each search costs its own length.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 (exact and fuzzy matching); at most 15 % of the
characters edited, as in the released code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import pairwise
from pathlib import Path
from typing import Literal

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extractOne

from services.hatexscore.quote_spelling import Spellings, without_brackets
from services.hatexscore.quotes import HAN_CLASS, Quotation, Span, count_units
from services.hatexscore.vocabulary import ENGLISH_WORD, POSSESSIVE, base_forms
from services.hatexscore.words import Language, words
from shared.process.cached import cached_property
from shared.queue.job_context import check, check_each
from shared.text.changed_meaning import changes_meaning, negates
from shared.text.normalized import NormalizedText, normalize, replaced

MAX_EDITS = 0.15  # of the quotation's length
MIN_LENGTH = 8  # characters; shorter words are near to too much
PIECE = 4  # characters: of 8 with one edit, or of 20 with three, four in a row stay whole
HITS = 32  # places of one piece that are remembered, the first ones
REGIONS = 3  # places that are looked at closely
BORDERS = 24  # tried at either end, the nearest first: word borders, or characters of Chinese
LONG_WORD = 5  # characters; two passages that share shorter words only are not alike
LONG = 500  # characters; of longer quotations fewer borders are tried
MOST_CELLS = 4_000_000  # of a request: quotation length x band of edits, summed over regions
# Verbs, nouns and adjectives that lists of English stop words hold.
_SAY_SOMETHING = frozenset({
    "say", "call", "go", "make", "give", "show", "move", "put", "keep", "take", "name", "serious",
    "side", "top", "bottom", "empty", "full", "amount", "front", "back", "nobody", "nothing",
    "everyone", "everybody", "nowhere", "alone", "together", "please", "done",
})  # fmt: skip
_LONGEST_WORD = 20  # characters of a function word, generously

Match = Literal["exact", "inflected", "fuzzy"]


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a quotation occurs in the text: `text == original[start:end]`.

    similarity: 1 - edit distance / longer length, [0, 1]; 1 for an exact match. An inflected one is
                one word of the text that differs by its ending only.
    """

    start: int
    end: int
    text: str
    quoted_as: str
    match: Match
    similarity: float


def is_trivial(quotation: Quotation, language: Language) -> bool:
    """Is it a function word alone? Quoting "the" points at nothing (section 3.2, "non-trivial")."""
    if len(quotation.text) > _LONGEST_WORD:
        return False
    found = [word for word in words(quotation.text, language) if word.is_word]
    return len(found) == 1 and found[0].is_stop and found[0].text.lower() not in _SAY_SOMETHING


@dataclass(frozen=True, slots=True)
class Located:
    """Every occurrence of the quotations, in order, and the quotations without one.

    unsearched: neither found exactly nor compared with near passages: the cells were spent.
    """

    quotes: tuple[Quote, ...]
    missing: tuple[Quotation, ...]
    unsearched: tuple[Quotation, ...]


def locate(text: str, quoted: Sequence[Quotation]) -> Located:
    """Every occurrence of each quotation in the text.

    Exact after folding and at word borders; else the nearest passage within 15 % edits.
    """
    search = QuoteSearch(Haystack(text))
    quotes: dict[Span, Quote] = {}
    missing: list[Quotation] = []
    unsearched: list[Quotation] = []
    known: dict[int, tuple[Quote, ...]] = {}
    for quotation in check_each(quoted):
        found = search.exact(quotation) or search.near(quotation)
        if found is None:
            unsearched.append(quotation)
        elif not found:
            missing.append(quotation)
        elif id(found) not in known:
            known[id(found)] = found  # kept, so that no other has its id
            for quote in found:
                quotes.setdefault((quote.start, quote.end), quote)
    ordered = tuple(quotes[span] for span in sorted(quotes))
    return Located(ordered, tuple(missing), tuple(unsearched))


class QuoteSearch:
    """The quotations of one request in its text: each different one is searched once.

    names: words in lower case that are never misspellings of each other.
    cells: what is left of the budget for near passages.
    misquoted: the passage of the text that a quotation changes so that it says something else.
    """

    def __init__(
        self, haystack: Haystack, names: Collection[str] = (), cells: int = MOST_CELLS
    ) -> None:
        self.haystack = haystack
        self.names = names
        self.cells = cells
        self.misquoted: dict[Quotation, str] = {}
        self._exact: dict[str, tuple[Quote, ...]] = {}
        self._near: dict[str, tuple[Quote, ...]] = {}
        self._needles: dict[str, str] = {}
        self._near_spans: dict[str, Span] = {}
        self._spellings = Spellings(haystack.text)

    def exact(self, quotation: Quotation) -> tuple[Quote, ...]:
        """The same object for the same words, as they were quoted first."""
        needle = self._folded(quotation.text)
        if needle not in self._exact:
            spans = exact_spans(self.haystack, needle)
            self._exact[needle] = tuple(self._quote(s, quotation, "exact", 1.0) for s in spans)
        return self._exact[needle]

    def inflected(self, quotation: Quotation) -> tuple[Quote, ...]:
        """Every word of the text that the quoted English word is an inflection of."""
        found = self.haystack.inflections(quotation.text)
        return tuple(self._quote_nearly(span, quotation, "inflected") for span in found)

    def respelled(self, quotation: Quotation) -> tuple[Quote, ...]:
        """Word for word but for an editor's brackets, or in another spelling."""
        for reading in without_brackets(quotation.text):
            spans = exact_spans(self.haystack, self._folded(reading))
            if spans:
                return tuple(self._quote_nearly(span, quotation) for span in spans)
        spans = self._spellings.find(quotation.text) or self._gapped(quotation)
        return tuple(self._quote_nearly(span, quotation) for span in spans)

    def _gapped(self, quotation: Quotation) -> list[Span]:
        """Where a placeholder of the quotation, "[slur]" or "***", stands for some words."""
        pieces = [piece.strip() for piece in _PLACEHOLDER.split(quotation.text)]
        kept = [self._folded(piece) for piece in pieces]
        if len(kept) < 2 or max(map(len, kept)) < PIECE:
            return []
        gap = r" ?(?:\S{1,40} ){0,2}\S{1,40} ?"
        pattern = re.compile(gap.join(map(re.escape, filter(None, kept))))
        folded = self.haystack.folded
        return [folded.span(*match.span()) for match in pattern.finditer(folded.text)][:HITS]

    def fragment(self, quotation: Quotation, *, begins: bool, ends: bool) -> tuple[Quote, ...]:
        """Where a quotation stands that an ellipsis cuts inside a word, with the whole word.

        begins, ends: whether it begins and ends with a whole word.
        """
        needle, folded = self._folded(quotation.text), self.haystack.folded
        place = folded.text.find(needle) if len(needle) >= PIECE else -1
        if place < 0:
            return ()
        last = place + len(needle)
        if begins and not _contains(self.haystack.begins, place):
            return ()
        if ends and not _contains(self.haystack.ends, last):
            return ()
        place = self.haystack.begins[bisect_right(self.haystack.begins, place) - 1]
        last = self.haystack.ends[bisect_left(self.haystack.ends, last)]
        return (self._quote_nearly(folded.span(place, last), quotation),)

    def nearest(self, quotation: Quotation) -> tuple[Quote, ...] | None:
        """As `near`, with or without what stands in brackets."""
        for text in (quotation.text, *without_brackets(quotation.text)):
            found = self.near(replace(quotation, text=text))
            if found is None:
                return None
            if not found:
                continue
            start, end = self._passage(text)
            if changes_meaning(self._folded(text), self.haystack.text[start:end], self.names):
                nearest = self.haystack.as_sent(start, end)
                self.misquoted[quotation] = self._one_word_apart(text) or nearest
                return ()
            return tuple(replace(quote, quoted_as=quotation.text) for quote in found)
        return None if self._spellings.is_spent else ()

    def changed_passage(self, quotation: Quotation) -> str | None:
        """Return the passage of the text that a quotation changes, or None."""
        return self.misquoted.get(quotation) or self._one_word_apart(quotation.text)

    def _one_word_apart(self, quoted: str) -> str | None:
        """Return the passage that has one word more, another word, or one word less."""
        needle = [word.strip(_POINTS) for word in self._folded(quoted).split(" ")]
        text, spans = self.haystack.words
        length = len(needle)
        cost = 3 * len(text)
        if length < 3 or cost > self.cells:
            return None
        self.cells -= cost
        for size, least in ((length + 1, length), (length, length - 1), (length - 1, length - 1)):
            for first in range(len(text) - size + 1):
                passage = text[first : first + size]
                head = _common(passage, needle)
                tail = min(_common(passage[::-1], needle[::-1]), length - head)
                same = [*needle[:head], *needle[length - tail :]]
                if len(same) >= least and max(map(len, same)) >= LONG_WORD:
                    span = spans[first][0], spans[first + size - 1][1]
                    return self.haystack.as_sent(*self.haystack.folded.span(*span))
        return None

    def _passage(self, quoted: str) -> Span:
        """The passage nearest to what is quoted, whole words, with a negation shortly before it
        where the quotation begins otherwise."""
        start, end = self._near_spans[self._folded(quoted)]
        text = self.haystack.text
        start = text.rfind(" ", 0, start) + 1
        if text[start : start + 1].casefold() != quoted[:1].casefold():
            lead = _SENTENCE_END.split(text[max(0, start - 60) : start])[-1]
            before = " ".join(lead.split()[-3:])
            if negates(before):
                return text.rfind(before, 0, start), end
        return start, end

    def near(self, quotation: Quotation) -> tuple[Quote, ...] | None:
        """The nearest passage; None where no cells were left to compare it with."""
        check()
        needle = self._folded(quotation.text)
        if needle not in self._near:
            regions = regions_of(self.haystack, needle) if self._is_affordable(needle) else None
            cost = comparison_cost(needle) * len(regions or ())
            if regions is None or cost > self.cells:
                return None
            self.cells -= cost
            found = nearest_span(self.haystack, needle, regions)
            if found:
                self._near_spans[needle] = found[0]
            quotes = (self._quote(found[0], quotation, "fuzzy", found[1]),) if found else ()
            self._near[needle] = quotes
        return self._near[needle]

    def _folded(self, text: str) -> str:
        if text not in self._needles:
            plain = text if self.haystack.marks else searchable(text).text
            self._needles[text] = fold(plain, self.haystack.marks).text
        return self._needles[text]

    def _is_affordable(self, needle: str) -> bool:
        return len(needle) < MIN_LENGTH or comparison_cost(needle) <= self.cells

    def _quote_nearly(self, span: Span, quotation: Quotation, match: Match = "fuzzy") -> Quote:
        there = self.haystack.text[slice(*span)].lower()
        similarity = Levenshtein.normalized_similarity(quotation.text.lower(), there)
        return self._quote(span, quotation, match, similarity)

    def _quote(self, span: Span, quotation: Quotation, match: Match, similarity: float) -> Quote:
        start, end = self.haystack.original(*span)
        text = self.haystack.source[start:end]
        return Quote(start, end, text, quotation.text, match, similarity)


_WITH_NOTHING = re.compile(r"\b(?:with|for|from) (?:no|nothing)\b", re.IGNORECASE)  # denies no verb


def _common(words: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of equal words at the beginning."""
    pairs = enumerate(zip(words, others, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(words), len(others)))


_POINTS = ".,;:!?\"'()"
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]{1,40}\]|(?<!\S)\*{3}(?!\S)")
_OMITTED = re.compile(
    r"[ ]?https?://\S+|(?P<user>(?<![\w.@])@\w{1,30})|(?P<dash>[ ]?(?:--+|\u2014)[ ]?)"
)
_SIMPLER = json.loads((Path(__file__).parent / "data" / "simplified.json").read_text("utf-8"))
_SIMPLIFIED = str.maketrans(_SIMPLER["traditional"], _SIMPLER["simplified"])


def searchable(text: str) -> NormalizedText:
    """The normalised text without addresses, with one form of names of users, and simplified."""
    found = replaced(
        normalize(text),
        _OMITTED,
        lambda match: "[USER]" if match["user"] else " - " if match["dash"] else "",
    )
    return replace(found, text=found.text.translate(_SIMPLIFIED))


def check_parts(
    text: str, parts: Sequence[Sequence[Quote]], *, omits_beginning: bool
) -> tuple[bool, Span]:
    """Return whether a quotation with ellipses keeps what the text says, and the passage.

    The parts stand in the order of the text, and what is left out holds no negation, nor the
    subject of the part behind it.
    """
    chain = [parts[0][0]]
    for part in parts[1:]:
        after = [quote for quote in part if quote.start >= chain[-1].end]
        if not after:
            every = [quote for quotes in parts for quote in quotes[:1]]
            return False, (min(q.start for q in every), max(q.end for q in every))
        chain.append(after[0])
    for place in range(len(chain) - 2, -1, -1):  # the nearest before the next part
        chain[place] = [q for q in parts[place] if q.end <= chain[place + 1].start][-1]
    span = chain[0].start, chain[-1].end
    for one, other in pairwise(chain):
        gap = text[one.end : other.start]
        *ended, last = _SENTENCE_END.split(gap)
        if negates(_WITH_NOTHING.sub("", gap)) or (ended and any(map(str.isalnum, last))):
            return False, span
    if omits_beginning and negated_before(text, span[0]):
        sentence = _SENTENCE_END.split(text[max(0, span[0] - 240) : span[0]])[-1].lstrip()
        return False, (span[0] - len(sentence), span[1])
    return True, span


def negated_before(text: str, start: int) -> bool:
    """Return True if a negation stands before `start` in its sentence."""
    return negates(_SENTENCE_END.split(text[max(0, start - 240) : start])[-1])


def comparison_cost(needle: str) -> int:
    """What one comparison of the needle costs: its length times the band of allowed edits."""
    return len(needle) * (2 * int(MAX_EDITS * len(needle)) + 1)


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
        if _contains(begins, position) and _contains(ends, end):
            spans.append(folded.span(position, end))
            after = end - 1
        following = bisect_right(begins, after)
        if following == len(begins):
            break
        position = folded.text.find(needle, begins[following])
    return spans


def _contains(ascending: Sequence[int], value: int) -> bool:
    place = bisect_left(ascending, value)
    return place < len(ascending) and ascending[place] == value


def nearest_span(
    haystack: Haystack, needle: str, regions: Sequence[int]
) -> tuple[Span, float] | None:
    """The passage that a misquotation means, and its similarity [0.85, 1), or None.

    At most 15 % of the characters edited, as in the released code. A needle with so few edits keeps
    some four characters in a row whole: they vote where to look, and only passages whose length and
    borders fit are compared. Begins and ends at word borders; on a tie the earliest, then the
    shortest passage.
    """
    spans = passages(haystack, needle, regions)
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


def passages(haystack: Haystack, needle: str, regions: Sequence[int]) -> list[Span]:
    """The passages that are compared with the needle, ascending: none is mostly blank."""
    text = haystack.folded.text
    found = {
        (start, end)
        for begin in check_each(regions)
        for start, end in _near(haystack, begin, len(needle))
        if text[start] != " " and text[end - 1] != " "
    }
    return sorted(found)


def regions_of(haystack: Haystack, needle: str) -> list[int]:
    """Positions where the needle may begin, those with the most pieces in place first."""
    if len(needle) < MIN_LENGTH:
        return []
    width = int(MAX_EDITS * len(needle)) + 1
    votes: Counter[int] = Counter()
    for offset in range(len(needle) - PIECE + 1):
        places = haystack.pieces.get(needle[offset : offset + PIECE], ())
        votes.update([place - offset for place in places])
    nearby: Counter[int] = Counter()  # edits shift later pieces: neighbours vote together
    for begin, count in votes.items():
        nearby[begin // width] += count
    ranked = nsmallest(REGIONS, nearby, key=lambda group: (-nearby[group], group))
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
    reach = 2 * (int(MAX_EDITS * length) + 1)
    longer = int(length * MAX_EDITS / (1 - MAX_EDITS)) + 1
    for start in nearest_borders(haystack.begins, begin, reach, most):
        for end in nearest_borders(haystack.ends, start + length, longer, most):
            if end > start:
                yield start, end


_SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
_DOUBLE_MARKS = frozenset('"\uff02\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f')
_SINGLE_MARKS = frozenset("'\u2018\u2019\u201b\u02bc\u0060\u00b4")
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


def fold(text: str, marks: bool = True) -> Folded:
    """What the text says, not how it is typed: NFKC, case folding, one space for any white space,
    straight quotation marks and hyphens, no invisible characters, no white space at the ends.

    marks: whether quotation marks stay; an apostrophe within a word always does.
    """
    characters: list[str] = []
    origin: list[Span] = []
    for cluster in _CLUSTER.finditer(text):
        if not marks and _is_mark(text, *cluster.span()):
            continue
        for character in _folded(cluster.group()):
            if character == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(character)
            origin.append(cluster.span())
    if characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return Folded("".join(characters), tuple(origin))


def _is_mark(text: str, start: int, end: int) -> bool:
    if text[start] in _DOUBLE_MARKS:
        return True
    within = text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()
    return text[start] in _SINGLE_MARKS and not within


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


_HAN = re.compile(f"[{HAN_CLASS}]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_APOSTROPHES = "'\u2019"


def word_spans(text: str, language: Language) -> list[Span]:
    """Units, but Chinese characters joined to words."""
    if language != "zh":
        return count_units(text)
    return [(word.start, word.end) for word in words(text, language) if word.is_word]


def may_begin(text: str, position: int) -> bool:
    """May a quoted span begin here? At a word's beginning, not at its "'s"; anywhere among Han."""
    if not _is_border(text, position):
        return False
    inner = position >= 2 and text[position - 1] in _APOSTROPHES and position < len(text)
    return not (inner and _uses_spaces(text[position - 2]) and _uses_spaces(text[position]))


def may_end(text: str, position: int) -> bool:
    """May it end here? At a word's end, before its "'s", before a Korean particle: 이민자|들은."""
    if _is_border(text, position):
        return True
    return bool(_HANGUL.match(text[position - 1]) and _HANGUL.match(text[position]))


def _is_border(text: str, position: int) -> bool:
    if position <= 0 or position >= len(text):
        return True
    return not (_uses_spaces(text[position - 1]) and _uses_spaces(text[position]))


def _uses_spaces(character: str) -> bool:
    """Is it part of a word in a script that writes spaces between words?"""
    if _HAN.match(character) or _KANA.match(character):
        return False
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


class Haystack:
    """A text made ready for many searches: each then costs its needle's length, not the text's.

    Indices are those of the folded text.
    """

    def __init__(
        self, text: str, marks: bool = True, source: str = "", origin: NormalizedText | None = None
    ) -> None:
        self.text = text
        self.marks = marks
        self.source = source or text
        self.original = origin.original if origin else lambda start, end: (start, end)
        self.folded = fold(text, marks)

    @classmethod
    def normalized(cls, text: str) -> Haystack:
        """Without quotation marks, and with spans of the text as sent."""
        found = searchable(text)
        return cls(found.text, False, text, found)

    def as_sent(self, start: int, end: int) -> str:
        return self.source[slice(*self.original(start, end))]

    @cached_property
    def words(self) -> tuple[list[str], list[Span]]:
        """The folded words between spaces, without punctuation at their ends, and their spans."""
        spans = []
        for word in re.finditer(r"\S+", self.folded.text):
            left = len(word.group()) - len(word.group().lstrip(_POINTS))
            right = len(word.group().rstrip(_POINTS))
            if left < right:
                spans.append((word.start() + left, word.start() + right))
        return [self.folded.text[slice(*span)] for span in spans], spans

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

    @cached_property
    def pieces(self) -> dict[str, list[int]]:
        """Every piece of four characters and the first places where it stands."""
        text = self.folded.text
        found: dict[str, list[int]] = {}
        for place in range(len(text) - PIECE + 1):
            places = found.setdefault(text[place : place + PIECE], [])
            if len(places) < HITS:
                places.append(place)
        return found

    def inflections(self, word: str) -> list[Span]:
        """Words of the text that differ from this English word by an inflection only."""
        if not ENGLISH_WORD.fullmatch(word):
            return []
        found = (span for form in base_forms(word) for span in self._forms.get(form, ()))
        return sorted(set(found))

    @cached_property
    def _forms(self) -> dict[str, list[Span]]:
        """Base form → the words of the text that have it, the first ones."""
        found: dict[str, list[Span]] = {}
        for start, end in count_units(self.text):
            word = self.text[start:end]
            if ENGLISH_WORD.fullmatch(word):
                span = (start, start + len(POSSESSIVE.sub("", word)))
                for form in base_forms(word):
                    spans = found.setdefault(form, [])
                    if len(spans) < HITS:
                        spans.append(span)
        return found


def nearest_borders(borders: Sequence[int], position: int, reach: int, most: int) -> list[int]:
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
