"""Builds the tokens of an example for a causal model: the prompt with the text in it, and the words
that stand for the labels.

The input of the model is a single tokenized string: `prefix + text + suffix`, or the model's prompt
with the text in it. If a text is too long, its last tokens are dropped; the template stays
complete. The prompt comes from the model's catalogue entry (`LabelPrompt`). User texts are inserted
after the chat template is rendered, so neither the template nor a placeholder interprets them.
Special tokens in user texts stay plain text (`services.inference.tokenization.Encoder`)."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import jinja2

from services.inference.tokenization import (
    EncodedToken,
    Encoder,
    Ids,
    InputSpan,
    TokenContext,
    mask_text,
    perturb_ids,
)
from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import Example, Part, Row, Tokens, sent_texts
from shared.contracts.errors import BadInput
from shared.contracts.labels import Task
from shared.contracts.prompt_table import (
    NOT_ALLOWED,
    PromptTable,
    first_reason,
    override_table,
    prompt_turns,
    raw_text,
    sent_placeholders,
)
from shared.text.language import language_code

PARTS: dict[str, Part] = {"text": "text", "premise": "text", "hypothesis": "text_pair"}
SLOT = re.compile("\ue000([a-z]+)\ue001")  # private use: stands for a user's text meanwhile


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt with the user's texts. `special` is True if the tokenizer adds its special
    tokens."""

    text: str
    inserted: tuple[InputSpan, ...]
    special: bool


class LabelPrompt:
    """The prompt of one model. Raises ValueError if it cannot be rendered."""

    def __init__(self, table: PromptTable, tokenizer: Any, task: Task | None) -> None:
        if table.verbalizers is None:
            raise ValueError(
                "prompt.verbalizers: is missing; list the strings that the model "
                "writes for each label"
            )
        self.verbalizers: Mapping[str, tuple[str, ...]] = table.verbalizers
        self._table = table
        self._tokenizer = tokenizer
        self._alone = Lock()
        self._turns = prompt_turns(table, task)
        self._is_chat = (table.style or ("chat" if tokenizer.chat_template else "raw")) == "chat"
        if self._is_chat and not tokenizer.chat_template:
            raise ValueError(
                "prompt.style: the model's tokenizer has no chat template; use the style `raw`"
            )
        if (table.system or table.after) and not self._is_chat:
            raise ValueError(
                "prompt.system, prompt.after: the model's tokenizer has no chat template; "
                "leave them out"
            )
        self._slots = sent_placeholders(self._turns)
        self._frame = self._render_template()
        if {match[1] for match in SLOT.finditer(self._frame)} != self._slots:
            raise ValueError(
                "prompt: the model's chat template changes the inserted texts; use the style `raw`"
            )
        empty = Example(text="", text_pair=None if "text" in self._slots else "")
        self.sha256 = hashlib.sha256(self.render(empty).text.encode()).hexdigest()

    def render(self, example: Example) -> RenderedPrompt:
        """Return the prompt for one example. Raises BadInput if the number of texts is wrong."""
        values = sent_texts(example, self._slots, language_code)
        text, inserted, begin = "", [], 0
        for match in SLOT.finditer(self._frame):
            text += self._frame[begin : match.start()]
            value = values[match[1]]
            if match[1] in PARTS:
                inserted.append(InputSpan(PARTS[match[1]], len(text), len(text) + len(value)))
            text, begin = text + value, match.end()
        text += self._frame[begin:]
        return RenderedPrompt(text, tuple(inserted), special=self._add_special_tokens)

    @property
    def reasons(self) -> bool:
        """Return True if the model writes its reasoning before its label."""
        return self._table.thinking == "before"

    @property
    def opens_reasoning(self) -> bool:
        """Return True if the chat template already writes the opening mark of the reasoning."""
        return self._frame.rstrip().endswith("<think>")

    @property
    def table(self) -> PromptTable:
        return self._table

    @property
    def _add_special_tokens(self) -> bool:
        """Return True if the tokenizer must add special tokens. Chat templates and some published
        prompts already contain the first token."""
        first = self._tokenizer.bos_token
        return not (self._is_chat or (first is not None and self._frame.startswith(first)))

    def _render_template(self) -> str:
        """Return the prompt with slots for the user's texts."""
        slots = {name: f"\ue000{name}\ue001" for name in self._slots}
        turns = [{"role": turn.role, "content": turn.render(slots)} for turn in self._turns]
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
            raise ValueError(f"prompt: the model's chat template rejects it: {error}") from error
        return text


REMEMBERED = 1_024  # examples: a metric asks about each several times in a row
MOST_PROMPTS = 64  # of requests

