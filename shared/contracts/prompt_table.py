"""`[models.prompt]`: how a causal model or a chat server is asked for a label.

Holds the table, checks that need no tokenizer, and the table's turns, which a tokenizer or server
encodes. A template's placeholders are expanded once, in pieces. User input is therefore never
expanded again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from shared.contracts.labels import CANONICAL, Task
from shared.contracts.messages import MAX_TEXT, Message
from shared.contracts.request_cost import words_of
from shared.contracts.validation_messages import dotted, first_fault, plain

Template = Annotated[str, StringConstraints(min_length=1, max_length=50_000)]
Verbalizer = Annotated[str, StringConstraints(min_length=1, max_length=200)]
CategoryName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
LabelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
PLACEHOLDERS = ("text", "premise", "hypothesis", "policy", "labels", "language")
FROM_USERS = frozenset({"text", "premise", "hypothesis"})
LANGUAGE = "language"  # of the text as it was sent, BCP 47: a variation of it has the same
OF_EXAMPLES = FROM_USERS | {LANGUAGE}
NOT_ALLOWED = "the entry of {!r} does not allow a request to send a `prompt` (allow_request_prompt)"
NO_LABELS = (
    "the model has no labels, which HateXScore, FTC and ICE need. Add `verbalizers` under "
    "[models.prompt] to its entry, or a preset; or send a `prompt` in the request"
)
# where a metric is refused for its judge, and not for a prompt that its request brought
OF_THE_MODEL = (None, "/model", "/template", "/template/verbalizers", "/text", "/text_pair")
NO_VARIABLES = {  # what else Transformers' `apply_chat_template` takes
    "add_generation_prompt", "chat_template", "continue_final_message", "conversation",
    "max_length", "messages", "padding", "return_assistant_tokens_mask", "return_dict",
    "return_tensors", "tokenize", "tokenizer_kwargs", "truncation",
}  # fmt: skip
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")

_ANSWER = "Answer with one of: {labels}.\nAnswer:"
QUESTIONS = {
    "hate": "Post: {text}\n\nDoes this post attack or demean people because of who they are: their "
    f"origin, religion, sex, sexual orientation or disability? {_ANSWER}",
    "nli": "Premise: {premise}\nHypothesis: {hypothesis}\n\nHow does the premise relate to the "
    f"hypothesis? {_ANSWER}",
    "sentiment": f"Text: {{text}}\n\nWhat is its sentiment? {_ANSWER}",
    "free": f"Text: {{text}}\n\nWhich of these describes it? {_ANSWER}",
}


@dataclass(frozen=True)
class TemplatePart:
    """A part of a template: literal words, or the value of placeholder `inserted`."""

    text: str
    inserted: str | None = None

    @property
    def is_of_example(self) -> bool:
        """Return True if the text comes from the example. Special tokens in such text are treated
        as plain text."""
        return self.inserted in OF_EXAMPLES


def parse_template(template: str, known: Sequence[str] = PLACEHOLDERS) -> tuple[TemplatePart, ...]:
    """Split a template into words and placeholders (with empty `text`), in order. `{{` and `}}` are
    braces. Raises ValueError for an unknown placeholder."""
    parts: list[TemplatePart] = []
    position = 0
    for match in _FIELD.finditer(template):
        parts.append(TemplatePart(template[position : match.start()]))
        position = match.end()
        written, name = match.group(0), match.group(1)
        if written in ("{{", "}}"):
            parts.append(TemplatePart(written[0]))
        elif name in known:
            parts.append(TemplatePart("", name))
        else:
            listed = ", ".join(f"{{{name}}}" for name in known)
            raise ValueError(
                f"{written} is not a placeholder; use one of {listed}. For a literal brace "
                "write {{ or }}"
            )
    parts.append(TemplatePart(template[position:]))
    return tuple(piece for piece in parts if piece.text or piece.inserted)


def escape_template(text: str) -> str:
    """Return the template that produces this text; braces are escaped."""
    return text.replace("{", "{{").replace("}", "}}")


def fill_template(template: str, values: Mapping[str, str]) -> tuple[TemplatePart, ...]:
    """Return the template's parts with values inserted for placeholders. Placeholders for user
    input may remain without a value. Raises ValueError if another placeholder has no value."""
    parts = []
    for piece in parse_template(template):
        if piece.inserted is not None and piece.inserted in values:
            parts.append(TemplatePart(values[piece.inserted], piece.inserted))
        elif piece.inserted is None or piece.is_of_example:
            parts.append(piece)
        else:
            raise ValueError(
                f"prompt: the placeholder {{{piece.inserted}}} has no value here; remove it"
            )
    return tuple(parts)


def placeholders(template: str | None) -> frozenset[str]:
    return frozenset(piece.inserted for piece in parse_template(template or "") if piece.inserted)


class Shot(Message):
    """An example shown before the question: a text or a pair, and its label."""

    text: str | None = Field(default=None, max_length=MAX_TEXT)
    premise: str | None = Field(default=None, max_length=MAX_TEXT)
    hypothesis: str | None = Field(default=None, max_length=MAX_TEXT)
    label: LabelName
    language: str | None = Field(default=None, max_length=35, description="BCP 47")

    @property
    def values(self) -> dict[str, str]:
        """Return the text to insert for each placeholder of the prompt."""
        texts = {"text": self.text, "premise": self.premise, "hypothesis": self.hypothesis,
                 LANGUAGE: self.language}  # fmt: skip
        return {name: value for name, value in texts.items() if value is not None}


class PromptKeys(Message):
    """A model's prompt and the strings that stand for each label; a request may send one, too."""

    style: Literal["chat", "raw"] | None = Field(
        default=None,
        description="`chat`: uses the model's chat template, the default if there is one; `raw`: "
        "the prompt consists of `user` alone",
    )
    system: Template | None = None
    policy: Template | None = Field(default=None, description="value of `{policy}`")
    user: Template | None = Field(
        default=None, description="the user's turn; absent: the standard question of the task"
    )
    after: Template | None = Field(
        default=None,
        description="a further turn of the user, after the turn with the text (Granite Guardian)",
    )
    answer_prefix: str = Field(
        default="",
        max_length=1_000,
        description="text that precedes the label in the model's answer",
    )
    verbalizers: dict[LabelName, Annotated[tuple[Verbalizer, ...], Field(min_length=1)]] | None = (
        Field(
            default=None, min_length=2, description="label → strings that the model writes for it"
        )
    )
    template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="arguments of the chat template"
    )
    add_generation_prompt: bool = True
    thinking: Literal["off", "before"] = Field(
        default="off", description="`before`: the model writes its reasoning before the label"
    )
    reasoning_tokens: int = Field(default=512, ge=1, le=32_768)
    draws: int = Field(
        default=1,
        ge=1,
        le=64,
        description="number of reasonings that are drawn; the probabilities are averaged over them",
    )

    @field_validator("template_kwargs")
    @classmethod
    def _check_values(cls, given: dict[str, Any]) -> dict[str, Any]:
        if reserved := sorted(given.keys() & NO_VARIABLES):
            raise ValueError(
                f"{reserved[0]} cannot be set as a variable of the chat template; remove it"
            )
        return given

    @field_validator("system", "policy", "user", "after")
    @classmethod
    def _placeholders_are_known(cls, template: str | None) -> str | None:
        if template is not None:
            parse_template(template)
        return template

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if "policy" in placeholders(self.policy):
            raise ValueError("`policy` must not contain the placeholder {policy}; remove it")
        templates = {"system": self.system, "policy": self.policy, "after": self.after}
        for name, template in templates.items():
            if user_placeholders := sorted(placeholders(template) & FROM_USERS):
                raise ValueError(
                    f"`{name}` must not contain {{{user_placeholders[0]}}}; the user's "
                    "text belongs in `user`"
                )
        if self.user is not None and not placeholders(self.user) & FROM_USERS:
            raise ValueError("`user` must contain {text}, or {premise} and {hypothesis}")
        if self.style == "raw" and (self.system or self.after):
            raise ValueError("style `raw` uses only `user`; leave out `system` and `after`")
        return self

    @model_serializer(mode="wrap")
    def _drop_unset(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return only the keys that were set. A request is stored as JSON, and unset keys must not
        replace those of the model's entry."""
        values: dict[str, Any] = whole(self)
        return {name: value for name, value in values.items() if name in self.model_fields_set}

    @model_validator(mode="after")
    def _check_verbalizers(self) -> Self:
        if clash := next(find_overlap(self.verbalizers or {}), None):
            raise ValueError(f"label-tokens-clash: {clash}")
        return self


class PromptTable(PromptKeys):
    """The table `[models.prompt]` of a model in `models.toml`."""

    policy_file: str | None = Field(default=None, min_length=1, description="beside the file")
    categories: dict[CategoryName, CategoryName] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="a guard model's further labels: code that the model writes → description. A "
        "single one is the question itself, and is not searched for in the answer",
    )
    shots: (
        Annotated[str, Field(min_length=1)] | Annotated[tuple[Shot, ...], Field(max_length=64)]
    ) = Field(
        default=(),
        description="JSON Lines file with `text` and `label`, next to `models.toml`; these "
        "examples are shown before the question",
    )

    @model_validator(mode="after")
    def _check_table(self) -> Self:
        if self.policy is not None and self.policy_file is not None:
            raise ValueError("`policy` and `policy_file` are both given; keep only one of them")
        used = placeholders(self.user) | placeholders(self.system) | placeholders(self.after)
        if "policy" in used and self.policy is None and self.policy_file is None:
            raise ValueError(
                "the prompt uses {policy}, but neither `policy` nor `policy_file` is given; add one"
            )
        if self.draws > 1 and self.thinking == "off":
            raise ValueError(
                "`draws` above 1 needs thinking = 'before', because otherwise every draw "
                "is the same"
            )
        return self


