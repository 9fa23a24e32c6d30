"""An explanation split into fields: decision, quotes, target groups, reasons, text. Metric requests
have these fields. A model that is asked to explain gets them as a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from shared.contracts.messages import MAX_TEXT, Message

MOST_VALUES = 100  # of a list
LONGEST_DECISION = 60
FieldName = Literal["text", "reasons", "quotes", "target_groups", "decision"]
FieldText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)]
FieldTexts = Annotated[
    tuple[FieldText, ...],
    Field(max_length=MOST_VALUES),
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
]  # a list, as strict validation meets it behind another validator

# What stands around a value where the fields are written out, in the order of the lines.
WRITTEN: dict[FieldName, tuple[str, str]] = {
    "text": ("", ""),
    "reasons": ("", ""),
    "quotes": ("Quote: \u201c", "\u201d"),
    "target_groups": ("Target group: ", ""),
    "decision": ("Decision: ", ""),
}


class ExplanationFields(Message):
    """An explanation as fields. An absent field is read from `text` and `reasons`; an empty list
    says that there is none."""

    decision: str | None = Field(
        default=None,
        max_length=LONGEST_DECISION,
        examples=["hateful"],
        description="The decision: one of the labels to choose from, and nothing else.",
    )
    quotes: FieldTexts | None = Field(
        default=None,
        examples=[["are ruining our town"]],
        description="The words of the post that the decision rests on. Each one is copied from the "
        "post exactly as it stands there. Empty if the decision rests on no words.",
    )
    target_groups: FieldTexts | None = Field(
        default=None,
        examples=[["immigrants"]],
        description="The groups of people that the post attacks, one name each. Empty if it "
        "attacks no group.",
    )
    reasons: FieldTexts | None = Field(
        default=None,
        examples=[["The post blames a whole group for what goes wrong."]],
        description="The reasons for the decision, one sentence each. No reason repeats another.",
    )
    text: str | None = Field(
        default=None,
        max_length=MAX_TEXT,
        description="The explanation in a few sentences, as a person would read it.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if all(getattr(self, name) is None for name in WRITTEN):
            raise ValueError(
                f"the explanation is empty; give at least one of the fields {', '.join(WRITTEN)}"
            )
        if len(self.written) > MAX_TEXT:
            raise ValueError(
                f"the explanation has more than {MAX_TEXT:,} characters in all; shorten it"
            )
        return self

    def values(self) -> Iterator[tuple[FieldName, str]]:
        """Yield every string with the name of its field, in the order of the text."""
        for name in WRITTEN:
            content = getattr(self, name)
            values = (content,) if isinstance(content, str) else content or ()
            yield from ((name, value) for value in values if value)

    @property
    def written(self) -> str:
        """Return the fields as lines of text. The offsets of evidence refer to this text."""
        return "\n".join(value.join(WRITTEN[name]) for name, value in self.values())

    @property
    def is_complete(self) -> bool:
        """Return True if decision and target groups are given."""
        return bool(self.decision) and self.target_groups is not None

    @property
    def prose(self) -> str:
        """Return the values of `text` and `reasons`, one per line."""
        return "\n".join(value for name, value in self.values() if name in ("text", "reasons"))

    def spans(self, name: FieldName) -> list[tuple[int, int]]:
        """Return the (start, end) offsets of a field's values in `written`."""
        spans, position = [], 0
        for field, value in self.values():
            before, after = WRITTEN[field]
            start = position + len(before)
            position = start + len(value) + len(after) + 1
            if field == name:
                spans.append((start, start + len(value)))
        return spans


def fields_in(text: str) -> ExplanationFields | None:
    """Parse a text that is a JSON object of these fields, else return None."""
    json = text.strip()
    if json.startswith("```") and json.endswith("```"):
        json = json.removesuffix("```").partition("\n")[2].strip()
    if not (json.startswith("{") and json.endswith("}")):
        return None
    try:
        return ExplanationFields.model_validate_json(json)
    except ValidationError:
        return None


def _taken_as_fields(sent: Any, info: ValidationInfo) -> Any:
    """Parse a JSON string into fields in variant `robust` only."""
    if not isinstance(sent, str) or info.data.get("variant", "robust") != "robust":
        return sent
    return fields_in(sent) or sent


def _shape(sent: Any) -> str:
    return "fields" if isinstance(sent, dict | ExplanationFields) else "string"


# A text, or fields. A string that is a JSON object of the schema is taken as the fields.
Explanation = Annotated[
    Annotated[Annotated[str, Field(max_length=MAX_TEXT)], Tag("string")]
    | Annotated[ExplanationFields, Tag("fields")],
    Discriminator(_shape),
    BeforeValidator(_taken_as_fields),
]


def written_out(explanation: str | ExplanationFields) -> str:
    """Return the explanation as one text."""
    return explanation if isinstance(explanation, str) else explanation.written


def schema_for_models() -> dict[str, Any]:
    """Return the JSON schema for models. Every field is required, as servers demand."""
    properties: dict[str, Any] = {}
    for name in ("text", "reasons", "quotes", "target_groups", "decision"):
        field = ExplanationFields.model_fields[name]
        is_list = name in ("reasons", "quotes", "target_groups")
        kind = {"type": "array", "items": {"type": "string"}} if is_list else {"type": "string"}
        properties[name] = {"description": field.description, **kind}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "explanation",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
