"""Explanations as a request names them: computed ones, and those that the caller brings.

Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from services.ice.spans import Attributed, Span
from shared.contracts import MAX_TEXT, Message, Word
from shared.models.calls import AttributionMethod

MethodName = Literal["attention", "gradient", "integrated_gradients", "lime"]
Method = MethodName | AttributionMethod
Methods = Method | Annotated[tuple[Method, ...], Field(min_length=1, max_length=8)]
Spans = Annotated[tuple[Span, ...], Field(min_length=1, max_length=MAX_TEXT)]
Values = Annotated[tuple[Attributed, ...], Field(min_length=1, max_length=MAX_TEXT)]


class Brought(Message):
    """An explanation that the caller brings: a value a span, or spans alone."""

    name: Annotated[str, Word] = Field(
        pattern=r"^[\w.:+ -]{1,64}$",
        description="what to call it in the report; it stays where no text is kept",
    )
    attributions: Values | None = None
    rationale: Spans | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.attributions is None) == (self.rationale is None):
            raise ValueError("give either `attributions` or `rationale`")
        return self


def label(method: Method) -> str:
    """What a computed explanation is called: its name, and its options where they are not usual."""
    if not isinstance(method, AttributionMethod):
        return method
    usual = AttributionMethod(name=method.name)
    options = [
        str(getattr(method, option))
        for option in ("attention", "gradient", "steps", "samples", "seed")
        if getattr(method, option) != getattr(usual, option)
    ]
    return ":".join([method.name, *options])
