"""`[models.prompt]`: how a causal model or a chat server is asked for a label.

Data and the checks that need no tokenizer. A template's placeholders are expanded once, in pieces,
so that what a user sent is never expanded again and can be told from the template.
Source: specs "models" §1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from shared.contracts import Message

Template = Annotated[str, StringConstraints(min_length=1, max_length=50_000)]
Verbalizer = Annotated[str, StringConstraints(min_length=1, max_length=200)]
LabelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
PLACEHOLDERS = ("text", "premise", "hypothesis", "policy", "labels", "language")
FROM_USERS = frozenset({"text", "premise", "hypothesis"})
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Piece:
    """A stretch of a template: its own words, or (`inserted`) the value of this placeholder."""

    text: str
    inserted: str | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether a user wrote it: its special tokens are plain text."""
        return self.inserted in FROM_USERS


def pieces(template: str) -> tuple[Piece, ...]:
    """The template's words and placeholders (`text` is then empty), in order.

    `{{` and `}}` are braces. Raises ValueError for a placeholder that there is not.
    """
    found: list[Piece] = []
    place = 0
    for match in _FIELD.finditer(template):
        found.append(Piece(template[place : match.start()]))
        place = match.end()
        written, name = match.group(0), match.group(1)
        if written in ("{{", "}}"):
            found.append(Piece(written[0]))
        elif name in PLACEHOLDERS:
            found.append(Piece("", name))
        else:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise ValueError(f"{written} is no placeholder: {known}; a brace is written {{{{")
    found.append(Piece(template[place:]))
    return tuple(piece for piece in found if piece.text or piece.inserted)


def filled(template: str, values: Mapping[str, str]) -> tuple[Piece, ...]:
    """The template with its placeholders' values. Raises ValueError where one has none."""
    found = []
    for piece in pieces(template):
        if piece.inserted is None:
            found.append(piece)
        elif piece.inserted in values:
            found.append(Piece(values[piece.inserted], piece.inserted))
        else:
            raise ValueError(f"nothing is there for {{{piece.inserted}}}")
    return tuple(found)


def placeholders(template: str | None) -> frozenset[str]:
    """The placeholders that a template has."""
    return frozenset(piece.inserted for piece in pieces(template or "") if piece.inserted)


class PromptTable(Message):
    """How the model is asked, and which strings stand for which label."""

    style: Literal["chat", "raw"] | None = Field(
        default=None, description="`chat` if there is a chat template; `raw`: `user` is all"
    )
    system: Template | None = None
    policy: Template | None = Field(default=None, description="what `{policy}` stands for")
    policy_file: str | None = Field(default=None, min_length=1, description="beside the file")
    user: Template | None = Field(default=None, description="else the task's own question")
    answer_prefix: str = Field(
        default="", max_length=1_000, description="what the model writes before its label"
    )
    verbalizers: dict[LabelName, Annotated[tuple[Verbalizer, ...], Field(min_length=1)]] | None = (
        Field(default=None, min_length=2, description="label → strings that stand for it")
    )
    template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="handed to the chat template"
    )
    add_generation_prompt: bool = True
    thinking: Literal["off", "before"] = Field(
        default="off", description="`before`: reasoning is written first"
    )
    reasoning_tokens: int = Field(default=512, ge=1, le=32_768)
    draws: int = Field(default=1, ge=1, le=64, description="of the reasoning; P is their mean")
    shots: str | None = Field(
        default=None, min_length=1, description="JSON Lines of `text` and `label`, beside the file"
    )

    @field_validator("system", "policy", "user")
    @classmethod
    def _placeholders_are_known(cls, template: str | None) -> str | None:
        if template is not None:
            pieces(template)
        return template

    @model_validator(mode="after")
    def _policy_is_given_once(self) -> Self:
        if self.policy is not None and self.policy_file is not None:
            raise ValueError("`policy` and `policy_file`: give one of the two")
        if "policy" in placeholders(self.policy):
            raise ValueError("`policy` cannot hold {policy}")
        asked = placeholders(self.user) | placeholders(self.system)
        if "policy" in asked and self.policy is None and self.policy_file is None:
            raise ValueError("{policy} is used, and neither `policy` nor `policy_file` is given")
        return self

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        for name, template in (("system", self.system), ("policy", self.policy)):
            if held := sorted(placeholders(template) & FROM_USERS):
                raise ValueError(f"`{name}` must not hold {{{held[0]}}}: users' text is for `user`")
        if self.user is not None and not placeholders(self.user) & FROM_USERS:
            raise ValueError("`user` must hold {text}, or {premise} and {hypothesis}")
        if self.style == "raw" and self.system is not None:
            raise ValueError("style `raw` has no `system`: `user` is the whole prompt")
        if self.draws > 1 and self.thinking == "off":
            raise ValueError("`draws` needs thinking = 'before': else every draw is the same")
        return self

    @model_validator(mode="after")
    def _verbalizers_differ(self) -> Self:
        if clash := next(clashes(self.verbalizers or {}), None):
            raise ValueError(f"label-tokens-clash: {clash}")
        return self


def clashes(verbalizers: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Strings of one label that are, or begin, a string of another's; each as a sentence."""
    strings = [(label, string) for label, own in verbalizers.items() for string in own]
    for label, string in strings:
        for other, longer in strings:
            if label != other and longer.startswith(string):
                relation = "is" if longer == string else "begins"
                yield f"{string!r} of {label!r} {relation} {longer!r} of {other!r}"