Placed = tuple[EncodedToken, Part, int | None, int | None]  # with offsets into the text


@dataclass(frozen=True)
class CausalReading:
    tokens: Tokens
    labels: tuple[str, ...]
    strings: tuple[tuple[Ids, ...], ...]  # (L,) of each label its verbalizers' tokens
    vocabulary: int
    first: Ids  # what stands for a row without tokens
    prompt: LabelPrompt | None = None  # that it was asked by

    @property
    def verbalizers(self) -> tuple[Ids, ...]:
        """Return, for each label, the token ids of its first word. Attributions explain the scores
        of these words."""
        return tuple(strings[0] for strings in self.strings)

    @property
    def label_tokens(self) -> tuple[Ids, ...]:
        """Return the tokens of every word for a label, label by label."""
        return tuple(tokens for strings in self.strings for tokens in strings)

    @property
    def single(self) -> bool:
        """Return True if every label word is one token, so that one position gives all labels."""
        return all(len(tokens) == 1 for tokens in self.label_tokens)

    @property
    def reasons(self) -> bool:
        """Return True if the model writes its reasoning before its label."""
        return self.prompt is not None and self.prompt.reasons

    def row(self, row: Row) -> Ids:
        """Return the tokens of one variation. If no token is kept, return only the token that
        begins a text."""
        ids = perturb_ids(self.tokens.ids, row, self.vocabulary) or self.first
        if not ids:
            raise BadInput(
                "a row keeps no tokens; keep at least one token in each row", pointer="/rows"
            )
        return ids


class CausalReader:
    def __init__(self, weights: LoadedModel, encoder: Encoder) -> None:
        self._encoder = encoder
        self._weights = weights
        self.prompt = (
            None
            if weights.prompt is None
            else LabelPrompt(weights.prompt, weights.tokenizer, weights.task)
        )
        self._prompts: OrderedDict[str, LabelPrompt] = OrderedDict()  # of requests
        self._read_before: OrderedDict[Hashable, CausalReading] = OrderedDict()
        self._alone = Lock()

    def read(self, examples: Sequence[Example]) -> list[CausalReading]:
        """Return the tokens of each example's prompt and of its labels. Raises BadInput for an
        example with two texts, or if no prompt template is known."""
        return [self._read_cached(example) for example in examples]

    def _read_cached(self, example: Example) -> CausalReading:
        template = example.template
        template_key = template and (
            template.prefix,
            template.suffix,
            *template.verbalizers.items(),
        )
        prompt_key = example.prompt and example.prompt.model_dump_json(exclude_unset=True)
        key = example.text, example.text_pair, example.language, template_key, prompt_key
        with self._alone:
            cached = self._read_before.get(key)
        if cached is not None:
            return cached
        reading = self._read(example)
        with self._alone:
            self._read_before[key] = reading
            while len(self._read_before) > REMEMBERED:
                self._read_before.popitem(last=False)
        return reading

    def _read(self, example: Example) -> CausalReading:
        prompt = self.prompt_of(example) if example.template is None else None
        context, verbalizers = self._build_context(example, prompt)
        tokens = self._encoder.tokens(context)
        strings = self.strings(context, verbalizers)
        room = (
            self._weights.longest
            - max(len(string) for of_label in strings for string in of_label)
            + 1
        )
        room -= prompt.table.reasoning_tokens if prompt and prompt.reasons else 0
        placed = [_to_place(token, context) for token in tokens]
        fitting = _cut(placed, room)
        if len(fitting) < len(placed) and self._weights.overlong == "refuse":
            raise BadInput(
                f"text-too-long: {self._weights.use.name} reads at most {room} tokens, including "
                "its prompt",
                pointer="/text",
            )
        return CausalReading(
            tokens=self._tokens(fitting, truncated=len(fitting) < len(placed)),
            labels=tuple(verbalizers),
            strings=strings,
            vocabulary=int(self._weights.model.get_input_embeddings().weight.shape[0]),
            first=self._encoder.first,
            prompt=prompt,
        )

    def prompt_of(self, example: Example) -> LabelPrompt | None:
        """Return the model's prompt with the settings of the example applied, or None if the model
        has no prompt. Raises BadInput for invalid or forbidden settings."""
        if example.prompt is None:
            return self.prompt
        if not self._weights.own_prompts:
            raise BadInput(NOT_ALLOWED.format(self._weights.use.name), pointer="/prompt")
        key = example.prompt.model_dump_json(exclude_unset=True)
        with self._alone:
            prompt = self._prompts.get(key)
        if prompt is None:
            try:
                table = override_table(self._weights.prompt, example.prompt)
                prompt = LabelPrompt(
                    table or PromptTable(), self._weights.tokenizer, self._weights.task
                )
            except ValueError as error:
                raise BadInput(f"prompt: {first_reason(error)}", pointer="/prompt") from error
        with self._alone:
            self._prompts[key] = prompt
            while len(self._prompts) > MOST_PROMPTS:
                self._prompts.popitem(last=False)
        return prompt

    def _build_context(
        self, example: Example, prompt: LabelPrompt | None
    ) -> tuple[TokenContext, Mapping[str, tuple[str, ...]]]:
        """Return the example's context and verbalizers: from its template, or else from the
        prompt."""
        template = example.template
        if template is None and prompt is None:
            raise BadInput(
                "a causal model needs a template; send `template`, or add "
                "`[models.prompt]` with `verbalizers` to its entry",
                pointer="/template",
            )
        if template is None and prompt is not None:
            rendered = prompt.render(example)
            context = TokenContext(rendered.text, rendered.special, rendered.inserted)
            return context, prompt.verbalizers
        if example.text_pair is not None or template is None:
            raise BadInput(
                "a causal model reads only one text; put the second text into the template",
                pointer="/text_pair",
            )
        begin = len(template.prefix)
        inserted = InputSpan("text", begin, begin + len(example.text))
        whole = template.prefix + example.text + template.suffix
        verbalizers = {label: (word,) for label, word in template.verbalizers.items()}
        return TokenContext(whole, inserted=(inserted,)), verbalizers

    def strings(
        self, context: TokenContext, verbalizers: Mapping[str, tuple[str, ...]]
    ) -> tuple[tuple[Ids, ...], ...]:
        """Return the tokens of every word for each label. Raises BadInput if words of two labels
        have the same tokens, or one begins with the other."""
        labels: dict[Ids, str] = {}
        for label, several in verbalizers.items():
            for word in several:
                ids = tuple(token.id for token in self._encoder.completion_tokens(context, word))
                other = labels.get(ids)
                if not ids or other not in (None, label):
                    has = f"the same tokens as for {other!r}" if ids else "no tokens"
                    raise BadInput(
                        f"the verbalizer of {label!r} has {has}; change it",
                        pointer="/template/verbalizers",
                    )
                labels[ids] = label
        _check_no_prefix(labels)
        return tuple(
            tuple(ids for ids, owner in labels.items() if owner == label) for label in verbalizers
        )

    def _tokens(self, placed: Sequence[Placed], *, truncated: bool) -> Tokens:
        words: Any = self._weights.tokenizer
        return Tokens(
            ids=tuple(token.id for token, *_ in placed),
            parts=tuple(part for _, part, _, _ in placed),
            starts=tuple(start for _, _, start, _ in placed),
            ends=tuple(end for *_, end in placed),
            truncated=truncated,
            mask_id=words.mask_token_id,
            unk_id=words.unk_token_id,
            pad_id=words.pad_token_id,
            mask_text=mask_text(words),
        )


