"""Pieces of a text to character offsets: the token that completes a character covers it.

A server spells its tokens in bytes, of which several may make one character; it may add special
tokens before and after the text, cut it at a stop string, or strip its spaces.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from itertools import accumulate

from shared.errors import ScoringError

CUT = "\ufffd"  # what bytes that make no character are decoded to

Span = tuple[int, int]  # characters of the text, end exclusive


def spans(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """For each piece its characters in `text`; None for a piece that lies before or after it.

    Ascending. A piece that holds a part of a character only is empty, its last one covers it.
    Raises ScoringError where the pieces do not spell the text.
    """
    decoded = _decoded(pieces)
    spelled = "".join(decoded)
    starts = [0, *accumulate(map(len, decoded))][: len(decoded)]
    for wanted in dict.fromkeys((text, text.rstrip(CUT))):
        begins = (at for at in starts if spelled.startswith(wanted, at))
        shift, end = next(begins, spelled.find(wanted)), len(wanted)
        if shift >= 0:
            return [
                _within(start - shift, start - shift + len(part), end)
                for start, part in zip(starts, decoded, strict=True)
            ]
    return _in_order(pieces, text)


def _decoded(pieces: Sequence[bytes]) -> list[str]:
    """What each piece adds to the text; incomplete bytes are written at the very end only."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    last = len(pieces) - 1
    return [decoder.decode(piece, final=place == last) for place, piece in enumerate(pieces)]


def _within(start: int, end: int, length: int) -> Span | None:
    if start >= length or (start < 0 and end <= 0):
        return None
    return max(0, start), min(end, length)


def _in_order(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """Where parts of characters came as U+FFFD: they fill the gaps between whole pieces."""
    found: list[Span | None] = [None] * len(pieces)
    cursor, parts = 0, list[int]()
    for place, spelled in enumerate(pieces):
        try:
            piece = spelled.decode("utf-8")
        except UnicodeDecodeError as error:  # it spells bytes, so that others must be missing
            raise ScoringError("the server's tokens do not spell its text") from error
        if not piece or CUT in piece:
            parts.append(place)
            continue
        at = text.find(piece, cursor)
        if at < 0:
            continue
        _fill(found, parts, (cursor, at))
        found[place], cursor, parts = (at, at + len(piece)), at + len(piece), []
    if cursor < len(text):
        _fill(found, parts, (cursor, len(text)))
    return found


def _fill(found: list[Span | None], parts: Sequence[int], gap: Span) -> None:
    start, end = gap
    if end > start and not parts:
        raise ScoringError("the server's tokens do not spell its text")
    for place in parts:
        found[place] = (start, start)
    if parts:
        found[parts[-1]] = gap
