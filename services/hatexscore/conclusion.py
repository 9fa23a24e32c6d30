"""The conclusion that an explanation states: which side of the labels, or none (HTC).

Source: Hu & Lee, arXiv:2601.13547, section 3.1, Eq. 2. What is stated as data is read exactly; the
trained reader reads prose, and says where it is not sure. The variants `paper` and `reference` have
readings of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from services.hatexscore.report import Label, Reader
from services.hatexscore.vocabulary import Vocabulary
from shared.readers.decision_words import side_of
from shared.readers.structured import StructuredVerdict, read_structured
from shared.readers.verdict import VerdictText, read_verdicts
from shared.text.normalized import NormalizedText
from shared.text.sentences import Span

PLACES = 2  # of a probability: the last ones differ between processors


@dataclass(frozen=True, slots=True)
class ConclusionStatement:
    """A part of the explanation, explanation[start:end], and the label that it states.

    probability: [0, 1] of the label, as the trained reader gives it; None where another read it.
    """

    start: int
    end: int
    label: Label
    by: Reader = "rules"
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class ConclusionText:
    """An explanation to be read. quoted: words of the post, spans of the normalised text."""

    explanation: NormalizedText
    vocabulary: Vocabulary
    quoted: Sequence[Span] = ()


@dataclass(frozen=True, slots=True)
class ConclusionRead:
    """statement: None where none is stated, or where the reader cannot tell: not `is_read`."""

    statement: ConclusionStatement | None
    is_read: bool = True

    @property
    def label(self) -> Label | None:
        return self.statement.label if self.statement else None


def read_conclusions(texts: Sequence[ConclusionText]) -> list[ConclusionRead]:
    """Read the conclusions of a batch. Raises Unavailable where the trained reader is away."""
    found: dict[int, ConclusionRead] = {}
    doubted: set[int] = set()  # a label word stands behind the field: prose may turn it round
    for place, one in enumerate(texts):
        plain = one.explanation
        stated: StructuredVerdict[Label] | None = read_structured(
            plain.text, partial(label_of, one.vocabulary)
        )
        if stated is not None and stated.label is not None:
            start, end = plain.original(*stated.span)
            found[place] = ConclusionRead(ConclusionStatement(start, end, stated.label))
            if any(a >= stated.span[1] for a, _, _ in one.vocabulary.marks(plain.text)):
                doubted.add(place)
        elif stated is not None or not any(map(str.isalpha, plain.text)):
            found[place] = ConclusionRead(None)
    left = [place for place in range(len(texts)) if place not in found or place in doubted]
    asked = [
        VerdictText(one.explanation.text, one.vocabulary.marks(one.explanation.text), one.quoted)
        for one in map(texts.__getitem__, left)
    ]
    for place, read in zip(left, read_verdicts(asked), strict=True):
        statement = None
        if read.label is not None and read.span is not None:
            start, end = texts[place].explanation.original(*read.span)
            probability = round(read.probability, PLACES)
            statement = ConclusionStatement(start, end, read.label, "reader", probability)
        if place not in doubted:
            found[place] = ConclusionRead(statement, read.is_read)
        elif read.label not in (None, found[place].label):
            found[place] = ConclusionRead(None, is_read=False)
    return [found[place] for place in range(len(texts))]


def label_of(vocabulary: Vocabulary, phrase: str) -> Label | None:
    """The side that a phrase names; the words of hate are known in other languages, too."""
    label = vocabulary.label_of_phrase(phrase)
    return label or (side_of(phrase) if vocabulary.name in ("default", "hate") else None)
