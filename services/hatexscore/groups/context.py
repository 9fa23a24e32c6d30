"""What each sentence of an explanation denies and attacks, worked out once for all its mentions."""

from __future__ import annotations

from dataclasses import dataclass

from services.hatexscore.groups.cues import Cues, cues
from services.hatexscore.groups.negation import denials, rejections
from services.hatexscore.groups.passage import Passage, Sentence
from services.hatexscore.languages import Span


@dataclass(frozen=True)
class Claims:
    """One sentence: the spans that it denies, its attack predicates, does it reject somebody?"""

    denied: tuple[Span, ...]  # from after the negator: 非 in 非裔 denies nothing
    attacks: tuple[Span, ...]
    rejects: bool

    def denies(self, position: int) -> bool:
        """Does a denial hold at `position`?"""
        return _inside(self.denied, position)


@dataclass(frozen=True)
class Context:
    """A passage with the claims of its sentences, in order."""

    passage: Passage
    known: Cues
    claims: tuple[Claims, ...]


def understand(passage: Passage) -> Context:
    """Read every sentence's claims."""
    known = cues(passage.language)
    claims = tuple(_claims(passage, sentence, known) for sentence in passage.sentences)
    return Context(passage, known, claims)


def _claims(passage: Passage, sentence: Sentence, known: Cues) -> Claims:
    """Attack predicates count outside quotations, and where they are not denied."""
    denied = tuple(denials(passage.language, sentence, known))
    text = passage.text[sentence.start : sentence.end]
    found = (match.span() for match in known.patterns["predicates"].finditer(text))
    spans = ((sentence.start + start, sentence.start + end) for start, end in found)
    attacks = tuple(
        span for span in spans if not (passage.quoted(*span) or _inside(denied, span[0]))
    )
    return Claims(denied, attacks, rejections(sentence, known))


def _inside(spans: tuple[Span, ...], position: int) -> bool:
    return any(start <= position < end for start, end in spans)
