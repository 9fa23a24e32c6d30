"""Reads a text with a language model: the prompt file, the question, and the JSON of the answer. A
file has `name`, `version`, `system`, `user` and `max_tokens`. `{fence}` in it stands for a line
that is longer than any fence in the text, so that the text cannot close it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shared.contracts.calls import Prompt, Sampling, Turn
from shared.models.ports import PromptOfRequest
from shared.text.language import Obstacle

FENCE = "====="
UNREADABLE = Obstacle(
    "answer-unread", "the reader model did not answer with JSON of the required form"
)
Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReaderPrompt:
    """A prompt file. `sha256` is the hash of the file."""

    name: str  # with its version
    sha256: str
    system: str
    user: str
    max_tokens: int

    def question(
        self,
        place: int,
        model: str,
        text: str,
        put: Mapping[str, str],
        schema: Mapping[str, Any],
    ) -> PromptOfRequest:
        """Return the request for the completion of this prompt, with `text` inserted, at
        temperature 0. `put` maps placeholders in the prompt to replacements, which never change
        `text` itself."""
        fence = FENCE
        while fence in text:
            fence += "="
        head, _, tail = self.user.partition("{text}")
        for old, new in {**put, "{fence}": fence}.items():
            head, tail = head.replace(old, new), tail.replace(old, new)
        user = Turn(role="user", content=f"{head}{text}{tail}")
        sampling = Sampling(
            temperature=0,
            top_p=1,
            max_tokens=self.max_tokens,
            answer_schema=json.dumps(schema),
        )
        turns = (Turn(role="system", content=self.system), user)
        return PromptOfRequest(place, model, Prompt(turns=turns), sampling)


@lru_cache(maxsize=8)
def reader_prompt(file: Path, text: str) -> ReaderPrompt:
    """Read a prompt file. The placeholder `text` stands for the text to read."""
    content = file.read_bytes()
    table = tomllib.loads(content.decode())
    return ReaderPrompt(
        name=f"{table['name']}.v{table['version']}",
        sha256=hashlib.sha256(content).hexdigest(),
        system=table["system"].strip(),
        user=table["user"].strip().replace(text, "{text}"),
        max_tokens=int(table["max_tokens"]),
    )


def answer_in(text: str, shape: type[Answer]) -> Answer | None:
    """Return the JSON object of an answer, which may have text before and after it."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        return shape.model_validate_json(text[start : end + 1])
    except ValidationError:
        return None
