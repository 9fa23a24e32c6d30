"""Splits a text into words with exact offsets.

In scripts with spaces a word is a run of letters, digits and marks, with apostrophes and hyphens
inside. A run of one punctuation mark or symbol is also a word. Chinese is split by jieba and Korean
by kiwi; morphemes that share characters are one word. Japanese, Thai, Lao, Khmer and Burmese are
not split (`no-words`). Every character except white space is in exactly one word. This takes linear
time. For workers only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from shared.contracts.language_names import language_name
from shared.contracts.messages import LanguageFound
from shared.statistics.spans import Span, merged
from shared.text.analysers import chinese_tokens, korean_tokens
from shared.text.language import Obstacle, find_language

UNSEGMENTED = frozenset(("ja", "th", "lo", "km", "my"))
INSIDE = "'\u2019\u02bc-\u2010\u2011"  # parts of a word between two letters
_BLOCK = re.compile(r"\S+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_JOINER = "\u200d"  # joins two emoji to one
_SURROGATE = re.compile("[\ud800-\udfff]")


def words_obstacle(text: str, detected: LanguageFound) -> Obstacle | None:
    """Return why a text in this language or script cannot be split into words, or None."""
    code = next((c for c in (detected.code, find_language(text).code) if c in UNSEGMENTED), None)
    if code is None:
        return None
    detail = f"Touchstone cannot split {language_name(code)} into words"
    return Obstacle("no-words", f"{detail}; use rows of tokens and a local model")


def word_spans(text: str, language: str) -> list[Span]:
    """Return the spans of the words in order. `language` is a language code as returned by
    `find_language`."""
    if language == "ko":
        return sorted(_korean(text))
    spans: list[Span] = []
    for block in _BLOCK.finditer(text):
        at = block.start()
        for run in _HAN.finditer(text, *block.span()):
            spans += _split_characters(text, at, run.start())
            spans += [(run.start() + a, run.start() + b) for _, a, b in chinese_tokens(run[0])]
            at = run.end()
        spans += _split_characters(text, at, block.end())
    return spans


def _korean(text: str) -> Iterator[Span]:
    morphemes = merged(
        [
            (begin + int(token.start), begin + int(token.start) + int(token.len))
            for token, begin in korean_tokens(_SURROGATE.sub("\ufffd", text))
        ]
    )
    at = 0
    for start, end in [*morphemes, (len(text), len(text))]:
        for block in _BLOCK.finditer(text, at, start):
            yield from _split_characters(text, *block.span())
        at = end
        for block in _BLOCK.finditer(text, start, end):
            yield from (
                [block.span()]
                if _HANGUL.search(block[0])
                else _split_characters(text, *block.span())
            )


def _split_characters(text: str, start: int, end: int) -> Iterator[Span]:
    if start == end:
        return
    borders = [index for index in range(start + 1, end) if not _continues(text, index, end)]
    yield from pairwise([start, *borders, end])


def _continues(text: str, index: int, end: int) -> bool:
    """Return True if the character belongs to the same word as the character before it."""
    character, before = text[index], text[index - 1]
    attached = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
    attached |= "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
    if attached or before == _JOINER:
        return True
    if _is_letter(character):
        inner = before in INSIDE and index >= 2 and _is_letter(text[index - 2])
        return _is_letter(before) or inner
    if character in INSIDE and _is_letter(before):
        return index + 1 < end and _is_letter(text[index + 1])
    return character == before


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
