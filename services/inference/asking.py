"""What both kinds of model do alike with a request for attributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from services.inference import lime
from shared.calls import AttributionMethod, Attributions, Example, Rows, Tokens
from shared.errors import BadInput, DegenerateInput
from shared.models import Floats


class RowJudge(Protocol):
    """Who judges rows."""

    def judge_rows(self, asked: Sequence[Rows]) -> list[Floats]:
        """For each example (R, L) probabilities."""


def column(labels: Sequence[str], target: str) -> int:
    """Which column a label has. Raises BadInput for one that the model does not know."""
    if target not in labels:
        raise BadInput(f"no label {target!r}; there are {', '.join(labels)}", pointer="/target")
    return labels.index(target)


def by_lime(
    judge: RowJudge, example: Example, tokens: Tokens, place: int, method: AttributionMethod
) -> Attributions:
    """(T,) LIME's coefficients: probability of the label in column `place`; 0 outside the text."""
    places = lime.eligible(tokens)
    if not places:
        raise DegenerateInput("no token of the text is left to take away", pointer="/text")
    masks = lime.draws(method.samples, len(places), method.seed)
    rows = Rows(example=example, rows=lime.rows(masks, tokens))
    probabilities = judge.judge_rows([rows])[0][:, place]
    values = np.zeros(len(tokens.ids))
    values[places] = lime.coefficients(masks, probabilities)
    return Attributions(values=tuple(values.tolist()))
