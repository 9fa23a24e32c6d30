"""U: the discourse units of a text, every one verbatim with its offsets.

Source: Chen et al., EMNLP 2025, Eq. 3: U = DSeg1(CoT) ∪ DSeg2(CoT). Deviates: sentences belong to U
as well, since the parse is asked for sentences (`granularity` "edu" leaves them out).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from services.cot2el.segmentation.clauses import clauses
from services.cot2el.segmentation.connectives import connective_units
from services.cot2el.segmentation.sentences import sentences
from services.cot2el.segmentation.spans import Span, without_marker

Granularity = Literal["edu", "sentence", "both"]
Source = Literal["sentence", "clause", "connective", "given"]
Language = Literal["en", "zh", "ko", "ja"]


@dataclass(frozen=True, order=True)
class Unit:
    """A piece of the text and what found it."""

    start: int  # characters
    end: int  # exclusive
    sources: tuple[Source, ...]


class Segmenter(Protocol):
    """What finds units: our rules, or a trained segmenter in their place."""

    def __call__(self, text: str, language: Language) -> list[Unit]:
        """In document order (start, then end), every span once."""


@dataclass(frozen=True)
class Rules:
    """The segmenter that ships: deterministic, without a model."""

    granularity: Granularity = "both"

    def __call__(self, text: str, language: Language) -> list[Unit]:
        """In document order; together they hold every character that is not white space."""
        return merged(self._found(text, language))

    def _found(self, text: str, language: Language) -> Iterator[tuple[Span, Source]]:
        for sentence in sentences(text):
            if self.granularity != "edu":
                yield from _with_and_without_marker(text, sentence, "sentence")
            if self.granularity != "sentence":
                for clause in clauses(text, sentence):
                    yield from _with_and_without_marker(text, clause, "clause")
                for unit in connective_units(text, sentence, language):
                    yield unit, "connective"


@dataclass(frozen=True)
class Given:
    """A segmenter that was run elsewhere, as a trained one: it has these spans."""

    spans: tuple[Span, ...]

    def __call__(self, text: str, language: Language) -> list[Unit]:
        """The spans, in document order."""
        return merged((span, "given") for span in self.spans)


def merged(found: Iterable[tuple[Span, Source]]) -> list[Unit]:
    """Every span once, with all that found it."""
    sources: dict[Span, list[Source]] = {}
    for span, source in found:
        known = sources.setdefault(span, [])
        if source not in known:
            known.append(source)
    return [Unit(*span, tuple(names)) for span, names in sorted(sources.items())]


def _with_and_without_marker(
    text: str, span: Span, source: Source
) -> Iterator[tuple[Span, Source]]:
    """A list marker belongs to the line, but not to what it says."""
    yield span, source
    bare = without_marker(text, span)
    if bare[0] < bare[1]:
        yield bare, source
