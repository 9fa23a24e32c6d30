"""An example as it is put to a language model behind a server: its prompt, and each label's words.

By the example's own template, else by the entry's `[models.prompt]`. What a user sent is inserted
last and never expanded again. Source: specs "models" §1.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.errors import BadInput
from shared.models.calls import Example, Prompt, Turn
from shared.models.entry import ModelEntry
from shared.models.labels import Task
from shared.models.prompt_table import PromptTable, filled

OWN_QUESTIONS: dict[Task, str] = {
    "hate": "Is the following text hateful? Answer with one of: {labels}.\n\n{text}",
    "nli": "Premise: {premise}\nHypothesis: {hypothesis}\n"
    "How does the premise relate to the hypothesis? Answer with one of: {labels}.",
    "sentiment": "What is the sentiment of the following text? Answer with one of: {labels}."
    "\n\n{text}",
    "free": "Which of these describes the following text: {labels}? Answer with one of them."
    "\n\n{text}",
}


@dataclass(frozen=True)
class Question:
    """prefix: what the model writes before its label."""

    prompt: Prompt
    verbalizers: Mapping[str, tuple[str, ...]]  # label → strings that stand for it
    prefix: str = ""

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
    table = entry.prompt if entry else None
    if table is None or table.verbalizers is None or entry is None:
        raise BadInput(
            "a causal model needs a template, or `[models.prompt]` with `verbalizers` in its entry",
            pointer="/template",
        )
    return _of_table(example, table, entry.task or "hate")


def _of_table(example: Example, table: PromptTable, task: Task) -> Question:
    words = table.verbalizers or {}
    values = {
        "text": example.text,
        "premise": example.text,
        "hypothesis": example.text_pair or "",
        "labels": ", ".join(own[0].strip() for own in words.values()),
        "language": "",
    }
    values["policy"] = _written(table.policy or "", values)
    user = _written(table.user or OWN_QUESTIONS[task], values)
    if table.style == "raw":
        return Question(_raw(user + table.answer_prefix), words)
    turns = [Turn.model_construct(role="user", content=user)]
    if table.system is not None:
        system = _written(table.system, values)
        turns.insert(0, Turn.model_construct(role="system", content=system))
    prompt = Prompt.model_construct(text=None, turns=tuple(turns), draw=None)
    return Question(prompt, words, table.answer_prefix)


def _written(template: str, values: Mapping[str, str]) -> str:
    return "".join(piece.text for piece in filled(template, values))


def _raw(text: str) -> Prompt:
    """Longer than a prompt of a request may be: a template comes on top."""
    return Prompt.model_construct(text=text, turns=None, draw=None)
