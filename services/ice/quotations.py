"""Finds the spans of quotations in a text.

A quotation matches exactly if possible. Otherwise it matches word for word, ignoring case, white
space and punctuation, first in the text and then without HTML and line breaks. A repeated quotation
matches the next occurrence. Runs in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, count, islice

from services.ice.contract import IceRequest, Spans
from services.ice.report import TEXTS, IceSpan
from shared.process.cached import cached_property
from shared.text.normalized import NormalizedText, normalize

Place = tuple[int, int]  # half-open character offsets
_WORD = re.compile(
    r"""[^\s!-/:-@\[-`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u203a\u3001-\u3011\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"""
)


class _TextSearch:
    """A text in which quotations are searched. A search stops at the requested occurrence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, tuple[list[Place], Iterator[Place]]] = {}

    def find(self, quotation: str, occurrence: int) -> Place | None:
        """Return occurrence number `occurrence` of the quotation, counted from 0."""
        if quotation not in self._found:
            self._found[quotation] = ([], self._occurrences(quotation))
        spans, more = self._found[quotation]
        spans.extend(islice(more, max(0, occurrence + 1 - len(spans))))
        return spans[occurrence] if occurrence < len(spans) else None

    def _occurrences(self, quotation: str) -> Iterator[Place]:
        """Yield the spans of the first of three kinds of match that occurs. These are exact matches
        that split no word, word-for-word matches, and any exact matches (for scripts without
        spaces). If nothing matches, search the normalised text."""
        for way in (self._as_words, self._word_for_word, self._find_exact):
            span = None
            for span in way(quotation):
                yield span
            if span is not None:
                return
        plain, normalized = self._plain, normalize(quotation).text
        if (plain.text, normalized) != (self._text, quotation):
            search = _TextSearch(plain.text)
            for number in count():
                if (span := search.find(normalized, number)) is None:
                    return
                yield plain.original(*span)

    def _as_words(self, quotation: str) -> Iterator[Place]:
        """Yield exact matches that do not split a word."""
        at = self._text.find(quotation)
        while at >= 0:
            end = at + len(quotation)
            if not self._inside[at]:
                if not self._inside[end]:
                    yield at, end
                at = end
            at = self._text.find(quotation, self._inside.find(0, at))

    def _find_exact(self, quotation: str) -> Iterator[Place]:
        return ((at, at + len(quotation)) for at in _find_all(self._text, quotation))

    def _word_for_word(self, quotation: str) -> Iterator[Place]:
        words = [word.casefold() for word in _WORD.findall(quotation)]
        if not words:
            return
        for at in _find_all(self._normalized_text, _join_lines(words), 1):
            first = bisect_right(self._start_positions, at) - 1
            yield self._words[first].start(), self._words[first + len(words) - 1].end()

    @cached_property
    def _plain(self) -> NormalizedText:
        return normalize(self._text)

    @cached_property
    def _inside(self) -> bytes:
        """Return one byte per position in the text: 1 if a cut at this position would split a word,
        else 0."""
        cuts = bytearray(len(self._text) + 1)
        for word in self._words:
            cuts[word.start() + 1 : word.end()] = b"\1" * (word.end() - word.start() - 1)
        return bytes(cuts)

    @cached_property
    def _words(self) -> list[re.Match[str]]:
        return list(_WORD.finditer(self._text))

    @cached_property
    def _normalized_text(self) -> str:
        return _join_lines([word[0].casefold() for word in self._words])

    @cached_property
    def _start_positions(self) -> list[int]:
        """Return the offset of the line break before each word of the folded text. The last offset
        is that after all words."""
        lengths = [1 + len(word[0].casefold()) for word in self._words]
        return list(accumulate(lengths, initial=0))


def _join_lines(words: Sequence[str]) -> str:
    return "".join(f"\n{word}" for word in words) + "\n"


def _find_all(text: str, pattern: str, shared: int = 0) -> Iterator[int]:
    """Yield offsets from left to right. Consecutive matches may share `shared` characters."""
    at = text.find(pattern)
    while at >= 0:
        yield at
        at = text.find(pattern, at + max(1, len(pattern) - shared))


class QuotationMissing(ValueError):
    """A quotation is not in the text. The message has its position, not its words."""


def has_word(spans: Sequence[IceSpan], request: IceRequest) -> bool:
    """Return True if one of the spans contains more than punctuation and white space."""
    return any(
        _WORD.search(getattr(request, span.of) or "", span.start, span.end) for span in spans
    )


def locate(mixed: Spans, request: IceRequest) -> list[IceSpan]:
    """Return the marked spans. Each quotation becomes the span of its occurrence in a text: the
    first mention its first occurrence, and so on. Raises QuotationMissing."""
    items = (mixed,) if isinstance(mixed, str) else mixed
    texts = {of: getattr(request, of) or "" for of in TEXTS}
    searches = {of: _TextSearch(text) for of, text in texts.items()}
    mentions: Counter[str] = Counter()
    spans = []
    for number, item in enumerate(items, 1):
        if isinstance(item, IceSpan):
            spans.append(item)
            continue
        places = ((of, search.find(item, mentions[item])) for of, search in searches.items())
        of, span = next((match for match in places if match[1]), ("text", None))
        if span is None or not texts[of][slice(*span)].strip():
            times = f" {mentions[item] + 1} times" if mentions[item] else ""
            raise QuotationMissing(f"quotation {number} of {len(items)} is not in the text{times}")
        spans.append(IceSpan(start=span[0], end=span[1], of=of))
        mentions[item] += 1
    return spans