def _check_no_prefix(labels: Mapping[Ids, str]) -> None:
    """Raise BadInput if a verbalizer of one label is a prefix of a verbalizer of another."""
    for ids, label in labels.items():
        for longer, other in labels.items():
            if label != other and len(longer) > len(ids) and longer[: len(ids)] == ids:
                raise BadInput(
                    f"label-tokens-clash: the verbalizer of {other!r} starts with the verbalizer "
                    f"of {label!r}; change one of them",
                    pointer="/template/verbalizers",
                )


def _to_place(token: EncodedToken, context: TokenContext) -> Placed:
    if token.special:
        return token, "special", None, None
    inked = (index for index in range(token.start, token.end) if not context.text[index].isspace())
    first = next(inked, token.start)
    for span in context.inserted:
        if span.start <= first < span.end:
            start, end = max(token.start, span.start), min(token.end, span.end)
            return token, span.part, start - span.start, end - span.start
    return token, "template", None, None


def _cut(placed: list[Placed], room: int) -> list[Placed]:
    """Remove tokens from the end of the text until at most `room` tokens remain. Raises BadInput if
    the template alone is too long."""
    excess = len(placed) - room
    of_text = [n for n, (_, part, _, _) in enumerate(placed) if part in ("text", "text_pair")]
    if excess > len(of_text):
        raise BadInput(
            f"the template is too long, because the model reads at most {room} tokens; shorten it",
            pointer="/template",
        )
    gone = set(of_text[len(of_text) - max(0, excess) :])
    return [token for index, token in enumerate(placed) if index not in gone]
