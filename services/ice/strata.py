"""What else random tokens may share with a rationale's: how rare they are, or their part of speech.

English; labels belong to whole words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from services.ice.report import StratumKind
from shared.english import log_probabilities, parts_of_speech

QUINTILES = (0.2, 0.4, 0.6, 0.8)
NAMES = ("rarest", "rare", "medium", "frequent", "most frequent")


def strata_of(words: Sequence[str], kind: StratumKind) -> list[str]:
    """The stratum of each word of a text, in its order."""
    if kind == "pos":
        return parts_of_speech(words)
    known = log_probabilities()
    least = min(known.values())
    values = [known.get(word, known.get(word.lower(), least)) for word in words]
    edges = np.quantile(values, QUINTILES).tolist() if values else []
    return [NAMES[bisect_left(edges, value)] for value in values]
