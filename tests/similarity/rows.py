"""Counts what really goes through a model, and texts to send through it."""

from __future__ import annotations

from typing import Any

from services.similarity.encoders import BiEncoder, CrossEncoder
from shared.contracts.calls import Pair
from shared.models.ports import Similarity

TEXTS = (
    "They are animals and should leave.",
    "The post calls a whole group of people animals.",
    "I like my neighbours.",
    "他们都是动物。",
    "그들은 모두 떠나야 한다.",
    "",
    "a " * 300,  # longer than any model here reads
    "The weather was mild today, and nobody was hurt by a word of what was said about it.",
)
PAIRS = [Pair(a=a, b=b) for a in TEXTS for b in TEXTS]
SOME = PAIRS[::5]


def network(similarity: Similarity) -> Any:
    """The sentence-transformers model behind it."""
    assert isinstance(similarity, (BiEncoder, CrossEncoder))
    return similarity._weights.model


def counted(similarity: Similarity) -> list[int]:
    """Rows of every forward pass from now on."""
    rows: list[int] = []

    def note(_module: Any, args: tuple[dict[str, Any], ...]) -> None:
        rows.append(len(args[0]["input_ids"]))

    network(similarity).register_forward_pre_hook(note)
    return rows
