"""Explanations as values of tokens, or as marked tokens; and their rationales at a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from services.ice.contract import IceRequest
from services.ice.drawing import Subset
from services.ice.kernel import Floats
from services.ice.naming import Method, label
from services.ice.reading import Reading
from services.ice.spans import Attributed, Span
from services.ice.variants import VARIANTS
from shared.contracts import ModelKind
from shared.errors import DegenerateInput
from shared.models.calls import AttributionMethod, Attributions


@dataclass(frozen=True)
class Explanation:
    """One of the two is set: (E,) values of the eligible tokens, or the places of marked ones."""

    name: str
    values: Floats | None = None
    marked: Subset | None = None
    magnitude: bool = False  # whether tokens rank by |value|

    @property
    def ranked(self) -> Floats | None:
        """(E,) what tokens are ranked by, highest first."""
        return np.abs(self.values) if self.magnitude and self.values is not None else self.values

    def rationale(self, k: float, rounding: float = 0.0) -> Subset:
        """The max(1, floor(kE)) tokens of the highest rank; of equal ones, the first."""
        ranked = self.ranked
        if self.marked is not None or ranked is None:
            return self.marked or ()
        size = max(1, int(k * ranked.size + rounding))
        chosen = np.argsort(-ranked, kind="stable")[:size]
        return tuple(sorted(chosen.tolist()))


def computed(method: Method, request: IceRequest, kind: ModelKind) -> AttributionMethod:
    """What is asked of the model for a method.

    Variant reference, encoder: the last layer's attention, as the released extractor.
    """
    if isinstance(method, AttributionMethod):
        return method
    last = VARIANTS[request.variant].last_attention and kind == "classifier"
    return AttributionMethod(
        name=method,
        attention="last" if last else "mean",
        seed=request.seed if _seeded(method) else 0,
    )


def _seeded(method: str) -> bool:
    return method == "lime"


def explanations(reading: Reading, answers: Sequence[Attributions]) -> list[Explanation]:
    """All explanations of a request, computed ones first. `answers`: one a computed method."""
    return [*_computed(reading, answers), *_brought(reading)]


def _computed(reading: Reading, answers: Sequence[Attributions]) -> Iterator[Explanation]:
    request, places = reading.request, np.array(reading.eligible)
    size = request.rank_by == "magnitude" or reading.variant.magnitude
    for method, answer in zip(request.methods, answers, strict=True):
        yield Explanation(label(method), values=np.array(answer.values)[places], magnitude=size)


def _brought(reading: Reading) -> Iterator[Explanation]:
    request = reading.request
    size = request.rank_by == "magnitude"
    if request.attributions:
        values = spread(reading, request.attributions)
        yield Explanation("attributions", values=values, magnitude=size)
    if request.rationale:
        yield Explanation("rationale", marked=marked(reading, request.rationale))
    for place, own in enumerate(request.explanations):
        if own.attributions:
            values = spread(reading, own.attributions)
            yield Explanation(own.name, values=values, magnitude=size)
        elif own.rationale:
            pointer = f"/explanations/{place}/rationale"
            yield Explanation(own.name, marked=marked(reading, own.rationale, pointer))


def spread(reading: Reading, spans: Sequence[Attributed]) -> Floats:
    """(E,) each token has the value of the span that it shares most characters with, else 0."""
    values = np.zeros(len(reading.eligible))
    most = np.zeros(len(reading.eligible), dtype=np.int64)
    for span in spans:
        shared = reading.covered(span.start, span.end, span.of)
        better = shared > most
        values[better], most[better] = span.value, shared[better]
    return values


def marked(reading: Reading, spans: Sequence[Span], pointer: str = "/rationale") -> Subset:
    """Places of the tokens that share a character with a span. DegenerateInput where none does."""
    found = touched(reading, spans)
    if not found:
        raise DegenerateInput("the spans hold no token that the model reads", pointer=pointer)
    return found


def touched(reading: Reading, spans: Sequence[Span]) -> Subset:
    """Places of the eligible tokens that share a character with a span."""
    hit = np.zeros(len(reading.eligible), dtype=bool)
    for span in spans:
        hit |= reading.covered(span.start, span.end, span.of) > 0
    return tuple(np.flatnonzero(hit).tolist())
