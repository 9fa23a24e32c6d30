"""The words of a text with exact offsets, for what is done to whole words of it.

Spaced scripts: runs of letters, digits and marks, with apostrophes and hyphens inside; a run of one
punctuation mark or symbol is a word by itself. Runs of Han characters are cut by jieba; Korean by
kiwi, morphemes that share characters as one. Japanese, Thai, Lao, Khmer and Burmese have no words
here (`no-words`). Every character that is no blank lies in exactly one word. Linear in the text.
Workers only. Source: specs "models" §4.2, §6.2.
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
INSIDE = "'\u2019\u02bc-\u2010\u2011"  # between two letters they belong to their word
_BLOCK = re.compile(r"\S+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_JOINER = "\u200d"  # between two emoji: one picture
_SURROGATE = re.compile("[\ud800-\udfff]")


def words_obstacle(text: str, found: LanguageFound) -> Obstacle | None:
    """Why a text has no words, by its language or by its script; None where it has."""
    own = next((c for c in (found.code, find_language(text).code) if c in UNSEGMENTED), None)
    if own is None:
        return None
    said = f"the text's language is {language_name(own)}, whose words are not told apart"
    return Obstacle("no-words", f"{said}: ask for rows of tokens, which models of ours have")


def word_spans(text: str, language: str) -> list[Span]:
    """(W,) words in order. language: the code that `find_language` tells."""
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
    """Hangul by kiwi, all else by its signs."""
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
    """The words of a block without a blank, by what its characters are."""
    if start == end:
        return
    borders = [place for place in range(start + 1, end) if not _continues(text, place, end)]
    yield from pairwise([start, *borders, end])


def _continues(text: str, place: int, end: int) -> bool:
    """Whether the character belongs to the word of the one before it."""
    sign, before = text[place], text[place - 1]
    attached = unicodedata.category(sign) in ("Mn", "Mc", "Me", "Cf")
    if attached or "\U0001f3fb" <= sign <= "\U0001f3ff" or before == _JOINER:  # skin tones, too
        return True
    if _is_letter(sign):
        inner = before in INSIDE and place >= 2 and _is_letter(text[place - 2])
        return _is_letter(before) or inner
    if sign in INSIDE and _is_letter(before):
        return place + 1 < end and _is_letter(text[place + 1])
    return sign == before


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_" or unicodedata.category(sign)[0] == "M"
