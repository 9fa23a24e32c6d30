"""Where quotation marks open and close; an apostrophe is none.

Straight marks are told by their neighbours: an opening mark follows no letter, a closing one
precedes none, and a straight single mark also hugs what it quotes. Marks of other kinds inside a
quotation belong to it, and no quotation runs over a blank line.
"""

from __future__ import annotations

import re

from services.hatexscore.languages import Span

_LETTER = r"A-Za-z0-9\u00c0-\u024f"  # Chinese and Korean letters may touch a mark
_BLANK_LINE = r"\n[^\S\n]*\n"

_OPENING = re.compile(
    rf"(?<![{_LETTER}])[\"\uff02]|[\u201c\u201e\u201f\u00ab\u300c\u300e\u300a]"
    r"|(?<!\w)[\u2018\u201b]|(?<![\w'])'(?=[^\s'])"
)
_CLOSING = {
    mark: re.compile(f"{closing}|{_BLANK_LINE}")
    for marks, closing in (
        ('"\uff02', rf"[\"\uff02](?![{_LETTER}])"),
        ("\u201c\u201e\u201f", "[\u201c\u201d]"),
        ("\u00ab", "\u00bb"),
        ("\u300c", "\u300d"),
        ("\u300e", "\u300f"),
        ("\u300a", "\u300b"),
        ("\u2018\u201b", rf"\u2019(?![{_LETTER}])"),
        ("'", rf"(?<=[^\s'])'(?![{_LETTER}'])"),
    )
    for mark in marks
}


def quoted_spans(text: str) -> list[Span]:
    """Spans of the quotations, marks included; marks around the whole text quote nothing."""
    spans = _spans(text)
    stripped = text.strip()
    lead = len(text) - len(text.lstrip())
    if spans != [(lead, lead + len(stripped))]:
        return spans
    return [(start + lead + 1, end + lead + 1) for start, end in _spans(stripped[1:-1])]


def _spans(text: str) -> list[Span]:
    """From left to right; an opening mark without its closing one opens nothing."""
    spans: list[Span] = []
    unclosed: set[str] = set()  # no closing mark is left in the text
    position = 0
    while opening := _OPENING.search(text, position):
        position = opening.end()
        mark = opening.group()
        closing = None if mark in unclosed else _CLOSING[mark].search(text, position)
        if closing is None:
            unclosed.add(mark)
        elif not closing.group().isspace():
            position = closing.end()
            spans.append((opening.start(), position))
    return spans
