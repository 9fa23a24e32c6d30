"""Builds counterfactual hypotheses from a hypothesis and two spans A and B of the explanation, or
gives a reason to abstain.

One span is replaced with the other in the hypothesis, if a phrase of its type fits there. For a
neutral label, x[A] states A without B, and x[B] states only B. Source: Sia et al., AAAI 2023,
arXiv:2205.12469, section 2.4, Table 3 and Proposition 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.ftc import grammar
from services.ftc.grammar import finish, is_sentence, repeats
from services.ftc.phrases import SUBJECTS, Phrase, Shape, coverage, is_pronoun, phrase, stems
from services.ftc.report import Kind, PhraseType

FOUND = 0.5  # share of a span's stems that the hypothesis must hold
LEAST_OVERLAP = 0.4  # Jaccard index of the span's stems and those of the words that give way
SAME = 0.8  # share of what is said of the subject from which on B is the hypothesis itself
MOST_GROWTH, GRACE = 1.5, 3  # words of the replacement: at most so many per word, and these

Move = Literal["swap", "predicate", "clause", "existence"]
PREDICATES: frozenset[PhraseType] = frozenset({"verb", "preposition", "adjective"})


@dataclass(frozen=True, slots=True)
class Window:
    """Words of the hypothesis that may be replaced: positions `first` to `end` (exclusive), with
    their head and phrase type."""

    first: int
    end: int
    head: int
    type: PhraseType


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a hypothesis that a phrase can fill. The phrase comes from the explanation or is
    random."""

    shape: Shape
    move: Move
    window: Window | None = None

    @property
    def required_type(self) -> PhraseType:
        """Return the type that a random phrase must have to fill this slot."""
        if self.move == "existence":
            return "noun"
        return self.window.type if self.move == "swap" and self.window else "verb"

    @property
    def target_span(self) -> tuple[int, int] | None:
        """Return the character offsets of the replaced words, or None if these are unknown."""
        words = self.shape.words
        if self.window is not None:
            return words[self.window.first].start, words[self.window.end - 1].end
        return None

    def fill(self, phrase: Phrase) -> str | None:
        """Return the hypothesis with this phrase, or None if the phrase does not fit."""
        match self.move:
            case "existence":
                sentence = grammar.existence(phrase)
            case "swap":
                sentence = self._swap(phrase)
            case _:
                sentence = (
                    grammar.clause_sentence(self.shape, phrase)
                    if phrase.type == "clause"
                    else grammar.statement(self.shape, phrase)
                )
        return finish(sentence, self.shape.text) if sentence else None

    def _swap(self, phrase: Phrase) -> str | None:
        window, words = self.window, self.shape.words
        if window is None:
            return None
        new = _form(self.shape, window, phrase)
        if new is None:
            return None
        before = self.shape.text[: words[window.first].start]
        return before + new + self.shape.text[words[window.end - 1].end :]


def _form(shape: Shape, window: Window, phrase: Phrase) -> str | None:
    """Return the phrase inflected to replace the words in `window`, or None if it does not fit."""
    if window.type == "noun" and phrase.type == "noun":
        return grammar.noun_into(shape, (window.first, window.end, window.head), phrase)
    head = shape.words[window.head]
    if window.type not in PREDICATES or phrase.type not in PREDICATES:
        return None
    if window.type == "verb" and phrase.type == "verb":
        if any(w.dep == "dobj" and w.head == window.head for w in shape.words[window.end :]):
            return None  # an object would lose its verb
        return grammar.verb_phrase(phrase, head.tag)
    predicate = grammar.complement(phrase)
    if predicate is None:
        return None
    if window.type == "verb" and head.tag in {"VBZ", "VBP", "VBD"}:
        return f"{grammar.be(shape.plural)} {predicate}"
    if window.type == "verb" and head.tag == "VB":
        return f"be {predicate}"
    governor = shape.words[head.head]
    after_be = governor.lemma == "be" or window.type == "verb"
    loose = head.head == shape.head and head.dep != "amod" and governor.pos in {"NOUN", "PROPN"}
    return predicate if after_be or loose or window.type == phrase.type else None


