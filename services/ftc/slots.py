"""Places in a hypothesis that a phrase can fill: the explanation's, or a random one.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2.4: the syntax of the hypothesis should
stay, only what A and B mean should change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.ftc import rendering
from services.ftc.finishing import finished
from services.ftc.phrases import Phrase, Shape, covered, stems
from services.ftc.report import PhraseType

FOUND = 0.5  # share of a span's stems that the hypothesis must hold
ALIKE = 0.4  # Jaccard index of the span's stems and those of the words that give way

Move = Literal["swap", "predicate", "clause", "existence"]
PREDICATES: frozenset[PhraseType] = frozenset({"verb", "preposition", "adjective"})


@dataclass(frozen=True, slots=True)
class Window:
    """Words of the hypothesis that may give way: [first, end), their head and type."""

    first: int
    end: int
    head: int
    type: PhraseType


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a hypothesis that phrases can fill: the explanation's, or a random one."""

    shape: Shape
    move: Move
    window: Window | None = None

    @property
    def takes(self) -> PhraseType:
        """What a random phrase must be to stand here."""
        if self.move == "existence":
            return "noun"
        return self.window.type if self.move == "swap" and self.window else "verb"

    @property
    def replaced(self) -> tuple[int, int] | None:
        """Offsets of what gives way, where it is a part of the hypothesis."""
        words = self.shape.words
        if self.window is not None:
            return words[self.window.first].start, words[self.window.end - 1].end
        return None

    def fill(self, phrase: Phrase) -> str | None:
        """The hypothesis with this phrase; None where it cannot stand here."""
        match self.move:
            case "existence":
                made = rendering.existence(phrase)
            case "swap":
                made = self._swapped(phrase)
            case _:
                made = (
                    rendering.clause_sentence(self.shape, phrase)
                    if phrase.type == "clause"
                    else rendering.statement(self.shape, phrase)
                )
        return finished(made, self.shape.text) if made else None

    def _swapped(self, phrase: Phrase) -> str | None:
        window, words = self.window, self.shape.words
        if window is None:
            return None
        new = _form(self.shape, window, phrase)
        if new is None:
            return None
        before = self.shape.text[: words[window.first].start]
        return before + new + self.shape.text[words[window.end - 1].end :]


def _form(shape: Shape, window: Window, phrase: Phrase) -> str | None:
    """The phrase in the form that the window asks for."""
    if window.type == "noun" and phrase.type == "noun":
        return rendering.noun_into(shape, (window.first, window.end, window.head), phrase)
    head = shape.words[window.head]
    if window.type not in PREDICATES or phrase.type not in PREDICATES:
        return None
    if window.type == "verb" and phrase.type == "verb":
        if any(w.dep == "dobj" and w.head == window.head for w in shape.words[window.end :]):
            return None  # an object would lose its verb
        return rendering.verb_phrase(phrase, head.tag)
    said = rendering.complement(phrase)
    if said is None:
        return None
    if window.type == "verb" and head.tag in {"VBZ", "VBP", "VBD"}:
        return f"{rendering.be(shape.plural)} {said}"
    if window.type == "verb" and head.tag == "VB":
        return f"be {said}"
    governor = shape.words[head.head]
    after_be = governor.lemma == "be" or window.type == "verb"
    loose = head.head == shape.head and head.dep != "amod" and governor.pos in {"NOUN", "PROPN"}
    return said if after_be or loose or window.type == phrase.type else None


def windows(shape: Shape) -> Iterator[Window]:
    """Every phrase of the hypothesis, from short to long at each head."""
    words = shape.words
    for i, word in enumerate(words):
        ends = sorted({i, *(w.right for w in words[i + 1 :] if w.head == i and w.pos != "PUNCT")})
        if (word.pos in {"NOUN", "PROPN"} or word.tag == "NN") and word.dep != "compound":
            for first in range(word.left, i + 1):
                yield from (Window(first, end + 1, i, "noun") for end in ends)
        elif word.pos == "VERB":
            yield from (Window(i, end + 1, i, "verb") for end in ends)
        elif word.pos == "ADP" and word.dep in {"prep", "agent"}:
            yield Window(i, word.right + 1, i, "preposition")
        elif word.pos in {"ADJ", "ADV"}:
            yield Window(word.left, i + 1, i, "adjective")


def best_slot(shape: Shape, given: Phrase, other: Phrase) -> Slot | None:
    """Where `given` stands in the hypothesis and `other` could: the closest match, then the
    shortest window."""
    if (given.type == "noun") != (other.type == "noun"):
        return None
    wanted = given.stems
    found: tuple[float, int, Slot] | None = None
    for window in windows(shape):
        held = stems(shape.words[window.first : window.end])
        alike = len(wanted & held) / len(wanted | held)
        if alike < ALIKE or covered(wanted, held) < FOUND:
            continue
        if found is not None and (alike, window.first - window.end) <= found[:2]:
            continue
        slot = Slot(shape, "swap", window)
        if _form(shape, window, other) is not None:
            found = (alike, window.first - window.end, slot)
    return found[2] if found else None


def own_slot(shape: Shape, held: Phrase) -> Slot | None:
    """Where a span that the hypothesis holds stands in it."""
    found = best_slot(shape, held, held)
    if found is None and held.type in PREDICATES | {"clause"} and shape.who:
        return Slot(shape, "predicate")
    return found


def predicate_slot(shape: Shape, given: Phrase, other: Phrase) -> Slot | None:
    """Where one predicate gives way to another, the whole predicate may."""
    if given.type in PREDICATES | {"clause"} and other.type in PREDICATES and shape.who:
        return Slot(shape, "predicate")
    return None
