"""What the words contribute to the answer beside what they contribute to the explanation.

The null deals the explanation's contributions at random to words of the same kind: those of up to
three characters, most of which are function words, among themselves, and all others among
themselves. A text whose content words alone matter would else agree with every explanation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from services.consistency import kernel
from services.consistency.kernel import Floats
from services.consistency.words import TextWords
from shared.statistics.seeds import generator


@dataclass(frozen=True)
class Agreement:
    """cosine: None where a side has no contributions at all. null: (M,) cosines. placements: of
    the contributions, besides the observed one. most: draws that were asked for."""

    cosine: float | None
    null: Floats
    placements: int
    most: int


def agreement(
    text: TextWords, answer: Floats, explanation: Floats, most: int, seed: int
) -> Agreement:
    """answer, explanation: (n,) contributions of the words of the text."""
    observed = kernel.cosine(answer, explanation)
    strata = text.strata()
    placements = kernel.permutation_count(strata) - 1
    if observed is None or not placements:
        return Agreement(observed, np.empty(0), placements, most)
    random = generator(seed, "consistency", "permutations", text.text)
    orders = kernel.permuted(strata, random, most)
    null = kernel.cosines(answer, explanation[orders])
    return Agreement(observed, null, placements, most)
