"""The reasons of a response: numbered, bulleted, bold-headed, labelled, or in prose."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from services.haf.parsed import Span, Statement
from services.haf.sentences import statement

_MARKER = re.compile(
    r"^([ \t]*)(?:\*\*|__)?"
    r"(?:\(?\d{1,2}[.)]|[-*•–](?=[ \t])|reason\s+\d{1,2}\s*[:.)])"
    r"[ \t]*(?:\*\*(?=[ \t]))?[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_BOLD_HEAD = re.compile(r"^([ \t]*)(?=\*\*[^*\n]{2,80}\*\*)", re.MULTILINE)
_BLANK = re.compile(r"\r?\n[ \t]*(?:\r?\n|```)")  # a code fence ends a paragraph, too
_LABEL = re.compile(
    r"^[\W_]*(?:(?:the|my|specific|other|an?)\s+)?(?:additional\s+|further\s+)?"
    r"(?:reason(?:s|\(s\))?(?:ing)?|justifications?|explanations?)"
    # "for", and what for: at most 30 characters, or nothing but blanks
    r"(?:\s+for(?:\s++[\w ]{1,30}|(?=\s[^\S ]*+ )))?(?:\s+\d+)?\s*+(?:\*\*)?\s*+:[\s*_]*",
    re.IGNORECASE,
)
_DECISION = re.compile(r"^[\W_]*(?:my\s+)?(?:decision|conclusion|stance|answer)\b", re.IGNORECASE)
_NOTHING = re.compile(
    r"^[\W_]*(?:none|n/a|not applicable|no (?:additional|further|other|more))\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W_]")
_NAME = re.compile(r"[\w ]+")

FEWEST_WORDS = 3  # fewer are a heading
LONGEST_HEADING = 40  # characters


@dataclass(frozen=True, slots=True)
class Item:
    """A list item: where its line begins, its text's place, and how far it is indented."""

    begin: int
    text: Span
    indent: int


def items(response: str) -> list[Item]:
    """The list's items, each with the sub-items below it; bold headings where there are none."""
    found = _items(response, _MARKER)
    return found if found else _items(response, _BOLD_HEAD)


def reasons(response: str, found: list[Item]) -> list[Statement]:
    """What the items say: up to a blank line, labels and headings left away."""
    stated = [_stated(response, item) for item in found]
    return [each for each in stated if is_reason(each.text)]


def is_reason(text: str) -> bool:
    """Neither a heading, nor the decision, nor "None"."""
    if _DECISION.match(text) or _NOTHING.match(text):
        return False
    bare = _LABEL.sub("", text)
    return len(_WORD.findall(bare)) >= FEWEST_WORDS and not re.search(r":[\s*_]*$", bare)


def is_heading(text: str) -> bool:
    """A few words and a colon ("**Decision:**")."""
    letters = [found.start() for found in _LETTER.finditer(text)]
    if not letters or letters[-1] - letters[0] >= LONGEST_HEADING:
        return False
    core, rest = text[letters[0] : letters[-1] + 1], text[letters[-1] + 1 :]
    return ":" in rest and _NAME.fullmatch(core) is not None


def labelled(response: str, region: Span) -> Statement | None:
    """A single reason behind a label ("Reason: ..."), up to a blank line."""
    for line in re.finditer(r"[^\n]+", response[region[0] : region[1]]):
        label = _LABEL.match(line.group())
        if label:
            start = region[0] + line.start() + label.end()
            stated = statement(response, start, _paragraph_end(response, start, region[1]))
            return stated if is_reason(stated.text) else None
    return None


def _items(response: str, marker: re.Pattern[str]) -> list[Item]:
    marks = [m for m in marker.finditer(response) if not _DECISION.match(response, m.end())]
    blanks = [blank.start() for blank in _BLANK.finditer(response)]
    top: list[re.Match[str]] = []
    for mark in marks:
        indent = len(mark.group(1))
        if top and indent > len(top[-1].group(1)) and _same_paragraph(blanks, top[-1], mark):
            continue  # a sub-item belongs to the item above it
        top.append(mark)
    if not top:
        return []
    ends = [*(mark.start() for mark in top[1:]), len(response)]
    return [
        Item(mark.start(), (mark.end(), end), len(mark.group(1)))
        for mark, end in zip(top, ends, strict=True)
    ]


def _same_paragraph(blanks: list[int], above: re.Match[str], mark: re.Match[str]) -> bool:
    return bisect_left(blanks, above.end()) == bisect_left(blanks, mark.start())


def _stated(response: str, item: Item) -> Statement:
    start, limit = item.text
    end = _paragraph_end(response, start, limit)
    first = response[start:end]
    if re.search(r":[\s*_]*$", first.strip()) and end < limit:  # a heading: what follows is meant
        end = _paragraph_end(response, end + len(_BLANK.match(response, end).group()), limit)  # type: ignore[union-attr]
    label = _LABEL.match(response[start:end])
    return statement(response, start + (label.end() if label else 0), end)


def _paragraph_end(response: str, start: int, limit: int) -> int:
    blank = _BLANK.search(response, start, limit)
    return blank.start() if blank else limit
