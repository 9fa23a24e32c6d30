"""What each sentence of a statement of reasons discloses, read by the trained reader.

Source: Regulation (EU) 2022/2065, Article 17(3). The sentences of all texts are asked about at
once; `training/reader/README.md` says how the reader was trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.sor.report import ITEMS, ROUTES, SorItemName, SorRoute
from shared.models.ports import Floats
from shared.readers.model import DISCLOSED, LABELS, ask
from shared.readers.verdict import LONGEST
from shared.text.sentences import Span, sentences


@dataclass(frozen=True, slots=True)
class ItemMatch:
    """An item, and the span of the statement that discloses it. route: of `redress`."""

    item: SorItemName
    span: Span
    route: SorRoute | None = None


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of a normalised text, and the labels of the reader that it was given."""

    span: Span
    labels: frozenset[str]

    @property
    def is_rule(self) -> bool:
        """True if it tells a rule, and nothing of the post or of what was done to it."""
        return "ground" in self.labels and self.labels.isdisjoint(("facts", "restriction"))


def read_sentences(texts: Sequence[str]) -> list[list[ReadSentence]]:
    """Read normalised texts, in one call. Raises Unavailable where the reader is away."""
    spans = [sentences(text) for text in texts]
    asked = [
        f"reasons: {text[start : min(end, start + LONGEST)]}"
        for text, own in zip(texts, spans, strict=True)
        for start, end in own
    ]
    labels = iter([_labels(row) for row in ask("reasons", asked)])
    return [[ReadSentence(span, next(labels)) for span in own] for own in spans]


def _labels(row: Floats) -> frozenset[str]:
    rows = zip(LABELS["reasons"], row, strict=True)
    return frozenset(label for label, p in rows if label != "none" and p >= DISCLOSED)


def matches(name: str, span: Span) -> Iterable[ItemMatch]:
    """The item that a label of the reader stands for; of `none` and of `facts` there is none."""
    yield from (ItemMatch("redress", span, route) for route in ROUTES if route == name)
    yield from (ItemMatch(item, span) for item in ITEMS if item == name != "facts")
