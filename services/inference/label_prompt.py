"""A causal model's own prompt, as its entry states it: rendered around an example.

What users sent is put in after the chat template was rendered, so that neither the template nor a
placeholder ever reads it; its place is known to the character, and special tokens in it stay plain
text (`services.inference.tokenization.Encoder`). Source: specs "models" §1.3.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import jinja2

from shared.models.calls import Example, Part
from shared.models.labels import Task
from shared.models.prompt_table import (
    PromptTable,
    asked_for,
    prompt_turns,
    raw_text,
    sent_texts,
)

PARTS: dict[str, Part] = {"text": "text", "premise": "text", "hypothesis": "text_pair"}
SLOT = re.compile("\ue000([a-z]+)\ue001")  # private use: stands for a user's text meanwhile


@dataclass(frozen=True)
class Inserted:
    """Where a user's text stands in a prompt: characters [start, end)."""

    part: Part
    start: int
    end: int


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt with the user's texts in place. special: whether the tokenizer adds its own."""

    text: str
    inserted: tuple[Inserted, ...]
    special: bool


class LabelPrompt:
    """One model's prompt. Raises ValueError for one that cannot be rendered."""

    def __init__(self, table: PromptTable, tokenizer: Any, task: Task) -> None:
        if table.verbalizers is None:
            raise ValueError("prompt.verbalizers: say which strings stand for which label")
        self.verbalizers: Mapping[str, tuple[str, ...]] = table.verbalizers
        self._table = table
        self._tokenizer = tokenizer
        self._alone = Lock()
        self._turns = prompt_turns(table, task)
        self._is_chat = (table.style or ("chat" if tokenizer.chat_template else "raw")) == "chat"
        if self._is_chat and not tokenizer.chat_template:
            raise ValueError("prompt.style: its tokenizer has no chat template")
        if (table.system or table.after) and not self._is_chat:
            raise ValueError("prompt.system, prompt.after: its tokenizer has no chat template")
        self._slots = asked_for(self._turns)
        self._frame = self._framed()
        if {match[1] for match in SLOT.finditer(self._frame)} != self._slots:
            raise ValueError("prompt: its chat template changes what is put into it")
        empty = Example(text="", text_pair=None if "text" in self._slots else "")
        self.sha256 = hashlib.sha256(self.around(empty).text.encode()).hexdigest()

    def around(self, example: Example) -> RenderedPrompt:
        """The prompt for one example. Raises BadInput for a pair where it asks about one text, and
        the other way round."""
        values = sent_texts(example, self._slots)
        text, inserted, begin = "", [], 0
        for match in SLOT.finditer(self._frame):
            text += self._frame[begin : match.start()]
            value = values[match[1]]
            inserted.append(Inserted(PARTS[match[1]], len(text), len(text) + len(value)))
            text, begin = text + value, match.end()
        text += self._frame[begin:]
        return RenderedPrompt(text, tuple(inserted), special=self._adds_special)

    @property
    def reasons(self) -> bool:
        """Whether the model writes its reasoning before its label."""
        return self._table.thinking == "before"

    @property
    def opens_reasoning(self) -> bool:
        """Whether the chat template itself has opened it."""
        return self._frame.rstrip().endswith("<think>")

    @property
    def table(self) -> PromptTable:
        """As the entry and the request have it."""
        return self._table

    @property
    def _adds_special(self) -> bool:
        """A chat template writes its own first token, and so do some published prompts."""
        first = self._tokenizer.bos_token
        return not (self._is_chat or (first is not None and self._frame.startswith(first)))

    def _framed(self) -> str:
        """The prompt with slots in place of what users send."""
        slots = {name: f"\ue000{name}\ue001" for name in self._slots}
        turns = [{"role": one.role, "content": one.written(slots)} for one in self._turns]
        filled = self._rendered(turns) if self._is_chat else raw_text(self._turns, slots)
        if self.reasons:  # its prefix follows the reasoning
            return filled
        prefix = self._table.answer_prefix
        return filled if prefix and filled.endswith(prefix) else filled + prefix

    def _rendered(self, turns: Sequence[dict[str, str]]) -> str:
        try:
            with self._alone:
                text: str = self._tokenizer.apply_chat_template(
                    turns,
                    tokenize=False,
                    add_generation_prompt=self._table.add_generation_prompt,
                    **self._table.template_kwargs,
                )
        except (jinja2.TemplateError, TypeError) as error:
            raise ValueError(f"prompt: its chat template refuses it: {error}") from error
        return text
