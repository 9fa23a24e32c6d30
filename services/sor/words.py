"""Words, stems and quotations of a statement of reasons, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.sor.lexicon import FUNCTION_WORDS, GENERIC, GERMAN_NO_CONTENT, MONTHS
from shared.text.sentences import Span

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
LONGEST_QUOTATION = 2_000  # characters


@dataclass(frozen=True, slots=True)
class StatementWord:
    """A word as written. `folded` is the word in lower case and without a possessive ending."""

    start: int
    end: int
    text: str
    folded: str

    @property
    def stem(self) -> str:
        return stem(self.folded)

    @property
    def is_content(self) -> bool:
        """True if the word has content: it is neither a function word nor a generic word."""
        if self.folded in FUNCTION_WORDS or self.folded in MONTHS or len(self.folded) < 2:
            return False
        return self.stem not in GENERIC_STEMS


def quotations(text: str) -> list[Span]:
    """Return the spans inside quotation marks in order, each of at most 2,000 characters."""
    spans: list[Span] = []
    closing: dict[str, list[int]] = {}
    last = 0
    for opening in _OPENING.finditer(text):
        mark, start = opening.group(), opening.end()
        if opening.start() < last:
            continue
        if mark not in closing:
            closing[mark] = [match.start() for match in _CLOSING[mark].finditer(text)]
        ends = closing[mark]
        index = bisect_left(ends, start)
        if index == len(ends) or ends[index] - start > LONGEST_QUOTATION:
            continue
        last = ends[index] + 1
        if text[start : ends[index]].strip():
            spans.append((start, ends[index]))
    return spans


def mask_spans(text: str, spans: Sequence[Span]) -> str:
    """Replace the characters of the spans with spaces. All offsets stay the same."""
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last:start], " " * (end - start)]
        last = end
    return "".join([*parts, text[last:]])


def words(text: str) -> list[StatementWord]:
    """Return every word, number and section sign, in order."""
    result = []
    for match in _WORD.finditer(text):
        word = match.group()
        folded = word.casefold().replace("\u2019", "'")
        folded = folded.removesuffix("'s") or folded
        result.append(StatementWord(match.start(), match.end(), word, folded))
    return result


def stem(word: str) -> str:
    """Return a rough stem: the part that the inflections of an English word share."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, replacement, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            if replacement:
                return word + replacement
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeious":
                return word[:-1]
            break
    return word.removesuffix("e") if len(word) > 4 else word


_ENDINGS = (
    ("iness", "y", 3), ("ies", "y", 2), ("ied", "y", 2), ("sses", "ss", 2), ("ches", "ch", 2),
    ("shes", "sh", 2), ("xes", "x", 2), ("ically", "ic", 3), ("ingly", "", 3), ("edly", "", 3),
    ("ings", "", 3), ("ing", "", 3), ("ers", "", 4), ("ed", "", 3), ("er", "", 4), ("ly", "", 4),
    ("ss", "ss", 1), ("us", "us", 1), ("s", "", 3),
)  # fmt: skip
GENERIC_STEMS = frozenset(map(stem, GENERIC))
StemOf = Callable[[StatementWord], str | None]  # None for words that say nothing about a post


def english_stem(word: StatementWord) -> str | None:
    return word.stem if word.is_content else None


def german_stem(word: StatementWord) -> str | None:
    """Return a rough stem: the part that the inflections of a German word share."""
    folded = word.folded
    if len(folded) < 4 or not folded.isalpha() or folded in GERMAN_NO_CONTENT:
        return None
    for ending in _GERMAN_ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= SHORTEST_GERMAN_STEM:
            return folded.removesuffix(ending)
    return folded


_GERMAN_ENDINGS = ("ungen", "ung", "ern", "en", "em", "er", "es", "st", "te", "e", "n", "s", "t")
SHORTEST_GERMAN_STEM = 4