def with_files(stated: dict[str, Any], root: Path) -> dict[str, Any]:
    """Replace file names in a table by the files' content. Paths are relative to `models.toml`.
    Raises ValueError."""
    table = dict(stated)
    if isinstance(file := stated.get("policy_file"), str) and "policy" not in stated:
        table["policy"] = _content(root, "policy_file", file)
        del table["policy_file"]
    if isinstance(file := stated.get("shots"), str):
        lines = enumerate(_content(root, "shots", file).splitlines(), 1)
        shots = []
        for number, line in lines:
            try:
                if line.strip():
                    shots.append(Shot.model_validate_json(line))
            except ValidationError as error:
                reason = first_fault(error)
                message = f"{dotted(reason)} {plain(reason)}"
                raise ValueError(f"prompt.shots: {file}, line {number}: {message}") from None
        table["shots"] = tuple(shots)
    return table


def _content(root: Path, key: str, file: str) -> str:
    try:
        return (root / file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"prompt.{key}: {file} cannot be read: {error}") from error


def override_table(table: PromptTable | None, asked: PromptKeys | None) -> PromptTable | None:
    """Return the model's prompt table with the request's keys in place of its own. Raises
    ValueError if the result is not a valid table."""
    if asked is None:
        return table
    values = table.model_dump(exclude_unset=True) if table else {}
    if "policy" in asked.model_fields_set:
        values.pop("policy_file", None)
    return PromptTable.model_validate(values | asked.model_dump(exclude_unset=True))


