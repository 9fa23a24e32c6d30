"""What is judged, several of them at once, and an answer that the caller has. Messages alone."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from shared.contracts.calls import WrittenToken
from shared.contracts.elicitation import MOST_TOKENS
from shared.contracts.messages import (
    MAX_TEXT,
    MOST_METADATA,
    Input,
    Message,
    MetadataKey,
    MetadataValue,
    Parameter,
)

MOST_ITEMS = 32
MOST_DRAWS = 16  # of each item

Place = tuple[int | str, ...]
InputText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), Input]


class ExplanationsAnswer(Message):
    """An answer that the caller has from a model."""

    text: str = Field(
        max_length=MAX_TEXT,
        description="a chain of thought between <think> and </think> before it is taken off",
    )
    tokens: tuple[WrittenToken, ...] = Field(
        default=(),
        max_length=MOST_TOKENS,
        description="offsets into `text`, as `POST /v1/inference` returns them",
    )
    reasoning: str | None = Field(
        default=None,
        max_length=MAX_TEXT,
        description="where the server sends it as a field of its own",
    )
    finish: Literal["stop", "length", "given"] = "given"

    @model_validator(mode="after")
    def _tokens_inside(self) -> Self:
        if any(not token.start <= token.end <= len(self.text) for token in self.tokens):
            raise ValueError("a token's offsets are outside the text")
        return self


class ExplanationsItem(Message):
    """One of several things that are judged; a field that is absent is the request's own."""

    text: InputText | None = Field(default=None, description="the text that is judged")
    premise: InputText | None = None
    hypothesis: InputText | None = None
    scenario: InputText | None = None
    question: InputText | None = None
    target_label: Annotated[str | None, Parameter] = Field(
        default=None, min_length=1, max_length=500, description="the label to be explained"
    )
    answer: Annotated[ExplanationsAnswer | None, Input] = Field(
        default=None, description="bring your own, instead of `model`"
    )
    gold: MetadataValue | None = Field(default=None, min_length=1, description="the gold label")
    metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict, max_length=MOST_METADATA, description="added to the request's own"
    )


def fault_of_item(
    number: int, item: ExplanationsItem | None, where: Place, told: str
) -> tuple[Place, str]:
    """A fault of one job's request as one of the request for several. Where a field is at fault
    that all items share, the words name the item: the others may be well."""
    if item is None:
        return where, told
    if not where or where[0] in ExplanationsItem.model_fields:
        return ("items", number, *where), told
    return where, f"items[{number}]: {told}"
