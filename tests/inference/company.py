"""`python -m tests.inference.company DTYPE`: how far rows move with their company; JSON.

The shipped classifier and the shipped similarity, in a process of its own: libraries read their
instruction sets from the environment once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from services.inference.local_models import LocalModels
from services.similarity.cache import Cache
from services.similarity.encoders import LocalSimilarityModels
from shared.contracts.calls import Pair
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Floats
from shared.process.numerics import MODE
from shared.process.settings import environment_value

WORDS = ["the", "a", "garden", "people", "walk", "rain", "slowly", "under", "green", "windows"]
LENGTHS = (1, 3, 8, 13, 14, 15, 22, 23, 31)  # words


def texts() -> list[str]:
    """Three of each length."""
    return [
        " ".join(WORDS[(start + place) % len(WORDS)] for place in range(length))
        for length in LENGTHS
        for start in (0, 3, 7)
    ]


def catalogue(kind: str, source: str, dtype: str) -> Catalogue:
    """One entry, `m`."""
    fields = {"name": "m", "kind": kind, "source": source, "dtype": dtype, "device": "cpu"}
    return Catalogue((ModelEntry.model_validate(fields),), Path("/"))


def apart(together: Floats, alone: list[Floats]) -> float:
    """The farthest that any number moved."""
    return float(np.abs(together - np.concatenate(alone)).max())


def classifier(dtype: str) -> dict[str, Any]:
    """Probabilities of `embedded-hate`."""
    model = LocalModels(catalogue("classifier", "embedded:hate", dtype)).classifier("m")
    together = model.probabilities(texts())
    moved = apart(together, [model.probabilities([text]) for text in texts()])
    return {"numerics": model.use.numerics, "apart": moved}


def similarity(dtype: str) -> dict[str, Any]:
    """Similarities of `embedded-similarity`; nothing is remembered."""
    base = catalogue("similarity", "embedded:base", dtype)
    model = LocalSimilarityModels(base, Cache(entries=0)).similarity("m")
    pairs = [Pair(a=text, b=texts()[0]) for text in texts()]
    together = model.similarities(pairs)
    moved = apart(together, [model.similarities([pair]) for pair in pairs])
    return {"numerics": model.use.numerics, "apart": moved}


if __name__ == "__main__":
    found = {"mode": environment_value(MODE)}
    found |= {"classifier": classifier(sys.argv[1]), "similarity": similarity(sys.argv[1])}  # type: ignore[dict-item]
    print(json.dumps(found))  # noqa: T201 - the answer
