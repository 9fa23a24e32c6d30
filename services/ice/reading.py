"""A request as its model reads it: tokens, which of them a rationale may hold, the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.ice.contract import PREDICTED, IceRequest
from services.ice.kernel import Floats
from services.ice.spans import Of
from services.ice.variants import VARIANTS, IceVariant
from shared.cached import cached_property
from shared.contracts import ModelKind
from shared.errors import BadInput, DegenerateInput
from shared.models.calls import Example, Tokens

Positions = tuple[int, ...]  # of tokens in the example
TEXTS: tuple[Of, ...] = ("text", "text_pair")


@dataclass(frozen=True)
class Reading:
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
