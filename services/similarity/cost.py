"""How much work a comparison of pairs asks for: every text is read, as far as the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.work import Size, Work, words_of

if TYPE_CHECKING:
    from services.similarity.contract import SimilarityRequest


def cost(request: SimilarityRequest, reads: int) -> Sequence[Work]:
    """The distinct texts: a bi-encoder reads each once, a cross-encoder oftener."""
    texts = {text for pair in request.pairs for text in (pair.a, pair.b)}
    tokens = sum(min(reads, words_of(text)) for text in texts)
    sizes = (
        Size("`pairs`", len(request.pairs), "/pairs"),
        Size("tokens of a pair", tokens / len(request.pairs)),
    )
    return (Work(sizes),)
