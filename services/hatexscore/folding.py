"""Compare texts by what they say, not how they are typed, and find the way back to the original.

NFKC, case folding, one space for any white space, straight quotation marks and hyphens, and no
invisible characters; every folded character remembers the span that it came from.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from services.hatexscore.languages import Span

_SAME = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u0060\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)
# A base character with what composes onto it: combining marks, Hangul vowels and finals.
_CLUSTER = re.compile("(?s).[\u0300-\u036f\u1160-\u11ff\u3099\u309a\ufe00-\ufe0f]*")


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text: character i came from `origin[i]` of the text as sent."""

    text: str
    origin: tuple[Span, ...]

    def span(self, start: int, end: int) -> Span:
        """The span of the text as sent that folds to characters start..end (start < end)."""
        return self.origin[start][0], self.origin[end - 1][1]


def fold(text: str) -> Folded:
    """Fold a text, cluster by cluster; leading and trailing white space is dropped."""
    characters: list[str] = []
    origin: list[Span] = []
    for cluster in _CLUSTER.finditer(text):
        for character in _folded(cluster.group()):
            if character == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(character)
            origin.append(cluster.span())
    if characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return Folded("".join(characters), tuple(origin))


def _folded(cluster: str) -> str:
    if cluster.isascii():
        return " " if cluster.isspace() else cluster.lower().translate(_SAME)
    composed = unicodedata.normalize("NFKC", cluster).translate(_SAME).casefold()
    return "".join(" " if c.isspace() else c for c in composed if not _invisible(c))


def _invisible(character: str) -> bool:
    """Zero-width and control characters, variation selectors."""
    if character.isspace():
        return False
    return unicodedata.category(character) in ("Cf", "Cc") or "\ufe00" <= character <= "\ufe0f"