def windows(shape: Shape) -> Iterator[Window]:
    """Yield every phrase of the hypothesis. For each head word, shorter phrases come first."""
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


def best_slot(shape: Shape, replaced: Phrase, other: Phrase) -> Slot | None:
    """Return the place in the hypothesis where `other` can replace the words that best match
    `replaced`, or None. On a tie the shortest words win."""
    if (replaced.type == "noun") != (other.type == "noun"):
        return None
    claimed = replaced.stems
    best: tuple[float, int, Slot] | None = None
    for window in windows(shape):
        inside = stems(shape.words[window.first : window.end])
        overlap = len(claimed & inside) / len(claimed | inside)
        if overlap < LEAST_OVERLAP or coverage(claimed, inside) < FOUND:
            continue
        if best is not None and (overlap, window.first - window.end) <= best[:2]:
            continue
        slot = Slot(shape, "swap", window)
        if _form(shape, window, other) is not None:
            best = (overlap, window.first - window.end, slot)
    return best[2] if best else None


def find_slot(shape: Shape, held: Phrase) -> Slot | None:
    """Return the slot (replaceable part) of the hypothesis that matches a phrase, or None."""
    slot = best_slot(shape, held, held)
    if slot is None and held.type in PREDICATES | {"clause"} and shape.who:
        return Slot(shape, "predicate")
    return slot


def predicate_slot(shape: Shape, replaced: Phrase, other: Phrase) -> Slot | None:
    """Return the whole predicate as the place to fill, or None unless both phrases can be
    predicates."""
    if replaced.type in PREDICATES | {"clause"} and other.type in PREDICATES and shape.who:
        return Slot(shape, "predicate")
    return None


@dataclass(frozen=True, slots=True)
class EditedHypothesis:
    """A counterfactual hypothesis, with the place that was changed and the new phrase."""

    kind: Kind
    text: str
    how: str
    slot: Slot | None  # None: no place for a random phrase is known
    phrase: Phrase | None


def fill_slot(kind: Kind, slot: Slot, phrase: Phrase) -> EditedHypothesis | str:
    """Return the counterfactual if it passes all checks, else the reason why not."""
    like = slot.shape
    if len(phrase.words) > MOST_GROWTH * len(like.words) + GRACE:
        return "the replacement is too long for the hypothesis"
    text = slot.fill(phrase)
    if text is None:
        return f"a phrase of type {phrase.type} does not fit there"
    if same_words(text, like.text):
        return "the new hypothesis is the same as the original"
    if slot.move in {"swap", "predicate"} and repeats(text, like.text):
        return "the new hypothesis repeats a phrase"
    if not is_sentence(text):
        return "the new hypothesis does not parse as a sentence"
    return EditedHypothesis(kind, text, slot.move, slot, phrase)


def same_words(first: str, other: str) -> bool:
    """Return True if two sentences have the same words in the same order. Case and punctuation are
    ignored."""
    bare = ["".join(c if c.isalnum() else " " for c in text.lower()) for text in (first, other)]
    return bare[0].split() == bare[1].split()


def substitute(shape: Shape, a: Phrase, b: Phrase) -> EditedHypothesis | str:
    """Replace one of the spans A and B with the other span. The replaced span is the one that the
    hypothesis contains to the larger share, on a tie A. Return the reason if this is impossible."""
    whole = stems(shape.words)
    shares = [(coverage(a.stems, whole), a, b), (coverage(b.stems, whole), b, a)]
    shares.sort(key=lambda row: -row[0])
    reason = "the hypothesis contains neither of the explanation's two spans"
    for share, replaced, other in shares:
        if share < FOUND:
            break
        if other.stems <= replaced.stems:
            reason = "the explanation's two spans say the same"
            continue
        if other.type == "clause":
            edit = fill_slot("substituted", Slot(shape, "clause"), other)
        else:
            slot = best_slot(shape, replaced, other) or predicate_slot(shape, replaced, other)
            edit = (
                fill_slot("substituted", slot, other)
                if slot
                else "no part of the hypothesis has the type of the other span"
            )
        if isinstance(edit, EditedHypothesis):
            return edit
        reason = edit
    return reason