def prompt_tokens(prompt: PromptKeys) -> int:
    """Return an upper bound on the tokens of prompt and answer before the label."""
    parts = (prompt.system, prompt.policy, prompt.user, prompt.after)
    written = prompt.draws * prompt.reasoning_tokens if prompt.thinking == "before" else 0
    return max(1, sum(words_of(part or "") for part in parts) + written)


def first_reason(error: ValueError) -> str:
    """Return the reason in one line, without user input."""
    if isinstance(error, ValidationError):
        return plain(first_fault(error))
    return str(error)


def find_overlap(verbalizers: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield an error message for each label string that another label's string equals or begins
    with."""
    strings = [(label, string) for label, forms in verbalizers.items() for string in forms]
    for label, string in strings:
        for other, longer in strings:
            if label != other and longer.startswith(string):
                relation = "is" if longer == string else "begins"
                yield f"{string!r} of {label!r} {relation} {longer!r} of {other!r}"


@dataclass(frozen=True)
class PromptTurn:
    """One turn of a prompt, without user input."""

    role: Literal["system", "user", "assistant"]
    pieces: tuple[TemplatePart, ...]

    def render(self, texts: Mapping[str, str]) -> str:
        """Return the turn's text. `texts` maps placeholders to values."""
        return "".join(texts.get(piece.inserted or "", piece.text) for piece in self.pieces)


def task_of(table: PromptKeys | None, stated: Task | None = None) -> Task:
    """Return the stated task if it has the labels of the request. Otherwise return the task that
    has these labels, `hate` without labels, or `free` if no task has them."""
    labels = {label.casefold() for label in (table and table.verbalizers) or ()}
    if stated is not None and (stated == "free" or labels <= set(CANONICAL[stated])):
        return stated
    tasks: tuple[Task, ...] = ("hate", "nli", "sentiment")
    return next((task for task in tasks if labels <= set(CANONICAL[task])), "free")


def prompt_turns(table: PromptTable, task: Task | None) -> tuple[PromptTurn, ...]:
    """Return the messages of the prompt: `system`, each example (shot) with its answer, then
    `user`. `{labels}` becomes the first possible answer of each label. `task` is the entry's.
    Raises ValueError for an unknown placeholder."""
    if table.policy_file is not None:
        raise ValueError(
            "prompt.policy_file: a request cannot refer to a file; write the text under `policy`"
        )
    if isinstance(table.shots, str):
        raise ValueError(
            "prompt.shots: a request cannot refer to a file; list the shots themselves"
        )
    values = {"labels": ", ".join(forms[0].strip() for forms in (table.verbalizers or {}).values())}
    if table.policy is not None:
        values["policy"] = "".join(piece.text for piece in fill_template(table.policy, values))
    question = table.user or QUESTIONS[task_of(table, task)]
    shown = [
        turn for shot in table.shots for turn in _render_example(table, question, values, shot)
    ]
    system = [PromptTurn("system", fill_template(table.system, values))] if table.system else []
    after = [PromptTurn("user", fill_template(table.after, values))] if table.after else []
    return (*system, *shown, PromptTurn("user", fill_template(question, values)), *after)


def _render_example(
    table: PromptTable, asked: str, values: Mapping[str, str], shot: Shot
) -> Iterator[PromptTurn]:
    """Yield the turns of one few-shot example of the prompt. Raises ValueError if the example's
    label is not a label of the model, or if a placeholder has no text."""
    words = (table.verbalizers or {}).get(shot.label)
    if words is None:
        labels = ", ".join(table.verbalizers or ())
        raise ValueError(
            f"prompt.shots: {shot.label!r} is not a label of this model; its labels are {labels}"
        )
    if missing := sorted(placeholders(asked) & OF_EXAMPLES - shot.values.keys()):
        raise ValueError(f"prompt.shots: a shot has no {missing[0]!r}; add it")
    # the operator's own words, each piece: no place for a user's text is left in it
    text = "".join(piece.text for piece in fill_template(asked, {**values, **shot.values}))
    yield PromptTurn("user", (TemplatePart(text),))
    if table.after:
        yield PromptTurn("user", fill_template(table.after, values))
    yield PromptTurn("assistant", (TemplatePart(table.answer_prefix + words[0]),))


def raw_text(turns: Sequence[PromptTurn], texts: Mapping[str, str]) -> str:
    """Join the turns for models without a chat template, a blank line after each answer."""
    return "".join(
        turn.render(texts) + ("\n\n" if turn.role == "assistant" else "") for turn in turns
    )


def sent_placeholders(turns: Sequence[PromptTurn]) -> frozenset[str]:
    """Return the placeholders for user input."""
    inserted = (piece.inserted for turn in turns for piece in turn.pieces if piece.is_of_example)
    return frozenset(name for name in inserted if name)
