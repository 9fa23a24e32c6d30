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

from shared.errors import BadInput
from shared.models.calls import Example, Part
from shared.models.labels import Task
from shared.models.prompt_table import FROM_USERS, Piece, PromptTable, pieces, questions

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
        if table.thinking == "before" or table.shots is not None:
            raise ValueError("prompt: `thinking` and `shots` need a server: name it as openai:")
        self.verbalizers: Mapping[str, tuple[str, ...]] = table.verbalizers
        self._table = table
        self._tokenizer = tokenizer
        self._alone = Lock()
        user = table.user or questions(task)
        self._is_chat = (table.style or ("chat" if tokenizer.chat_template else "raw")) == "chat"
        if self._is_chat and not tokenizer.chat_template:
            raise ValueError("prompt.style: its tokenizer has no chat template")
        self._slots = {piece.inserted for piece in pieces(user) if piece.is_foreign}
        self._frame = self._framed(user)
        if {match[1] for match in SLOT.finditer(self._frame)} != self._slots:
            raise ValueError("prompt: its chat template changes what is put into it")
        empty = Example(text="", text_pair=None if "text" in self._slots else "")
        self.sha256 = hashlib.sha256(self.around(empty).text.encode()).hexdigest()

    def around(self, example: Example) -> RenderedPrompt:
        """The prompt for one example. Raises BadInput for a pair where it asks about one text, and
        the other way round."""
        values = {"text": example.text}
        if example.text_pair is not None:
            values = {"premise": example.text, "hypothesis": example.text_pair}
        if missing := self._slots - values.keys():
            wanted = "one text" if "text" in missing else "pairs: send `text_pair`"
            raise BadInput(f"the model's prompt asks about {wanted}", pointer="/text_pair")
        text, inserted, begin = "", [], 0
        for match in SLOT.finditer(self._frame):
            text += self._frame[begin : match.start()]
            value = values[match[1]]
            inserted.append(Inserted(PARTS[match[1]], len(text), len(text) + len(value)))
            text, begin = text + value, match.end()
        text += self._frame[begin:]
        return RenderedPrompt(text, tuple(inserted), special=self._adds_special)

    @property
    def _adds_special(self) -> bool:
        """A chat template writes its own first token, and so do some published prompts."""
        first = self._tokenizer.bos_token
        return not (self._is_chat or (first is not None and self._frame.startswith(first)))

    def _framed(self, user: str) -> str:
        """The prompt with slots in place of what users send."""
        filled = self._filled(user)
        if self._is_chat:
            system = [] if self._table.system is None else [("system", self._table.system)]
            turns = [{"role": role, "content": self._filled(said)} for role, said in system]
            filled = self._rendered([*turns, {"role": "user", "content": filled}])
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
        except jinja2.TemplateError as error:
            raise ValueError(f"prompt: its chat template refuses it: {error}") from error
        return text

    def _filled(self, template: str) -> str:
        return "".join(map(self._written, pieces(template)))

    def _written(self, piece: Piece) -> str:
        if piece.inserted is None:
            return piece.text
        if piece.inserted in FROM_USERS:
            return f"\ue000{piece.inserted}\ue001"
        if piece.inserted == "policy":
            return self._filled(self._table.policy or "")
        if piece.inserted == "labels":
            return ", ".join(self.verbalizers)
        raise ValueError(f"prompt: nothing is known here for {{{piece.inserted}}}")
