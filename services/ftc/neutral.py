"""Counterfactuals of a neutral label: A holds, B stays open.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Proposition 3: x[A] states A without B, x[B]
states B alone.
"""

from __future__ import annotations

from services.ftc import rendering
from services.ftc.phrases import SUBJECTS, Phrase, Shape, covered, is_pronoun, phrase, stems
from services.ftc.slots import FOUND, PREDICATES, Slot, best_slot, own_slot
from services.ftc.transformation import Made, filled

SAME = 0.8  # share of what is said of the subject from which on B is the hypothesis itself


def both(shape: Shape, a: Phrase | None, b: Phrase) -> tuple[Made, Made] | str:
    """x[A] and x[B], or the reason why not."""
    claimed = _claim(b)
    if covered(claimed, stems(shape.words)) < FOUND:
        return "the hypothesis does not hold B"
    open_one = _stating_b(shape, a, b)
    stated = _stating_a(shape, a, b)
    if isinstance(stated, str):
        return f"A: {stated}"
    return stated, open_one


def _claim(b: Phrase) -> frozenset[str]:
    """What B says, without the subject that it says it of."""
    who = subject_of(b)
    rest = b.stems - who.stems if who else b.stems
    return rest or b.stems


def subject_of(clause: Phrase) -> Phrase | None:
    """The subject of a clause, where it is no pronoun."""
    if clause.type != "clause":
        return None
    for word in clause.words:
        if word.dep in SUBJECTS and word.head == clause.head:
            span = clause.words[word.left : word.right + 1]
            if is_pronoun(span) or span[0].start > clause.words[clause.head].start:
                return None
            return phrase(clause.text[span[0].start : span[-1].end])
    return None


def _stating_b(shape: Shape, a: Phrase | None, b: Phrase) -> Made:
    """B of the hypothesis' subject; the hypothesis itself, which holds B, where B covers what it
    says, or where that is no sentence."""
    first = shape.subject[1] if shape.subject else 0
    said = stems(shape.words[first:])
    whole = Made("b", shape.text, "whole", own_slot(shape, b), b)
    if covered(said, b.stems) >= SAME:
        return whole
    if b.type == "noun" or not _of_the_subject(shape, a, b):
        return whole
    made = filled("b", Slot(shape, "clause" if b.type == "clause" else "predicate"), b)
    return made if isinstance(made, Made) else whole


def _of_the_subject(shape: Shape, a: Phrase | None, b: Phrase) -> bool:
    """Whether B is said of what the hypothesis speaks of."""
    if b.type == "clause" or a is None or a.type != "noun" or is_pronoun(a.words):
        return True
    if shape.subject is None:
        return False
    return bool(a.stems & stems(shape.words[shape.subject[0] : shape.subject[1]]))


def _stating_a(shape: Shape, a: Phrase | None, b: Phrase) -> Made | str:
    if a is None or is_pronoun(a.words):
        return _existing(shape, b)
    if a.type == "clause":
        return filled("a", Slot(shape, "clause"), a)
    if a.type in PREDICATES:
        return filled("a", Slot(shape, "predicate"), a)
    slot = best_slot(shape, b, a) if b.type == "noun" else None
    made = filled("a", slot, a) if slot else "no window"
    return made if isinstance(made, Made) else filled("a", Slot(shape, "existence"), a)


def _existing(shape: Shape, b: Phrase) -> Made | str:
    """Where no A is named, it is that of which B is not known."""
    who = subject_of(b) or (phrase(shape.who) if shape.who else None)
    if who is None or rendering.existence(who) is None:
        return "nothing is said to hold"
    return filled("a", Slot(shape, "existence"), who)
