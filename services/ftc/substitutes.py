"""The random-substitution null: phrases of the same type, from other examples, in the same place.

Our own, after the null of arXiv:2603.18579 (ICE): a model that answers "entailment" to any edit
satisfies every explanation. The generator is keyed by seed and content, so that batches and order
do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from services.ftc.phrases import Phrase, phrase
from services.ftc.report import PhraseType
from services.ftc.slots import Slot
from services.ftc.transformation import same
from shared.statistics.seeds import generator_1_0

OWN = Path(__file__).with_name("substitutes.json")  # written for this project
FEWEST = 5  # a null of fewer phrases says nothing


@lru_cache(maxsize=1)
def own() -> tuple[str, ...]:
    """The phrases that ship with the room."""
    found: list[str] = json.loads(OWN.read_text("utf-8"))["phrases"]
    return tuple(found)


def drawn(slot: Slot, observed: str, pool: Sequence[str], seed: int, draws: int) -> list[str]:
    """At most `draws` hypotheses with a random phrase in the slot, no two the same, none of them
    the observed one or the hypothesis itself; fewer where the pool has fewer that can stand there.
    """
    fitting = _fitting(slot, tuple(pool or own()))
    texts = [t for t in fitting if not same(t, observed) and not same(t, slot.shape.text)]
    if len(texts) < FEWEST:
        return []
    generator = generator_1_0(seed, slot.shape.text, observed)
    chosen = generator.permutation(len(texts))[:draws]
    return [texts[place] for place in chosen]


def _fitting(slot: Slot, pool: tuple[str, ...]) -> list[str]:
    made = (slot.fill(candidate) for candidate in _typed(pool).get(slot.takes, ()))
    return list(dict.fromkeys(text for text in made if text is not None))


@lru_cache(maxsize=64)
def _typed(pool: tuple[str, ...]) -> dict[PhraseType, tuple[Phrase, ...]]:
    """The pool by type; what has none is left out."""
    found: dict[PhraseType, tuple[Phrase, ...]] = {}
    for text in pool:
        read = phrase(text)
        if read is not None:
            found[read.type] = (*found.get(read.type, ()), read)
    return found
