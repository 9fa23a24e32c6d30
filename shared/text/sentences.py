"""Sentences of a normalised text, by marks and line breaks, for any language with such marks.

No model decides: a border must not depend on which packages a machine has.
"""

from __future__ import annotations

import re

Span = tuple[int, int]  # half-open character offsets

_BORDER = re.compile(  # a run of marks is looked at once, from its beginning: linear time
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？]+[”’」』）]*|\n+"
)
_LIST_MARK = re.compile(r"(?:^|\s)\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})\.$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|vs|cf|no|nr|art|sec|mr|mrs|ms|dr|prof|st|approx|z\.\s?B|d\.\s?h"
    r"|u\.\s?a|bzw|vgl|ca|abs|abschn|lit|ziff|ltd|p\.\s?ej|p\.\s?ex|ej|ex|núm|sig|sr|sra)\.$",
    re.IGNORECASE,
)
_TAIL = 12  # characters before a full stop that say whether it ends a sentence


def sentences(text: str) -> list[Span]:
    """Spans in order, without white space at their ends; every other character lies in one."""
    found: list[Span] = []
    start = 0
    for border in _BORDER.finditer(text):
        if _is_end(text, border):
            found.append((start, border.end()))
            start = border.end()
    found.append((start, len(text)))
    return [span for span in (_trimmed(text, *one) for one in found) if span[0] < span[1]]


def _is_end(text: str, border: re.Match[str]) -> bool:
    if border.group() == ".":
        tail = text[max(0, border.end() - _TAIL) : border.end()]
        if _LIST_MARK.search(tail) or _ABBREVIATION.search(tail):
            return False
    if border.group()[0] in "\n。！？":
        return True
    return not text[border.end() : border.end() + _TAIL].lstrip()[:1].islower()


def _trimmed(text: str, start: int, end: int) -> Span:
    cut = text[start:end]
    lead = len(cut) - len(cut.lstrip())
    return start + lead, start + max(lead, len(cut.rstrip()))
