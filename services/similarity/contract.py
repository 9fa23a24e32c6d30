"""Request and result types of similarity. Imports only pydantic, since the gateway reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from shared.contracts.calls import MOST, Pair
from shared.contracts.messages import JobRequest, Message, ModelUse
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import ServiceContract

DEFAULT_MODEL = "embedded-similarity"


Score = Annotated[float, Field(ge=0, le=1)]


class SimilarityRequest(JobRequest):
    """Pairs of texts, and the model that compares them."""

    pairs: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=MOST)] = Field(
        description="a cross-encoder reads `a` before `b`; a bi-encoder ignores the order"
    )


class SimilarityResult(Message):
    """One number per pair, in the order of the request."""

    similarities: tuple[Score, ...] = Field(description="similarity, from 0 to 1 (most similar)")
    model: ModelUse
    service_version: str


_TOWN = {
    "pairs": [
        {"a": "We lost the match again", "b": "The game was lost once more"},
        {"a": "We lost the match again", "b": "What a lovely old town"},
    ]
}


def cost(request: SimilarityRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost of distinct texts for a bi-encoder. A cross-encoder reads more."""
    texts = {text for pair in request.pairs for text in (pair.a, pair.b)}
    tokens = sum(min(reads, words_of(text)) for text in texts)
    sizes = (
        Size("`pairs`", len(request.pairs), "/pairs"),
        Size("tokens of a pair", tokens / len(request.pairs)),
    )
    return (Work(sizes),)


CONTRACT = ServiceContract(
    name="similarity",
    summary="How similar two texts are, by a bi-encoder or a cross-encoder",
    request=SimilarityRequest,
    report=SimilarityResult,
    model_kinds=("similarity", "cross-encoder"),
    default_model=DEFAULT_MODEL,
    cost=cost,
    examples={"two pairs": _TOWN},
)
