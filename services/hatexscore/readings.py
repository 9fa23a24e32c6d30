"""What a reader of one language finds about one label word: label, mood and form of its clause.

Source: our own rules for real explanations; only an asserted clause about this text is a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.hatexscore.report import Form, Label
from services.hatexscore.vocabulary import WordInText

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
