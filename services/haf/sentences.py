"""Sentences and clauses of a response, with their places in it."""

from __future__ import annotations

import re

from services.haf.parsed import Span, Statement

_BORDER = re.compile(r"(?<=[.!?])[\"'”’)*_]*\s+|\n+")
_CLAUSE = re.compile(
    r"[,;:–—]|\s-\s|\b(?:but|however|although|though|yet|because|since|whereas)\b", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")


def statement(text: str, start: int, end: int) -> Statement:
    """This stretch of the text without blanks around it."""
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    stripped = inner.strip()
    return Statement(stripped, (start, start + len(stripped)))


def sentences(text: str, region: Span) -> list[Statement]:
    """The sentences of a region that hold a letter, in order."""
    begin, end = region
    cuts = [begin]
    for border in _BORDER.finditer(text, begin, end):
        closing = len(border.group()) - len(border.group().lstrip("\"'”’)*_"))
        cuts += [border.start() + closing, border.end()]
    cuts.append(end)
    found = [statement(text, *pair) for pair in zip(cuts[::2], cuts[1::2], strict=True)]
    return [each for each in found if _LETTER.search(each.text)]


def clauses(sentence: str) -> list[str]:
    """The sentence cut where its thought turns, lower case, curly apostrophes made straight."""
    return [part.strip() for part in _CLAUSE.split(sentence.lower().replace("’", "'"))]
