"""The similarity room as a job of its own: how similar are the texts of each pair?

Pydantic only: the gateway reads it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from services.similarity.cost import cost
from shared.calls import Pair
from shared.contracts import JobRequest, Message, ModelUse, ServiceContract
from shared.operations import MOST

DEFAULT_MODEL = "embedded-similarity"

Score = Annotated[float, Field(ge=0, le=1)]


class SimilarityRequest(JobRequest):
    """Pairs of texts, and which model compares them."""

    pairs: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=MOST)] = Field(
        description="a cross-encoder reads `a` before `b`; to a bi-encoder the order is the same"
    )


class SimilarityReport(Message):
    """One number a pair, in the order of the request."""

    similarities: tuple[Score, ...] = Field(description="in [0, 1]; higher: more similar")
    model: ModelUse
    service_version: str


_TOWN = {
    "pairs": [
        {"a": "We lost the match again", "b": "The game was lost once more"},
        {"a": "We lost the match again", "b": "What a lovely old town"},
    ]
}

CONTRACT = ServiceContract(
    name="similarity",
    summary="How similar two texts are, by a bi-encoder or a cross-encoder",
    request=SimilarityRequest,
    report=SimilarityReport,
    model_kinds=("similarity", "cross-encoder"),
    default_model=DEFAULT_MODEL,
    cost=cost,
    examples={"two pairs": _TOWN},
)
