"""Sentences by rules, in any language that ends them with a mark or a new line.

A new line ends a sentence; so does . ! ? … with closing marks behind it and white space, where
what follows does not go on in lower case; and so do 。！？ at once. A full stop after an
abbreviation, an initial or the number of a list item ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.cot2el.segmentation.spans import Span, pieces, settled, trimmed

CLOSING = "\"'”’»)\\]}*_`"
END = re.compile(
    rf"(?<![.!?…])[.!?…]++[{CLOSING}]*+(?=\s)"
    r"|[。！？｡]+[”’」』）〉》\"')]*"
    r"|[\n\r\v\f\x85\u2028\u2029]+"
)
WORD_BEFORE = re.compile(r"(?<![^\s(\[\"'“‘])([^\s(\[\"'“‘]++)$")
ABBREVIATIONS = frozenset(
    [
        "e.g",
        "i.e",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "vs",
        "cf",
        "al",
        "approx",
        "ca",
        "inc",
        "ltd",
        "jr",
        "sr",
        "dept",
    ]
)
# abbreviations before a number only
NUMBERED = frozenset(["no", "fig", "eq", "sec", "vol", "ch"])
NOT_BLANK = re.compile(r"\S")
LIST_NUMBER = re.compile(r"(?:^|\n)[\s*#>-]*(?:\(?\d{1,3}|[A-Za-z])$")
# "the answer is B. The rest ...": a letter that stands for an option, and no initial
BEFORE_A_LETTER = frozenset(
    [
        "is",
        "option",
        "options",
        "answer",
        "label",
        "choose",
        "be",
        "not",
        "and",
        "or",
        "to",
        "choice",
    ]
)


def sentences(text: str) -> list[Span]:
    """In document order; together they hold every character that is not white space.

    A sentence that is cut out and read by itself is one sentence.
    """
    return settled(text, trimmed(text, 0, len(text)), _pieces)


def _pieces(text: str) -> list[Span]:
    return pieces(text, (0, len(text)), _ends(text))


def _ends(text: str) -> Iterator[int]:
    for found in END.finditer(text):
        if found[0][0] not in ".!?…" or _is_end(text, found):
            yield found.end()


def _is_end(text: str, found: re.Match[str]) -> bool:
    behind = NOT_BLANK.search(text, found.end())
    following = behind[0] if behind else ""
    if not following or following.islower():
        return not following
    return found[0][0] != "." or not _abbreviates(text, found.start(), following)


def _abbreviates(text: str, stop: int, following: str) -> bool:
    """Whether the full stop here belongs to the word before it; `following`: a character."""
    line = text[max(0, stop - 80) : stop]
    if LIST_NUMBER.search(line if stop <= 80 else "x" + line):
        return True
    found = WORD_BEFORE.search(line)
    if found is None:
        return False
    word = found[1].casefold()
    if len(word) == 1 and word.isalpha() and word.isascii():
        before = line[: found.start()].split()
        return not (before and before[-1].casefold() in BEFORE_A_LETTER)
    return word in ABBREVIATIONS or (word in NUMBERED and following.isdigit())
