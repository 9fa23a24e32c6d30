"""Finds the items that each sentence of a statement of reasons discloses, with the trained reader,
a small text classifier. One call reads the sentences of all texts. `training/reader/README.md`
describes the training. Source: Regulation (EU) 2022/2065, Article 17(3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.sor.report import ITEMS, ROUTES, SorItemName, SorRoute
from shared.readers.model import DISCLOSED, LABELS, ask
from shared.readers.verdict import LONGEST
from shared.text.sentences import Span, sentences


@dataclass(frozen=True, slots=True)
class ItemMatch:
    """An item, and the span of the statement that discloses it."""

    item: SorItemName
    span: Span
    route: SorRoute | None = None  # of `redress`


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of a normalised text, with the labels from the text classifier."""

    span: Span
    labels: frozenset[str]

    @property
    def is_rule(self) -> bool:
        """True if the sentence only states a rule. It then mentions neither facts about the post
        nor the restriction imposed on it."""
        return "ground" in self.labels and self.labels.isdisjoint(("facts", "restriction"))


def read_sentences(texts: Sequence[str]) -> list[list[ReadSentence]]:
    """Classify the sentences of normalised texts in one call. Raises Unavailable if the trained
    text classifier is not available."""
    spans = [sentences(text) for text in texts]
    inputs = [
        f"reasons: {text[start : min(end, start + LONGEST)]}"
        for text, text_spans in zip(texts, spans, strict=True)
        for start, end in text_spans
    ]
    labels = iter(
        frozenset(
            label
            for label, p in zip(LABELS["reasons"], row, strict=True)
            if label != "none" and p >= DISCLOSED
        )
        for row in ask("reasons", inputs)
    )
    return [[ReadSentence(span, next(labels)) for span in text_spans] for text_spans in spans]


def matches(name: str, span: Span) -> Iterable[ItemMatch]:
    """Yield the item that belongs to a label of the text classifier. The labels `none` and `facts`
    have no item."""
    yield from (ItemMatch("redress", span, route) for route in ROUTES if route == name)
    yield from (ItemMatch(item, span) for item in ITEMS if item == name != "facts")
