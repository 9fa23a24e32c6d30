"""Prompts that make a model decide and explain, from versioned files or from requests. A prompt is
a file `prompts/NAME.vVERSION.toml`. Each change is a new version, and old versions remain.
Placeholders inside a request's texts are not expanded."""

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
LANGUAGES = {"en": "English", "zh": "Chinese", "ko": "Korean"}  # the languages of Table 8
OTHER_LANGUAGE = "the language of the text"
OWN = "own"  # name of a prompt that a request defines


class PromptExample(Message):
    """A demonstration: the inputs and the answer."""

    values: dict[str, str]
    answer: Annotated[str, StringConstraints(strip_whitespace=True)]


class ElicitationPrompt(ExplanationsOwnPrompt):
    """A prompt from a file or from a request."""

    name: str
    version: str | None
    sha256: str  # of the file, or of the request's fields
    source: str
    deviations: tuple[str, ...] = ()
    licence: str = ""
    max_tokens: int
    structured: bool = False  # asks for the explanation's fields as JSON
    shots: tuple[PromptExample, ...] = ()

    @property
    def answer_schema(self) -> str | None:
        """The JSON schema of an answer, for servers that can enforce one."""
        return json.dumps(schema_for_models()) if self.structured else None

    @property
    def placeholders(self) -> frozenset[str]:
        pieces = (
            *parse_template(self.user, PLACEHOLDERS),
            *parse_template(self.system or "", PLACEHOLDERS),
        )
        return frozenset(piece.inserted for piece in pieces if piece.inserted)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in INPUTS if name in self.placeholders)

    def values(
        self, inputs: Mapping[str, str], policy: str | None, label: str | None, language: str
    ) -> Mapping[str, str]:
        """Return a mapping from each placeholder to its value. `language` is a BCP 47 tag."""
        return {
            **inputs,
            "policy": policy or (self.policy or "").strip(),
            "label": label or "",
            "labels": ", ".join(self.labels),
            "language": LANGUAGES.get(language.partition("-")[0], OTHER_LANGUAGE),
        }

    def longest(self, values: Mapping[str, str], style: Style) -> int:
        """Return the number of characters of the longest turn. For the style `raw`, return the
        number for all turns together. Braces count twice, since the filled template escapes them.
        """
        sizes = {name: len(escape_template(value)) for name, value in values.items()}
        turns = [
            sum(
                sizes[piece.inserted] if piece.inserted else len(escape_template(piece.text))
                for piece in parse_template(template, PLACEHOLDERS)
            )
            for template in (self.system, self.user)
            if template
        ]
        return sum(turns) + 2 * len(turns) if style == "raw" else max(turns)

    def turns(self, values: Mapping[str, str], shots: int) -> tuple[Turn, ...]:
        """Return the conversation, with the first `shots` demonstrations before the question."""
        turns: list[Turn] = []
        if self.system and (system := fill_template(self.system, values)):
            turns.append(Turn(role="system", content=system))
        for shot in self.shots[:shots]:
            question = fill_template(self.user, {**values, **shot.values})
            turns.append(Turn(role="user", content=question))
            turns.append(Turn(role="assistant", content=shot.answer))
        return (*turns, Turn(role="user", content=fill_template(self.user, values)))


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Return the template with the values of its placeholders."""
    return "".join(
        piece.text if piece.inserted is None else values[piece.inserted]
        for piece in parse_template(template, PLACEHOLDERS)
    )


def as_prompt(turns: Sequence[Turn], style: Style) -> Prompt:
    """Return the turns as a conversation, or as one text for a model without a chat template."""
    if style == "chat":
        return Prompt(turns=tuple(turns))
    return Prompt(text="\n\n".join(turn.content for turn in turns) + "\n\n")


@lru_cache(maxsize=1)
def load_prompts() -> dict[tuple[str, str], ElicitationPrompt]:
    """Return a mapping from (name, version) to the prompt, sorted by name and version."""
    prompts = {}
    for file in sorted(FOLDER.glob("prompts/*.toml")):
        content = file.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        prompt = ElicitationPrompt(**tomllib.loads(content.decode()), sha256=sha256)
        prompts[prompt.name, prompt.version or ""] = prompt
    return prompts


def get_prompt(reference: str) -> ElicitationPrompt:
    """Return the prompt `NAME@VERSION`, or the latest version of `NAME`. Raises ValueError if there
    is no such prompt."""
    name, _, version = reference.partition("@")
    versions = [
        prompt
        for prompt in load_prompts().values()
        if prompt.name == name and version in ("", prompt.version)
    ]
    if not versions:
        names = ", ".join(f"{name}@{number}" for name, number in load_prompts())
        raise ValueError(f"there is no prompt {reference!r}; choose one of: {names}")
    return max(versions, key=lambda prompt: int(prompt.version or 0))


def custom_prompt(prompt: ExplanationsOwnPrompt, max_tokens: int) -> ElicitationPrompt:
    """Return the request's own prompt, identified by a hash of its fields."""
    fields = prompt.model_dump(mode="json")
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return ElicitationPrompt(
        **fields, name=OWN, version=None, sha256=sha256, source="the request", max_tokens=max_tokens
    )


@lru_cache(maxsize=1)
def load_policies() -> dict[str, str]:
    """Return a mapping from each policy's name to its text."""
    policies: dict[str, str] = tomllib.loads((FOLDER / "policies.toml").read_text("utf-8"))
    return {name: text.strip() for name, text in policies.items()}