def restate(shape: Shape, who: Phrase | None, predicate: Phrase) -> EditedHypothesis | str:
    """Return the hypothesis with its own subject and the explanation's B as predicate, or the
    reason why this is impossible. This applies to explanations of the form "A is B"."""
    if shape.subject is None:
        return "the hypothesis has no subject"
    subject = stems(shape.words[shape.subject[0] : shape.subject[1]])
    if who is not None and who.words[0].pos != "PRON" and not who.stems & subject:
        return "the explanation's subject is not that of the hypothesis"
    return fill_slot("substituted", Slot(shape, "predicate"), predicate)


def neutral_pair(
    shape: Shape, a: Phrase | None, b: Phrase
) -> tuple[EditedHypothesis, EditedHypothesis] | str:
    """Return the two counterfactuals of a neutral label, or the reason why they cannot be built.
    x[A] states A without B, and x[B] states only B."""
    who = subject_of(b)  # B does not claim the subject that it is said of
    claimed = (b.stems - who.stems if who else b.stems) or b.stems
    if coverage(claimed, stems(shape.words)) < FOUND:
        return "the hypothesis does not contain span B of the explanation"
    open_one = _build_b(shape, a, b)
    stated = _build_a(shape, a, b)
    if isinstance(stated, str):
        return f"A: {stated}"
    return stated, open_one


def subject_of(clause: Phrase) -> Phrase | None:
    """Return the subject of a clause, unless it is a pronoun."""
    if clause.type != "clause":
        return None
    for word in clause.words:
        if word.dep in SUBJECTS and word.head == clause.head:
            span = clause.words[word.left : word.right + 1]
            if is_pronoun(span) or span[0].start > clause.words[clause.head].start:
                return None
            return phrase(clause.text[span[0].start : span[-1].end])
    return None


def _build_b(shape: Shape, a: Phrase | None, b: Phrase) -> EditedHypothesis:
    """Return the hypothesis with the explanation's phrase B as the new predicate. Return the
    original hypothesis if B already covers the predicate's content, or if the new text is not a
    sentence."""
    first = shape.subject[1] if shape.subject else 0
    claims = stems(shape.words[first:])
    whole = EditedHypothesis("b", shape.text, "whole", find_slot(shape, b), b)
    if coverage(claims, b.stems) >= SAME:
        return whole
    if b.type == "noun" or not _has_same_subject(shape, a, b):
        return whole
    edit = fill_slot("b", Slot(shape, "clause" if b.type == "clause" else "predicate"), b)
    return edit if isinstance(edit, EditedHypothesis) else whole


def _has_same_subject(shape: Shape, a: Phrase | None, b: Phrase) -> bool:
    if b.type == "clause" or a is None or a.type != "noun" or is_pronoun(a.words):
        return True
    if shape.subject is None:
        return False
    return bool(a.stems & stems(shape.words[shape.subject[0] : shape.subject[1]]))


def _build_a(shape: Shape, a: Phrase | None, b: Phrase) -> EditedHypothesis | str:
    if a is None or is_pronoun(a.words):
        who = subject_of(b) or (phrase(shape.who) if shape.who else None)
        if who is None or grammar.existence(who) is None:
            return "the explanation names no thing for a sentence such as “There is …”"
        return fill_slot("a", Slot(shape, "existence"), who)
    if a.type == "clause":
        return fill_slot("a", Slot(shape, "clause"), a)
    if a.type in PREDICATES:
        return fill_slot("a", Slot(shape, "predicate"), a)
    slot = best_slot(shape, b, a) if b.type == "noun" else None
    edit = fill_slot("a", slot, a) if slot else "no window"
    return (
        edit if isinstance(edit, EditedHypothesis) else fill_slot("a", Slot(shape, "existence"), a)
    )
