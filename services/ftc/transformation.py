"""From a hypothesis and two spans to the counterfactual hypotheses, or a reason to abstain.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2.4 and Table 3. The span that the
hypothesis holds gives way to the other one, where a phrase of that type can stand.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.ftc.finishing import repeats, sound
from services.ftc.phrases import Phrase, Shape, covered, stems
from services.ftc.report import Kind
from services.ftc.slots import FOUND, Slot, best_slot, predicate_slot

MOST_GROWTH, GRACE = 1.5, 3  # words of the replacement: at most so many per word, and these


@dataclass(frozen=True, slots=True)
class Made:
    """A counterfactual hypothesis, the slot it was made in and the phrase that fills it."""

    kind: Kind
    text: str
    how: str
    slot: Slot | None  # None: no place for a random phrase is known
    phrase: Phrase | None


def filled(kind: Kind, slot: Slot, phrase: Phrase) -> Made | str:
    """The counterfactual, past the gates; else the reason why there is none."""
    like = slot.shape
    if len(phrase.words) > MOST_GROWTH * len(like.words) + GRACE:
        return "the replacement is too long for the hypothesis"
    text = slot.fill(phrase)
    if text is None:
        return f"a {phrase.type} phrase cannot stand there"
    if same(text, like.text):
        return "the hypothesis stays the same"
    if slot.move in {"swap", "predicate"} and repeats(text, like.text):
        return "the new hypothesis repeats itself"
    if not sound(text):
        return "the new hypothesis does not parse as a sentence"
    return Made(kind, text, slot.move, slot, phrase)


def same(one: str, other: str) -> bool:
    """Whether two sentences have the same words."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def substituted(shape: Shape, a: Phrase, b: Phrase) -> Made | str:
    """x[other \\ matched]: of A and B the one that the hypothesis holds gives way (tie: A)."""
    whole = stems(shape.words)
    shares = [(covered(a.stems, whole), a, b), (covered(b.stems, whole), b, a)]
    shares.sort(key=lambda row: -row[0])
    reason = "the hypothesis holds neither span"
    for share, given, other in shares:
        if share < FOUND:
            break
        if other.stems <= given.stems:
            reason = "the two spans say the same"
            continue
        if other.type == "clause":
            made = filled("substituted", Slot(shape, "clause"), other)
        else:
            slot = best_slot(shape, given, other) or predicate_slot(shape, given, other)
            made = filled("substituted", slot, other) if slot else "no window of the other's type"
        if isinstance(made, Made):
            return made
        reason = made
    return reason


def restated(shape: Shape, who: Phrase | None, said: Phrase) -> Made | str:
    """For "A is B" where B is a predicate: the hypothesis' subject with B for its predicate."""
    if shape.subject is None:
        return "the hypothesis has no subject"
    subject = stems(shape.words[shape.subject[0] : shape.subject[1]])
    if who is not None and who.words[0].pos != "PRON" and not who.stems & subject:
        return "the explanation speaks of something else"
    return filled("substituted", Slot(shape, "predicate"), said)
