"""An example as it is put to a language model behind a server: its prompt, and each label's words.

By the example's own template, else by the entry's `[models.prompt]`. What a user sent is inserted
last and never expanded again. Source: specs "models" §1.3.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from shared.errors import BadInput
from shared.models.calls import Example, Prompt, Turn
from shared.models.entry import ModelEntry
from shared.models.labels import Task
from shared.models.prompt_table import (
    NOT_ALLOWED,
    PromptKeys,
    PromptTable,
    asked_for,
    first_reason,
    overridden,
    prompt_turns,
    raw_text,
    sent_texts,
)

OF_THE_SERVER = frozenset({"template_kwargs", "add_generation_prompt"})


@dataclass(frozen=True)
class Question:
    """prefix: what the model writes before its label."""

    prompt: Prompt
    verbalizers: Mapping[str, tuple[str, ...]]  # label → strings that stand for it
    prefix: str = ""
    table: PromptTable | None = None  # that it was made by

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of every answer's columns."""
        return tuple(self.verbalizers)

    @property
    def strings(self) -> list[tuple[str, str]]:
        """(label, what would be written for it) pairs."""
        return [(label, one) for label, own in self.verbalizers.items() for one in own]


def question(example: Example, entry: ModelEntry | None = None) -> Question:
    """Raises BadInput where neither the example nor the entry says how the model is asked."""
    if example.template is not None:
        if example.text_pair is not None:
            raise BadInput("a causal model reads no pairs: use the template", pointer="/text_pair")
        template = example.template
        text = template.prefix + example.text + template.suffix
        words = {label: (word,) for label, word in template.verbalizers.items()}
        return Question(_raw(text), words)
    table = _table(example, entry)
    if table is None or table.verbalizers is None or entry is None:
        raise BadInput(
            "a causal model needs a template, or `[models.prompt]` with `verbalizers` in its entry",
            pointer="/template",
        )
    return _of_table(example, table, entry.task or "hate")


def _table(example: Example, entry: ModelEntry | None) -> PromptTable | None:
    """The entry's, with what the example says in its place. Raises BadInput."""
    if entry is None or example.prompt is None:
        return entry.prompt if entry else None
    if not entry.allow_request_prompt:
        raise BadInput(NOT_ALLOWED.format(entry.name), pointer="/prompt")
    if stated := sorted(example.prompt.model_fields_set & OF_THE_SERVER):
        raise BadInput(
            f"{stated[0]!r} of a model behind a server stands in its entry", pointer="/prompt"
        )
    try:
        return overridden(entry.prompt, example.prompt)
    except ValueError as error:
        raise BadInput(f"prompt: {first_reason(error)}", pointer="/prompt") from error


def _of_table(example: Example, table: PromptTable, task: Task) -> Question:
    try:
        turns = prompt_turns(table, task)
    except ValueError as error:
        raise BadInput(str(error), pointer="/model") from error
    texts, words = sent_texts(example, asked_for(turns)), table.verbalizers or {}
    if table.style == "raw":
        return Question(_raw(raw_text(turns, texts) + table.answer_prefix), words, "", table)
    said = [Turn.model_construct(role=one.role, content=one.written(texts)) for one in turns]
    prompt = Prompt.model_construct(text=None, turns=tuple(said), draw=None)
    return Question(prompt, words, table.answer_prefix, table)


def prompt_sha256(entry: ModelEntry, own: PromptKeys | None = None) -> str | None:
    """Of the turns around an empty text and the answer's prefix, as JSON; None: it has no prompt of
    its own. How its server writes them out is the server's affair. Raises BadInput."""
    table = _table(Example(text="", prompt=own), entry)
    if table is None or table.verbalizers is None:
        return None
    try:
        turns = prompt_turns(table, entry.task or "hate")
    except ValueError:  # whoever asks is told
        return None
    empty = dict.fromkeys(asked_for(turns), "")
    said = [[turn.role, turn.written(empty)] for turn in turns]
    told = [said, table.answer_prefix, table.template_kwargs]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _raw(text: str) -> Prompt:
    """Longer than a prompt of a request may be: a template comes on top."""
    return Prompt.model_construct(text=text, turns=None, draw=None)
