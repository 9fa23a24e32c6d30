"""Splits a normalised text into sentences by punctuation marks and line breaks, in any language
that uses these. No model is used, because results must not depend on the packages of a machine."""

from __future__ import annotations

import re

Span = tuple[int, int]  # half-open character offsets

_BORDER = re.compile(  # a run of marks is tried only from its start, for linear time
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？]+[”’」』）]*|\n+"
)
_LIST_MARK = re.compile(r"(?:^|\s)\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4})\.$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|etc|vs|cf|no|nr|art|sec|mr|mrs|ms|dr|prof|st|approx|z\.\s?B|d\.\s?h"
    r"|u\.\s?a|bzw|vgl|ca|abs|abschn|lit|ziff|ltd|p\.\s?ej|p\.\s?ex|ej|ex|núm|sig|sr|sra)\.$",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\b(?i:is|be|not|and|or|to|options?|answer|label|choose|choice)\s[A-H]\.$")
_TAIL = 12  # characters before a full stop that decide whether it ends a sentence


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences in order, without surrounding white space."""
    spans: list[Span] = []
    start = 0
    for border in _BORDER.finditer(text):
        if _is_end(text, border):
            spans.append((start, border.end()))
            start = border.end()
    spans.append((start, len(text)))
    return [span for span in (_trimmed(text, *span) for span in spans) if span[0] < span[1]]


def _is_end(text: str, border: re.Match[str]) -> bool:
    if border.group() == ".":
        tail = text[max(0, border.end() - _TAIL) : border.end()]
        is_short = _LIST_MARK.search(tail) or _ABBREVIATION.search(tail)
        if is_short and not _OPTION.search(tail):  # "The answer is B." ends here
            return False
    if border.group()[0] in "\n。！？":
        return True
    return not text[border.end() : border.end() + _TAIL].lstrip()[:1].islower()


def _trimmed(text: str, start: int, end: int) -> Span:
    sentence = text[start:end]
    lead = len(sentence) - len(sentence.lstrip())
    return start + lead, start + max(lead, len(sentence.rstrip()))
