"""Words, stems and sentences of a statement of reasons, in one pass over its characters.

Rules of our own, and no model: what a statement discloses must not depend on a package that a
machine has. Time is linear in the length.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from services.sor.lexicon import ABBREVIATIONS, FUNCTION_WORDS, GENERIC, GERMAN_MONTHS, MONTHS

Span = tuple[int, int]  # half-open character offsets
SHORT = 8  # words of a line that is a label and its value

_WORD = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:['\u2019&][^\W_]+)*|\u00a7+")
_OPENING = re.compile("[\"\uff02\u201c\u201e\u00ab]|(?<!\\w)['\u2018]")
_CLOSING = {
    '"': re.compile('"'),
    "\uff02": re.compile("\uff02"),
    "\u201c": re.compile("[\u201c\u201d]"),
    "\u201e": re.compile("[\u201c\u201d]"),
    "\u00ab": re.compile("\u00bb"),
    "'": re.compile("['\u2019](?!\\w)"),
    "\u2018": re.compile("['\u2019](?!\\w)"),
}
_ENDS: Final = ".!?;\n\u2022\u2026"
LONGEST_QUOTATION = 2_000  # characters
_VOWELS = frozenset("aeiouyäöüáéíóúàèø")
_UNITS = frozenset(("kg", "cm", "mm", "km", "ml", "hrs", "mg", "pm"))


@dataclass(frozen=True, slots=True)
class StatementWord:
    """A word as written; `folded`: in lower case, without a possessive ending."""

    start: int
    end: int
    text: str
    folded: str

    @property
    def stem(self) -> str:
        return stem(self.folded)

    @property
    def is_content(self) -> bool:
        """Whether it says something of a post: no function word, no word of every statement."""
        if self.folded in FUNCTION_WORDS or self.folded in MONTHS or len(self.folded) < 2:
            return False
        return self.stem not in GENERIC_STEMS


@dataclass(frozen=True)
class StatementSentence:
    """Words between two borders. quoted: it holds a quotation that stands in the post."""

    words: Sequence[StatementWord]
    quoted: bool = False

    @property
    def span(self) -> Span:
        return self.words[0].start, self.words[-1].end

    @cached_property
    def content(self) -> int:
        """Different content words; a quotation of the post counts as three."""
        found = {word.stem for word in self.words if word.is_content}
        return len(found) + (3 if self.quoted else 0)


def quotations(text: str) -> list[Span]:
    """Insides of quotation marks, in order; none runs over 2,000 characters."""
    found: list[Span] = []
    closing: dict[str, list[int]] = {}
    last = 0
    for opening in _OPENING.finditer(text):
        mark, start = opening.group(), opening.end()
        if opening.start() < last:
            continue
        if mark not in closing:
            closing[mark] = [one.start() for one in _CLOSING[mark].finditer(text)]
        ends = closing[mark]
        place = bisect_left(ends, start)
        if place == len(ends) or ends[place] - start > LONGEST_QUOTATION:
            continue
        last = ends[place] + 1
        if text[start : ends[place]].strip():
            found.append((start, ends[place]))
    return found


def mask_spans(text: str, spans: Sequence[Span]) -> str:
    """The text with spaces in place of these characters: all offsets stay."""
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*parts, text[last:]])


def words(text: str) -> list[StatementWord]:
    """Every word, number and section sign, in order."""
    return [
        StatementWord(match.start(), match.end(), match.group(), _normalize_word(match.group()))
        for match in _WORD.finditer(text)
    ]


def _normalize_word(word: str) -> str:
    folded = word.casefold().replace("\u2019", "'")
    return folded.removesuffix("'s") or folded


def sentences(text: str, quoted: Sequence[Span] = ()) -> list[StatementSentence]:
    """Of a text whose quotations of the post (`quoted`, in order) are left out of the words.

    Items of lists, lines and what stands between semicolons are sentences of their own.
    """
    return list(_sentences(mask_spans(text, quoted), quoted))


def _sentences(text: str, quoted: Sequence[Span]) -> Iterator[StatementSentence]:
    found: list[StatementWord] = []
    left = list(quoted)[::-1]
    for word in words(text):
        if found and _is_border(text, found[-1], word):
            yield StatementSentence(found, _pop_before(left, found[-1].end, word.start, text))
            found = []
        found.append(word)
    if found:
        yield StatementSentence(found, bool(left))


def _pop_before(left: list[Span], end: int, upcoming: int, text: str) -> bool:
    """Whether a quotation stands before the border; those that do are taken off the stack."""
    border = next((i for i in range(end, upcoming) if text[i] in _ENDS), upcoming)
    taken = False
    while left and left[-1][0] <= max(end, border):
        left.pop()
        taken = True
    return taken


def _is_border(text: str, word: StatementWord, after: StatementWord) -> bool:
    gap = text[word.end : after.start]
    if not any(mark in gap for mark in _ENDS):
        return False
    if gap.rstrip(" \t") == "." and (_is_abbreviation(word) or _is_ordinal(word, after)):
        return False
    return gap != "."  # "example.org", "v1.b"


def _is_abbreviation(word: StatementWord) -> bool:
    """A known one, a letter, or what nobody could say as a word: "Ltd.", "bzw."."""
    if word.folded in ABBREVIATIONS or len(word.folded) == 1:
        return True
    spoken = not _VOWELS.isdisjoint(word.folded) or not word.folded.isalpha()
    return not spoken and word.text[1:].islower() and word.folded not in _UNITS


def _is_ordinal(word: StatementWord, after: StatementWord) -> bool:
    """The day of a date in German: "12. Juni"; a list has its numbers before capitals."""
    day = word.folded.isdigit() and len(word.folded) == 2
    return day and (after.folded in GERMAN_MONTHS or after.text[0].islower())


def stem(word: str) -> str:
    """What the inflections of an English word have in common; crude, and the same for both
    sides of a comparison."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, put, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return _undoubled(word[: -len(ending)] + put) if not put else word[: -len(ending)] + put
    return word.removesuffix("e") if len(word) > 4 else word


def _undoubled(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeious":
        return word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


_ENDINGS = (
    ("iness", "y", 3), ("ies", "y", 2), ("ied", "y", 2), ("sses", "ss", 2), ("ches", "ch", 2),
    ("shes", "sh", 2), ("xes", "x", 2), ("ically", "ic", 3), ("ingly", "", 3), ("edly", "", 3),
    ("ings", "", 3), ("ing", "", 3), ("ers", "", 4), ("ed", "", 3), ("er", "", 4), ("ly", "", 4),
    ("ss", "ss", 1), ("us", "us", 1), ("s", "", 3),
)  # fmt: skip
GENERIC_STEMS = frozenset(map(stem, GENERIC))
