"""Explanations as values of tokens, or as marked tokens; and their rationales at a budget.

A request as its model reads it: tokens, which of them a rationale may hold, the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.ice.contract import PREDICTED, IceRequest, Method, label
from services.ice.kernel import Floats
from services.ice.report import Attributed, IceSpan, Of
from services.ice.subsets import Subset
from services.ice.variants import VARIANTS, IceVariant
from shared.cached import cached_property
from shared.contracts import ModelKind
from shared.errors import BadInput, DegenerateInput
from shared.models.calls import AttributionMethod, Attributions, Example, Tokens


@dataclass(frozen=True)
class TestedExplanation:
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


def explanations(
    reading: TokenizedInput, answers: Sequence[Attributions]
) -> list[TestedExplanation]:
    """All explanations of a request, computed ones first. `answers`: one a computed method."""
    return [*_computed(reading, answers), *_brought(reading)]


def _computed(
    reading: TokenizedInput, answers: Sequence[Attributions]
) -> Iterator[TestedExplanation]:
    request, places = reading.request, np.array(reading.eligible)
    size = request.rank_by == "magnitude" or reading.variant.magnitude
    for method, answer in zip(request.methods, answers, strict=True):
        yield TestedExplanation(
            label(method), values=np.array(answer.values)[places], magnitude=size
        )


def _brought(reading: TokenizedInput) -> Iterator[TestedExplanation]:
    request = reading.request
    size = request.rank_by == "magnitude"
    if request.attributions:
        values = spread(reading, request.attributions)
        yield TestedExplanation("attributions", values=values, magnitude=size)
    if request.rationale:
        yield TestedExplanation("rationale", marked=marked(reading, request.rationale))
    for place, own in enumerate(request.explanations):
        if own.attributions:
            values = spread(reading, own.attributions)
            yield TestedExplanation(own.name, values=values, magnitude=size)
        elif own.rationale:
            pointer = f"/explanations/{place}/rationale"
            yield TestedExplanation(own.name, marked=marked(reading, own.rationale, pointer))


def spread(reading: TokenizedInput, spans: Sequence[Attributed]) -> Floats:
    """(E,) each token has the value of the span that it shares most characters with, else 0."""
    values = np.zeros(len(reading.eligible))
    most = np.zeros(len(reading.eligible), dtype=np.int64)
    for span in spans:
        shared = reading.covered(span.start, span.end, span.of)
        better = shared > most
        values[better], most[better] = span.value, shared[better]
    return values


def marked(
    reading: TokenizedInput, spans: Sequence[IceSpan], pointer: str = "/rationale"
) -> Subset:
    """Places of the tokens that share a character with a span. DegenerateInput where none does."""
    found = touched(reading, spans)
    if not found:
        raise DegenerateInput("the spans hold no token that the model reads", pointer=pointer)
    return found


def touched(reading: TokenizedInput, spans: Sequence[IceSpan]) -> Subset:
    """Places of the eligible tokens that share a character with a span."""
    hit = np.zeros(len(reading.eligible), dtype=bool)
    for span in spans:
        hit |= reading.covered(span.start, span.end, span.of) > 0
    return tuple(np.flatnonzero(hit).tolist())


Positions = tuple[int, ...]  # of tokens in the example
TEXTS: tuple[Of, ...] = ("text", "text_pair")


@dataclass(frozen=True)
class TokenizedInput:
    """What is known of a request before anything is taken away from its text."""

    request: IceRequest
    kind: ModelKind
    tokens: Tokens
    eligible: Positions  # (E,) ascending
    labels: tuple[str, ...]
    probabilities: Floats  # (L,)
    target: int  # its column

    @property
    def variant(self) -> IceVariant:
        """Of the request's variant."""
        return VARIANTS[self.request.variant]

    @property
    def example(self) -> Example:
        """What the model judges."""
        return example_of(self.request)

    @property
    def full(self) -> float:
        """s(x)."""
        return float(self.probabilities[self.target])

    @property
    def scaffold(self) -> Positions:
        """Tokens that always stay: special ones, and the template's where it is not eligible."""
        may_go = set(self.eligible)
        return tuple(p for p in range(len(self.tokens.ids)) if p not in may_go)

    def characters_read(self, of: Of) -> int:
        """How many characters of a text the model reads, before it is cut."""
        ends = zip(self.tokens.parts, self.tokens.ends, strict=True)
        return max((end for part, end in ends if part == of and end is not None), default=0)

    def covered(self, start: int, end: int, of: Of) -> NDArray[np.int64]:
        """(E,) characters that each eligible token shares with a span."""
        starts, ends = self._borders[of]
        shared: NDArray[np.int64] = np.minimum(ends, end) - np.maximum(starts, start)
        return shared.clip(min=0)

    @cached_property
    def _borders(self) -> dict[Of, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """(E,) starts and (E,) ends of the eligible tokens in each text; 0 and 0 elsewhere."""
        tokens = self.tokens
        found = {}
        for of in TEXTS:
            here = [
                (tokens.starts[p] or 0, tokens.ends[p] or 0) if tokens.parts[p] == of else (0, 0)
                for p in self.eligible
            ]
            both = np.array(here, dtype=np.int64)
            found[of] = both[:, 0], both[:, 1]
        return found


def example_of(request: IceRequest) -> Example:
    """What the model judges."""
    return Example(text=request.text, text_pair=request.text_pair, template=request.template)


def eligible(request: IceRequest, tokens: Tokens) -> Positions:
    """Tokens that a rationale may hold. Raises DegenerateInput where there is none."""
    which = request.eligible or VARIANTS[request.variant].eligible
    parts = {*TEXTS, "template"} if which == "all" else set(TEXTS)
    found = tuple(p for p, part in enumerate(tokens.parts) if part in parts)
    if not any(tokens.parts[p] in TEXTS for p in found):
        raise DegenerateInput("the model reads no token of the text", pointer="/text")
    return found


def target_column(request: IceRequest, labels: Sequence[str], probabilities: Floats) -> int:
    """The column of the target label. Raises BadInput for one that the model does not have."""
    if request.target in labels:
        return labels.index(request.target)
    if request.target == PREDICTED:
        return int(np.argmax(probabilities))
    known = ", ".join(labels)
    raise BadInput(f"no label {request.target!r}; there are: {known}", pointer="/target")
