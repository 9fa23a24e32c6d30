"""By rules: sentence by sentence, pattern by pattern, until a counterfactual passes the gates.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, section 2.4, "Extract and Transform with Regex".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.ftc import neutral, transformation
from services.ftc.parsing import APOSTROPHES, MOST_CHARACTERS
from services.ftc.patterns import PATTERNS, Pattern
from services.ftc.phrases import Phrase, Shape, covered, negated, phrase, shape, stems
from services.ftc.report import NliLabel
from services.ftc.slots import PREDICATES, Slot
from services.ftc.transformation import Made

MOST_SENTENCES = 10
RESTATED = 0.6  # share of stems that a sentence and the hypothesis must have in common
LENGTHS = 8.0  # the longer span has at most so many times the words of the shorter
_SENTENCE = re.compile(r"(?:[^.!?;\n]|[.](?=\S))+")
_PART = re.compile(r"[^,]+")
_LEAD = re.compile(
    r"\s*(?:(?:so|and|but|also|then|because|since|therefore|thus|as)\s+(?!long))?", re.I
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The spans (offsets into the explanation), the rule that found them, and what was made."""

    rule: str | None
    a: Phrase | None
    b: Phrase | None
    made: tuple[Made, ...]
    reason: str | None  # why nothing was made


def extract(label: NliLabel, hypothesis: str, explanation: str, *, printed: bool) -> Extracted:
    """What the explanation's logic makes of the hypothesis. printed: the paper's patterns only."""
    built = shape(hypothesis) if len(hypothesis) <= MOST_CHARACTERS else None
    if built is None:
        return Extracted(None, None, None, (), "the hypothesis is too long, or empty")
    reason = "no pattern of the label matches the explanation"
    for rule, a, b in _candidates(label, explanation, printed=printed):
        made = _transformed(label, built, a, b)
        if isinstance(made, tuple):
            return Extracted(f"{label} {rule}", a, b, made, None)
        reason = f"{label} {rule}: {made}"
    return Extracted(None, None, None, (), reason)


def _candidates(
    label: NliLabel, explanation: str, *, printed: bool
) -> Iterator[tuple[str, Phrase | None, Phrase]]:
    """(rule, A, B) of every pattern that matches a sentence, in order."""
    text, places = _single_blanks(explanation.translate(APOSTROPHES))
    for start, end in _sentences(text, parts=not printed):
        if start == end or places[end - 1] - places[start] >= MOST_CHARACTERS:
            continue
        for pattern in PATTERNS[label]:
            if printed and not pattern.printed:
                continue
            found = pattern.expression.match(text, start, end)
            if found is not None:
                yield from _spans(pattern, found, (explanation, places))


def _single_blanks(text: str) -> tuple[str, list[int]]:
    """The text with one blank for several, and where each character stood: the patterns try every
    way to divide blanks."""
    blank = [character.isspace() and character != "\n" for character in text]
    places = [i for i in range(len(text)) if not (i and blank[i] and blank[i - 1])]
    return "".join(text[i] for i in places), places


def _sentences(text: str, *, parts: bool) -> Iterator[tuple[int, int]]:
    """Where sentences are, each followed by its parts between commas, the first words that join it
    to what went before left out."""
    for sentence in list(_SENTENCE.finditer(text))[:MOST_SENTENCES]:
        spans = [sentence.span()]
        if parts and "," in sentence.group():
            spans += [part.span() for part in _PART.finditer(text, *sentence.span())]
        for start, end in spans:
            if end - start <= MOST_CHARACTERS:
                found = _LEAD.match(text, start, end)
                yield (found.end() if found else start), end


def _spans(
    pattern: Pattern, found: re.Match[str], whole: tuple[str, list[int]]
) -> Iterator[tuple[str, Phrase | None, Phrase]]:
    """whole: the explanation, and where the characters that were matched stand in it."""
    explanation, places = whole
    b = phrase(explanation, *_there(found.span("b"), places))
    named = "a" in pattern.expression.groupindex and found.group("a") is not None
    a = phrase(explanation, *_there(found.span("a"), places)) if named else None
    if b is None or (named and a is None):
        return
    if a is not None and not 1 / LENGTHS <= len(a.words) / len(b.words) <= LENGTHS:
        return
    yield pattern.name, a, b


def _there(span: tuple[int, int], places: list[int]) -> tuple[int, int]:
    """Groups of the patterns are never empty."""
    return places[span[0]], places[span[1] - 1] + 1


def _transformed(
    label: NliLabel, built: Shape, a: Phrase | None, b: Phrase
) -> tuple[Made, ...] | str:
    if label == "neutral":
        return neutral.both(built, a, b)
    if any(negated(side.words) for side in (a, b) if side is not None):
        return "a span is negated"
    made = _one(label, built, a, b)
    return (made,) if isinstance(made, Made) else made


def _one(label: NliLabel, built: Shape, a: Phrase | None, b: Phrase) -> Made | str:
    if a is None:  # a whole sentence: it must speak of the same as the hypothesis
        held = stems(built.words)
        if b.type != "clause" or max(covered(held, b.stems), covered(b.stems, held)) < RESTATED:
            return "the sentence does not restate the hypothesis"
        return transformation.filled("substituted", Slot(built, "clause"), b)
    made = transformation.substituted(built, a, b)
    if isinstance(made, Made) or label == "contradiction":
        return made
    if a.type == "noun" and b.type in PREDICATES:
        return transformation.restated(built, a, b)
    return made
