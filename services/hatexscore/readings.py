"""What a reader of one language finds about one label word: label, mood and form of its clause.

Source: our own rules for real explanations; only an asserted clause about this text is a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from services.hatexscore.report import Form, Label
from services.hatexscore.vocabulary import WordInText, other_side

_BLANKS = re.compile(r"\s+")

Mood = Literal[
    "asserted",
    "asked",
    "instruction",
    "earlier",
    "hedged",
    "hypothetical",
    "appeal",
    "general",
    "reported",
    "partial",
]


@dataclass(frozen=True, slots=True)
class Clause:
    """How a label word is used.

    denials:  negations whose scope holds the word, its own prefix left out.
    rejected: the clause rejects a label, so that the other one is only inferred.
    conceded: it stands in a concession, whose main clause has the last word.
    """

    form: Form
    mood: Mood = "asserted"
    denials: int = 0
    rejected: bool = False
    conceded: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One label word of an explanation as read. `label` is None where the word, denied, is mute."""

    start: int
    end: int
    word: WordInText
    clause: Clause
    label: Label | None

    @property
    def inferred(self) -> bool:
        return self.clause.rejected or not self.word.word.decides


def one_line(window: str) -> str:
    """A blank for each run of white space, so that patterns have no long runs to try."""
    return _BLANKS.sub(" ", window)


def read_label(word: WordInText, denials: int) -> Label | None:
    """The side of the word, turned by every denial; a one-way word says nothing where denied."""
    denied = (denials + word.denied) % 2 == 1
    if not denied:
        return word.word.side
    return None if word.word.kind == "one_way" else other_side(word.word.side)


def opposed(words: Iterable[WordInText]) -> bool:
    """Do the words name both sides?"""
    return len({read_label(word, 0) for word in words}) > 1
