"""Prompts that make a model decide and explain: versioned data, and the caller's own.

A prompt is a file of `prompts`, `NAME.vVERSION.toml`; a changed byte is a new version, and old ones
stay. What a request brings is inserted once and never expanded again. Source: specs "models" §7.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from shared.contracts.calls import Prompt, Turn
from shared.contracts.elicitation import INPUTS, PLACEHOLDERS, ExplanationsOwnPrompt, Style
from shared.contracts.explanation_fields import schema_for_models
from shared.contracts.messages import Message
from shared.contracts.prompt_table import escape_template, parse_template

FOLDER = Path(__file__).parent
LANGUAGES = {"en": "English", "zh": "Chinese", "ko": "Korean"}  # those of Table 8
OTHER_LANGUAGE = "the language of the text"
OWN = "own"  # the name of a prompt that came with its request


class PromptExample(Message):
    """A demonstration: what was asked about, and the answer."""

    values: dict[str, str]
    answer: Annotated[str, StringConstraints(strip_whitespace=True)]


class ElicitationPrompt(ExplanationsOwnPrompt):
    """A prompt as its file has it, or as it was sent. sha256: of the file, or of its fields."""

    name: str
    version: str | None
    sha256: str
    source: str
    deviations: tuple[str, ...] = ()
    licence: str = ""
    max_tokens: int
    structured: bool = False  # whether it asks for the explanation's fields as JSON
    shots: tuple[PromptExample, ...] = ()

    @property
    def answer_schema(self) -> str | None:
        """The JSON schema that an answer must fit, where the server can constrain it."""
        return json.dumps(schema_for_models()) if self.structured else None

    @property
    def placeholders(self) -> frozenset[str]:
        found = (
            *parse_template(self.user, PLACEHOLDERS),
            *parse_template(self.system or "", PLACEHOLDERS),
        )
        return frozenset(piece.inserted for piece in found if piece.inserted)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in INPUTS if name in self.placeholders)

    def values(
        self, inputs: Mapping[str, str], policy: str | None, label: str | None, language: str
    ) -> Mapping[str, str]:
        """Placeholder → what stands in its place. language: BCP 47."""
        return {
            **inputs,
            "policy": policy or (self.policy or "").strip(),
            "label": label or "",
            "labels": ", ".join(self.labels),
            "language": LANGUAGES.get(language.partition("-")[0], OTHER_LANGUAGE),
        }

    def longest(self, values: Mapping[str, str], style: Style) -> int:
        """Characters of the longest turn, and of the one text that `raw` makes of all, filled in
        as a template: a brace counts twice. Nothing is filled in for that."""
        sizes = {name: len(escape_template(value)) for name, value in values.items()}
        turns = [_filled_size(one, sizes) for one in (self.system, self.user) if one]
        return sum(turns) + 2 * len(turns) if style == "raw" else max(turns)

    def turns(self, values: Mapping[str, str], shots: int) -> tuple[Turn, ...]:
        """The conversation, with so many demonstrations before the question."""
        shown: list[Turn] = []
        for shot in self.shots[:shots]:
            asked = fill_template(self.user, {**values, **shot.values})
            shown += (Turn(role="user", content=asked), Turn(role="assistant", content=shot.answer))
        system = fill_template(self.system, values) if self.system else ""
        first = (Turn(role="system", content=system),) if system else ()
        return (*first, *shown, Turn(role="user", content=fill_template(self.user, values)))


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The template with the values of its placeholders."""
    return "".join(
        piece.text if piece.inserted is None else values[piece.inserted]
        for piece in parse_template(template, PLACEHOLDERS)
    )


def _filled_size(template: str, sizes: Mapping[str, int]) -> int:
    """sizes: placeholder → characters of its value."""
    return sum(
        sizes[piece.inserted] if piece.inserted else len(escape_template(piece.text))
        for piece in parse_template(template, PLACEHOLDERS)
    )


def as_prompt(turns: Sequence[Turn], style: Style) -> Prompt:
    """A conversation; or, for a model without a chat template, the same as one text."""
    if style == "chat":
        return Prompt(turns=tuple(turns))
    return Prompt(text="\n\n".join(turn.content for turn in turns) + "\n\n")


@lru_cache(maxsize=1)
def load_prompts() -> dict[tuple[str, str], ElicitationPrompt]:
    """(name, version) → prompt, in the order of names and versions."""
    found = [_read(file) for file in sorted(FOLDER.glob("prompts/*.toml"))]
    return {(one.name, one.version or ""): one for one in found}


def get_prompt(named: str) -> ElicitationPrompt:
    """`NAME@VERSION`, or the latest version of a name. Raises ValueError for an unknown one."""
    name, _, version = named.partition("@")
    versions = [one for one in load_prompts().values() if one.name == name]
    wanted = [one for one in versions if version in ("", one.version)]
    if not wanted:
        known = ", ".join(f"{name}@{number}" for name, number in load_prompts())
        raise ValueError(f"there is no prompt {named!r}; there are: {known}")
    return max(wanted, key=lambda one: int(one.version or 0))


def custom_prompt(sent: ExplanationsOwnPrompt, max_tokens: int) -> ElicitationPrompt:
    """A caller's, with a hash of what it says."""
    fields = sent.model_dump(mode="json")
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return ElicitationPrompt(
        **fields, name=OWN, version=None, sha256=sha256, source="the request", max_tokens=max_tokens
    )


@lru_cache(maxsize=1)
def load_policies() -> dict[str, str]:
    """Name → what a prompt says of this policy."""
    held: dict[str, str] = tomllib.loads((FOLDER / "policies.toml").read_text("utf-8"))
    return {name: text.strip() for name, text in held.items()}


def _read(file: Path) -> ElicitationPrompt:
    content = file.read_bytes()
    held = tomllib.loads(content.decode())
    return ElicitationPrompt(**held, sha256=hashlib.sha256(content).hexdigest())
