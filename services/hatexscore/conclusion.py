"""Finds the conclusion (HTC) that an explanation states: one of the label classes, or none. A
conclusion in a data field is parsed exactly. Prose is read by the trained reader, a small text
classifier that may be unsure. The variant `reference` uses keywords. Source: Hu & Lee,
arXiv:2601.13547, section 3.1, Eq. 2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from services.hatexscore.report import Label, Reader
from services.hatexscore.vocabulary import Vocabulary, lowered
from shared.readers.decision_words import side_of
from shared.readers.structured import StructuredVerdict, read_structured
from shared.readers.verdict import VerdictRead, VerdictText, read_verdicts
from shared.text.changed_meaning import negates
from shared.text.normalized import NormalizedText
from shared.text.sentences import Span, sentences

PLACES = 2  # of a probability: the last ones differ between processors


@dataclass(frozen=True, slots=True)
class ConclusionStatement:
    """A part of the explanation, explanation[start:end], and the label that it states.
    `probability`, in [0, 1], is that of the trained text classifier; it is None for other sources.
    `is_named` is False if the text only denies hate although the vocabulary has further classes."""

    start: int
    end: int
    label: Label
    by: Reader = "rules"
    probability: float | None = None
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class ConclusionText:
    """An explanation whose conclusion is to be determined. `quoted` has the spans that quote the
    post. `given` is the conclusion if it is already known."""

    explanation: NormalizedText
    vocabulary: Vocabulary
    quoted: Sequence[Span] = ()
    given: ConclusionRead | None = None

    def asked(self, positive: Label = "hateful") -> VerdictText:
        """Return the input of the trained text classifier, with the words of the class `positive`
        marked."""
        text = self.explanation.text
        return VerdictText(text, self.vocabulary.marks(text, positive), self.quoted)

    def statement(self, label: Label, read: VerdictRead, *, is_named: bool) -> ConclusionStatement:
        start, end = self.explanation.original(*(read.span or (0, 0)))
        probability = round(read.probability, PLACES)
        return ConclusionStatement(start, end, label, "reader", probability, is_named)


@dataclass(frozen=True, slots=True)
class ConclusionRead:
    """The conclusion of one explanation. `statement` is None if there is no conclusion, or if the
    text classifier is unsure (`is_read` is then False)."""

    statement: ConclusionStatement | None
    is_read: bool = True

    @property
    def label(self) -> Label | None:
        return self.statement.label if self.statement else None


def read_conclusions(texts: Sequence[ConclusionText]) -> list[ConclusionRead]:
    """Find the conclusions of a batch of explanations. Raises Unavailable if the trained text
    classifier is unavailable."""
    reads: dict[int, ConclusionRead] = {}
    doubted: set[int] = set()  # a label word stands behind the field: prose may turn it round
    for index, text in enumerate(texts):
        if text.given is not None:
            reads[index] = text.given
            continue
        plain = text.explanation
        stated: StructuredVerdict[Label] | None = read_structured(
            plain.text, partial(label_of, text.vocabulary)
        )
        if stated is not None and stated.label is not None:
            start, end = plain.original(*stated.span)
            words = text.vocabulary.labels_in(plain.text[slice(*stated.words)])
            is_named = not text.vocabulary.further or stated.label in (*words, "hateful")
            statement = ConclusionStatement(start, end, stated.label, is_named=is_named)
            reads[index] = ConclusionRead(statement)
            behind = [a for a, _, _ in text.vocabulary.marks(plain.text) if a >= stated.span[1]]
            if any(not any(a <= mark < b for a, b in stated.others) for mark in behind):
                doubted.add(index)
        elif stated is not None or not any(map(str.isalpha, plain.text)):
            reads[index] = ConclusionRead(None)
    left = [index for index in range(len(texts)) if index not in reads or index in doubted]
    for index, read in zip(left, _read_prose([texts[index] for index in left]), strict=True):
        if index not in doubted:
            reads[index] = read if read.is_read else _contrasted(texts[index]) or read
        elif (prose := read.statement) and prose.is_named and prose.label != reads[index].label:
            reads[index] = ConclusionRead(None, is_read=False)
    return [reads[index] for index in range(len(texts))]


_RATHER = re.compile(r"\b(?:rather than|instead of|as opposed to|short of)\b", re.IGNORECASE)
_OPEN = re.compile(  # words of others, of rules, and of doubt: the trained reader reads them
    r"\b(?:may|might|could|if|whether|unless|some|someone|others?|users?|report\w*|complain\w*"
    r"|claim\w*|definitions?|polic(?:y|ies)|rules?|guidelines?|unclear|unsure|criti\w+|discuss\w*"
    r"|condemn\w*|mentions?|about|against|quot\w+|nothing|anything|doubt|question"
    r"|not (?:only|just|merely|simply))\b|[?\uff1f]",
    re.IGNORECASE,
)
BEFORE = 4  # words before a label word in which a negation denies it


def _contrasted(one: ConclusionText) -> ConclusionRead | None:
    """Return the class that a text states next to denied classes: "offensive, but not hate speech",
    "neither of them". It is used if the trained text classifier is unsure. Further classes are
    classes other than hateful and non-hateful. Return None unless the text affirms one further
    class and denies hate, or denies hate and all further classes."""
    text, words = one.explanation.text, one.vocabulary
    if not words.further or _OPEN.search(text):
        return None
    affirmed: set[Label] = set()
    denied: set[Label] = set()
    last = 0
    for word in words.find(lowered(text), text):
        if not any(a < word.end and word.start < b for a, b in one.quoted):
            is_denied = word.denied or _denies(text[: word.start])
            (denied if is_denied else affirmed).add(word.word.side)
            last = word.start
    label: Label = "non-hateful"
    if affirmed:
        label = affirmed.pop()
        if affirmed or label not in words.further or denied != {"hateful"}:
            return None
    elif denied != {"hateful", *words.further}:
        return None
    span = next(span for span in reversed(sentences(text)) if span[0] <= last)
    return ConclusionRead(ConclusionStatement(*one.explanation.original(*span), label))


def _denies(before: str) -> bool:
    """Return True if the end of this text negates the label word that follows, as in "not" or
    "rather than"."""
    near = re.split(r"[,;:.!\u3002\uff0c\uff1b]\s?", before)[-1]
    near = " ".join(near.split()[-BEFORE:])[-60:]
    return negates(near) or _RATHER.search(near) is not None


def _read_prose(texts: Sequence[ConclusionText]) -> list[ConclusionRead]:
    """Find the class that each text states, with the trained text classifier. If the text denies
    hate or does not name it, each further class that it names is checked. A text is unread if two
    further classes are affirmed, or the classifier is unsure of one. A text that only denies a
    further class is also unread, since "offensive, but no hate speech" is often misclassified."""
    sides = read_verdicts([text.asked() for text in texts])
    labels_named = [
        text.vocabulary.labels_in(text.explanation.text) if text.vocabulary.further else set()
        for text in texts
    ]
    questions = [
        (index, label)
        for index, (text, read) in enumerate(zip(texts, sides, strict=True))
        if read.label == "non-hateful" or (read.label and "hateful" not in labels_named[index])
        for label in text.vocabulary.further
        if label in labels_named[index]
    ]
    answers = read_verdicts([texts[index].asked(label) for index, label in questions])
    further: dict[int, list[tuple[Label, VerdictRead]]] = {}
    denied = {index for index, _ in questions}
    for (index, label), answer in zip(questions, answers, strict=True):
        if answer.label == "hateful" or not answer.is_read:
            further.setdefault(index, []).append((label, answer))
    reads = []
    for index, (text, read) in enumerate(zip(texts, sides, strict=True)):
        affirmed = further.get(index, [])
        if read.label is None:
            reads.append(ConclusionRead(None, read.is_read))
        elif not affirmed and index in denied and read.label not in labels_named[index]:
            reads.append(ConclusionRead(None, is_read=False))
        elif not affirmed:
            is_named = not text.vocabulary.further or read.label in labels_named[index]
            reads.append(ConclusionRead(text.statement(read.label, read, is_named=is_named)))
        elif len(affirmed) == 1 and affirmed[0][1].is_read:
            reads.append(ConclusionRead(text.statement(*affirmed[0], is_named=True)))
        else:
            reads.append(ConclusionRead(None, is_read=False))
    return reads


def label_of(vocabulary: Vocabulary, phrase: str) -> Label | None:
    """Return the class that a phrase names, or None. With the vocabularies `default` and
    `hate`, words of other languages are recognised too."""
    label = vocabulary.label_of_phrase(phrase)
    return label or (side_of(phrase) if vocabulary.name in ("default", "hate") else None)
