"""The items of a request that creates several jobs, and the answers of the caller's own model."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

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
    RequiredText,
)

MOST_ITEMS = 32
MOST_DRAWS = 16  # of each item

Place = tuple[int | str, ...]
InputText = Annotated[RequiredText, Input]


class ExplanationsAnswer(Message):
    """An answer of your own model."""

    text: str = Field(
        max_length=MAX_TEXT,
        description="the answer; reasoning between <think> and </think> at its start is removed",
    )
    tokens: tuple[WrittenToken, ...] = Field(
        default=(),
        max_length=MOST_TOKENS,
        description="tokens with offsets into `text`, in the form that `POST /v1/inference` "
        "returns",
    )
    reasoning: str | None = Field(
        default=None,
        max_length=MAX_TEXT,
        description="the model's reasoning, if its server sends it as a separate field",
    )
    finish: Literal["stop", "length", "given"] = "given"

    @model_validator(mode="after")
    def _tokens_inside(self) -> Self:
        if any(not token.start <= token.end <= len(self.text) for token in self.tokens):
            raise ValueError("a token is outside the text; check its offsets")
        return self


class ExplanationsItem(Message):
    """One of several items. A missing field takes the request's value."""

    text: InputText | None = Field(default=None, description="the text that is judged")
    premise: InputText | None = None
    hypothesis: InputText | None = None
    scenario: InputText | None = None
    question: InputText | None = None
    target_label: Annotated[str | None, Parameter] = Field(
        default=None, min_length=1, max_length=500, description="the label to explain"
    )
    answer: Annotated[ExplanationsAnswer | None, Input] = Field(
        default=None, description="your own answer instead of `model`"
    )
    gold: MetadataValue | None = Field(default=None, min_length=1, description="the gold label")
    metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict,
        max_length=MOST_METADATA,
        description="added to the request's metadata",
    )


def fault_of_item(
    number: int, item: ExplanationsItem | None, path: Place, message: str
) -> tuple[Place, str]:
    """Return the location and message of one job's validation error in a request for several jobs.
    The location begins with `items[number]`. If the field is shared by all items, the message
    begins with `items[number]` instead."""
    if item is None:
        return path, message
    if not path or path[0] in ExplanationsItem.model_fields:
        return ("items", number, *path), message
    return path, f"items[{number}]: {message}"
