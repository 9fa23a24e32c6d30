"""Rationales that quote: strings of the text become spans of it, before anything is validated.

A quotation is found as it stands; else word for word, whatever its case, its blanks and its
punctuation; else so in the normalised text, without HTML and wrapped lines. Of one that occurs
several times each mention stands for the next occurrence. Linear in text and quotations; pydantic
only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, count, islice
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, ValidationInfo

from services.ice.report import TEXTS, IceSpan, Of
from shared.contracts.messages import MAX_TEXT
from shared.process.cached import cached_property
from shared.text.normalized import NormalizedText, normalize

Quotation = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Place = tuple[int, int]  # half-open character offsets
MOST_QUOTATIONS = 200
WANTED = (
    "give spans, {start, end} in characters of the text, or quotations of it as strings; places of "
    "tokens are not known before a model reads it"
)
_WORD = re.compile(
    r"""[^\s!-/:-@\[-`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u203a\u3001-\u3011\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"""
)


class _TextSearch:
    """A text in which quotations are looked for, each no further than it is wanted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, tuple[list[Place], Iterator[Place]]] = {}

    def find(self, quotation: str, occurrence: int) -> Place | None:
        """Its n-th occurrence, n from 0."""
        if quotation not in self._found:
            self._found[quotation] = ([], self._occurrences(quotation))
        known, more = self._found[quotation]
        known.extend(islice(more, max(0, occurrence + 1 - len(known))))
        return known[occurrence] if occurrence < len(known) else None

    def _occurrences(self, quotation: str) -> Iterator[Place]:
        """As whole words as written, else word for word, else anywhere (scripts without blanks).

        Else in the normalised text: "don't" of a text that has "don&#39;t".
        """
        for way in (self._as_words, self._word_for_word, self._find_exact):
            place = None
            for place in way(quotation):
                yield place
            if place is not None:
                return
        plain, wanted = self._plain, normalize(quotation).text
        if (plain.text, wanted) != (self._text, quotation):
            search = _TextSearch(plain.text)
            for number in count():
                if (place := search.find(wanted, number)) is None:
                    return
                yield plain.original(*place)

    def _as_words(self, quotation: str) -> Iterator[Place]:
        """Looked for only where it would cut no word at its begin."""
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
        wanted = [word.casefold() for word in _WORD.findall(quotation)]
        if not wanted:
            return
        for at in _find_all(self._normalized_text, _join_lines(wanted), 1):
            first = bisect_right(self._start_positions, at) - 1
            yield self._words[first].start(), self._words[first + len(wanted) - 1].end()

    @cached_property
    def _plain(self) -> NormalizedText:
        return normalize(self._text)

    @cached_property
    def _inside(self) -> bytes:
        """Of each border between characters, both ends among them, whether it cuts a word."""
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
        """Offsets of the words in the folded text, with the line break before each."""
        lengths = [1 + len(word[0].casefold()) for word in self._words]
        return list(accumulate(lengths, initial=0))


def _join_lines(words: Sequence[str]) -> str:
    return "".join(f"\n{word}" for word in words) + "\n"


def _find_all(text: str, wanted: str, shared: int = 0) -> Iterator[int]:
    """Offsets from left to right; two matches may share so many characters at their border."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + max(1, len(wanted) - shared))


def _resolve_spans(value: Any, info: ValidationInfo) -> Any:
    """Spans of what is quoted; what is no quotation stays as it is. Raises ValueError."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        raise ValueError(WANTED)
    if any(not isinstance(one, str | dict | IceSpan) for one in given):
        raise ValueError(WANTED)
    if not any(isinstance(one, str) for one in given) or "text" not in info.data:
        return tuple(given)  # strict validation takes no list for one any more
    return tuple(_spans(given, {of: info.data.get(of) or "" for of in TEXTS}))


def _spans(given: Sequence[Any], texts: dict[Of, str]) -> list[Any]:
    if sum(isinstance(one, str) for one in given) > MOST_QUOTATIONS:
        raise ValueError(f"at most {MOST_QUOTATIONS:,} quotations")
    searched = {of: _TextSearch(text) for of, text in texts.items()}
    before: Counter[str] = Counter()
    found = []
    for number, one in enumerate(given, 1):
        if not isinstance(one, str):
            found.append(one)
            continue
        found.append(_span(one, before[one], searched, f"quotation {number} of {len(given)}"))
        before[one] += 1
    return found


def _span(quotation: str, occurrence: int, searched: dict[Of, _TextSearch], name: str) -> IceSpan:
    if not quotation.strip():
        raise ValueError(f"{name} is empty")
    for of, text in searched.items():
        place = text.find(quotation, occurrence)
        if place is not None:
            return IceSpan(start=place[0], end=place[1], of=of)
    often = "" if occurrence == 0 else f" {occurrence + 1} times"
    raise ValueError(f"quote-not-found: {name} does not stand in the text{often}, word for word")


def _resolve_nested(value: Any, info: ValidationInfo) -> Any:
    """The same in named explanations, which do not know the text themselves."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(_of_explanation(number, one, info) for number, one in enumerate(value, 1))


def _of_explanation(number: int, given: Any, info: ValidationInfo) -> Any:
    if not isinstance(given, dict):
        return given
    found = {name: tuple(own) if isinstance(own, list) else own for name, own in given.items()}
    if given.get("rationale") is not None:
        try:
            found["rationale"] = _resolve_spans(given["rationale"], info)
        except ValueError as error:
            raise ValueError(f"explanation {number}: {error}") from None
    return found


Spans = Annotated[
    tuple[IceSpan, ...],
    Field(min_length=1, max_length=MAX_TEXT),
    BeforeValidator(
        _resolve_spans,
        json_schema_input_type=Annotated[
            tuple[IceSpan | Quotation, ...], Field(min_length=1, max_length=MAX_TEXT)
        ]
        | Quotation,
    ),
]
Located = BeforeValidator(_resolve_nested)
