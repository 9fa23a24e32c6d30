"""Tokens of an example: ids, the part to which each belongs, and its position in the text.

A variation (row) of an example consists of its tokens after some are replaced and others deleted.
Special tokens and template tokens also stay only if the row keeps their positions. The model
numbers the remaining positions from 0. Source: shared.contracts.calls.Row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import jinja2

from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import Example, Part, Prompt, Row, Tokens, Turn
from shared.contracts.errors import BadInput
from shared.models.catalogue.entry import OUTSIDE, EncoderTexts, Side
from shared.queue.priority_lock import PriorityLock

PORTION_CHARACTERS = 100_000  # some 50 ms of a processor

Ids = tuple[int, ...]


def selected_positions(row: Row, length: int) -> Ids:
    """Return the positions that a variation keeps, in ascending order. Raises BadInput for invalid
    positions."""
    positions = tuple(range(length)) if row.kept is None else row.kept
    if any(a >= b for a, b in pairwise(positions)):
        raise BadInput(
            "the positions in `kept` must be in ascending order; sort them", pointer="/rows"
        )
    if positions and positions[-1] >= length:
        raise BadInput(
            f"position {positions[-1]} does not exist; the example has {length} tokens, "
            "counted from 0",
            pointer="/rows",
        )
    return positions


def replace_ids(ids: Sequence[int], row: Row, vocabulary: int) -> Ids:
    """Return the token ids of an example, with the replacements of `row`. Raises BadInput for an
    unknown position or token."""
    changed = list(ids)
    for position, token in row.replaced:
        if position >= len(changed):
            raise BadInput(
                f"position {position} does not exist; the example has {len(changed)} "
                "tokens, counted from 0",
                pointer="/rows",
            )
        if token >= vocabulary:
            raise BadInput(
                f"the token {token} does not exist; the model has {vocabulary} tokens",
                pointer="/rows",
            )
        changed[position] = token
    return tuple(changed)


def perturb_ids(ids: Sequence[int], row: Row, vocabulary: int) -> Ids:
    """Return the token ids of one variation of an example, after replacing and deleting tokens."""
    changed = replace_ids(ids, row, vocabulary)
    return tuple(changed[position] for position in selected_positions(row, len(ids)))


@dataclass(frozen=True)
class EncoderRow:
    """The T token ids of an encoder's input, and its T segments if they are not all 0."""

    ids: Sequence[int]
    segments: Sequence[int] = ()


@dataclass(frozen=True)
class EncoderReading:
    tokens: Tokens
    segments: tuple[int, ...]  # (T,); empty where the model has none or all are 0
    vocabulary: int
    nothing: Ids = ()  # what stands for a row without tokens, where texts have no frame

    def row(self, row: Row) -> EncoderRow:
        """Return the input for one variation. Raises BadInput if it has no token or an invalid
        position."""
        ids = replace_ids(self.tokens.ids, row, self.vocabulary)
        positions = selected_positions(row, len(ids))
        if not positions:
            if self.nothing:
                return EncoderRow(self.nothing)
            raise BadInput(
                "a row keeps no token; keep at least one token in each row", pointer="/rows"
            )
        segments = [self.segments[position] for position in positions] if self.segments else ()
        return EncoderRow([ids[position] for position in positions], segments)


def _chunks(texts: Sequence[str]) -> Iterator[range]:
    """Yield ranges of texts to tokenize together. They are short enough to let other threads
    run."""
    begin = size = 0
    for index, text in enumerate(texts):
        if size and size + len(text) > PORTION_CHARACTERS:
            yield range(begin, index)
            begin, size = index, 0
        size += len(text)
    yield range(begin, len(texts))


class EncoderReader:
    """Tokenizes examples for an encoder. Thread-safe: a lock protects the truncation setting that a
    fast tokenizer stores."""

    def __init__(self, weights: LoadedModel) -> None:
        self._tokenizer = weights.tokenizer
        self._longest = weights.longest
        self._vocabulary = int(weights.model.config.vocab_size)
        self._sides = EncoderTexts(weights.input)
        self._has_input = weights.input is not None
        self._name = weights.use.name
        self._refuses = weights.overlong == "refuse"
        self._nothing = _empty_ids(weights.tokenizer)
        self._lock = PriorityLock()

    def ids(self, texts: Sequence[str], *, cut: bool) -> list[list[int]]:
        """Return the token ids of N texts, including special tokens. `cut` truncates them to the
        model's limit."""
        if not texts:
            return []
        limit = {"truncation": True, "max_length": self._longest} if cut else {}
        inputs = list(texts)
        if self._has_input:
            inputs = [self._sides.of(Example(text=text))[0].text for text in texts]
        rows: list[list[int]] = []
        for chunk in _chunks(inputs):
            with self._lock:
                encoded = self._tokenizer([inputs[n] for n in chunk], verbose=False, **limit)
            if cut:
                self._check_length(encoded.encodings or ())
            rows += [ids or list(self._nothing) for ids in encoded["input_ids"]]
        return rows

    def _check_length(self, encodings: Sequence[Any]) -> None:
        """Raise BadInput for a text that would be truncated, if the model's entry forbids this."""
        if self._refuses and any(encoding.overflowing for encoding in encodings):
            raise BadInput(
                f"text-too-long: {self._name} reads at most {self._longest} tokens, including "
                "special tokens",
                pointer="/text",
            )

    def read(self, examples: Sequence[Example]) -> list[EncoderReading]:
        """Return the tokenized examples, truncated to the model's length limit. Raises BadInput for
        an example with a template or prompt, because encoders take neither."""
        if any(example.template is not None for example in examples):
            raise BadInput(
                "an encoder takes no template; leave out `template`", pointer="/template"
            )
        if any(example.prompt is not None for example in examples):
            raise BadInput("an encoder takes no prompt; leave out `prompt`", pointer="/prompt")
        sides = [self._sides.of(example) for example in examples]
        readings: dict[int, EncoderReading] = {}
        for paired in (False, True):  # one call of the tokenizer each
            indices = [index for index, parts in enumerate(sides) if (len(parts) > 1) is paired]
            group = [sides[index] for index in indices]
            encodings = self._encode(group)
            of_group = map(self._reading, encodings, group)
            readings |= zip(indices, of_group, strict=True)
        return [readings[index] for index in range(len(examples))]

    def _encode(self, sides: Sequence[tuple[Side, ...]]) -> list[Any]:
        if not sides:
            return []
        encodings: list[Any] = []
        for some in _chunks(["".join(side.text for side in example) for example in sides]):
            part = [sides[n] for n in some]
            columns = [[side.text for side in column] for column in zip(*part, strict=True)]
            with self._lock:
                encoded = self._tokenizer(
                    *columns, verbose=False, truncation=True, max_length=self._longest
                )
            if not encoded.encodings:
                raise BadInput(
                    "the model's tokenizer returns no character offsets; choose another model",
                    pointer="/model",
                )
            encodings += encoded.encodings
        self._check_length(encodings)
        return encodings

    def _reading(self, encoding: Any, sides: Sequence[Side]) -> EncoderReading:
        has_segments = "token_type_ids" in self._tokenizer.model_input_names
        segments = tuple(encoding.type_ids) if has_segments and any(encoding.type_ids) else ()
        tokens = self._tokens(encoding, sides)
        return EncoderReading(tokens, segments, self._vocabulary, self._nothing)

    def _tokens(self, encoding: Any, sides: Sequence[Side]) -> Tokens:
        placed = [
            OUTSIDE if side is None else sides[side].to_place(*span)
            for side, span in zip(encoding.sequence_ids, encoding.offsets, strict=True)
        ]
        return Tokens(
            ids=tuple(encoding.ids),
            parts=tuple(part for part, _, _ in placed),
            starts=tuple(start for _, start, _ in placed),
            ends=tuple(end for _, _, end in placed),
            truncated=bool(encoding.overflowing),
            mask_id=self._tokenizer.mask_token_id,
            unk_id=self._tokenizer.unk_token_id,
            pad_id=self._tokenizer.pad_token_id,
            mask_text=mask_text(self._tokenizer),
        )


def _empty_ids(tokenizer: Any) -> Ids:
    """Return the token that represents an empty text, or () if the tokenizer adds special tokens to
    an empty text. GPT-2's tokenizer adds none."""
    if tokenizer("", verbose=False)["input_ids"]:
        return ()
    tokens = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    return tuple(token for token in tokens if token is not None)[:1]


def mask_text(tokenizer: Any) -> str | None:
    """Return the string that replaces a masked word: the tokenizer's first defined token of mask,
    unknown, padding and end. Source: `get_baseline_input` in operators.py of ice-faithfulness
    1.0.1."""
    words = (
        tokenizer.mask_token, tokenizer.unk_token, tokenizer.pad_token, tokenizer.eos_token,
    )  # fmt: skip
    return next((str(word) for word in words if word), None)


class EncodedToken(NamedTuple):
    """A token of a string. `special` is True if the tokenizer added it."""

    id: int
    start: int
    end: int
    special: bool = False


@dataclass(frozen=True)
class InputSpan:
    """A user's text in a prompt, at the characters [start, end)."""

    part: Part
    start: int
    end: int


@dataclass(frozen=True)
class TokenContext:
    """The text before a continuation. `special` is True if the tokenizer may add special tokens."""

    text: str
    special: bool = True
    inserted: tuple[InputSpan, ...] = ()  # what users sent: special tokens in it are plain text


class Encoder:
    """A fast tokenizer that is thread-safe. `chat_keys` has arguments of its chat template."""

    def __init__(self, tokenizer: Any, chat_keys: Mapping[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._chat_keys = dict(chat_keys or {})
        self._alone = Lock()
        begins = [tokenizer.bos_token_id, tokenizer.eos_token_id]
        self.first: Ids = tuple(token for token in begins if token is not None)[:1]
        self._special_tokens = tuple(
            token for token in tokenizer.get_added_vocab() if len(token) > 1
        )

    def tokens(self, context: TokenContext) -> list[EncodedToken]:
        """Return the string's tokens, without a special token at the end. An empty string becomes
        the token that begins a text or, if there is none, the one that ends it."""
        tokens: list[EncodedToken] = []
        # special tokens that a user sent are read in pieces, so that nobody can close a turn
        inside = {
            position + 1
            for span in context.inserted
            for position in self._special_positions(context.text, span)
        }
        cuts = [0, *sorted(inside), len(context.text)]
        for start, end in pairwise(cuts):
            encoded = self._encoded(context.text[start:end], start, context.special and start == 0)
            while end < len(context.text) and encoded[-1].special:  # it ends no text here
                encoded.pop()
            tokens += encoded
        while len(tokens) > 1 and tokens[-1].special:
            tokens.pop()
        if not tokens and not self.first:
            raise BadInput("the model cannot read an empty text; send a text", pointer="/text")
        return tokens or [EncodedToken(self.first[0], 0, 0, special=True)]

    def _encoded(self, text: str, begin: int, special: bool) -> list[EncodedToken]:
        with self._alone:
            encoded = self._tokenizer(text, add_special_tokens=special, verbose=False).encodings[0]
        return [
            EncodedToken(id_, begin + start, begin + end, bool(special))
            for id_, (start, end), special in zip(
                encoded.ids, encoded.offsets, encoded.special_tokens_mask, strict=True
            )
        ]

    def _special_positions(self, text: str, within: InputSpan) -> Iterator[int]:
        for token in self._special_tokens:
            position = text.find(token, max(0, within.start - len(token) + 1))
            while 0 <= position < within.end:
                yield position
                position = text.find(token, position + 1)

    def completion_tokens(
        self,
        context: TokenContext,
        completion: str,
        prompt_tokens: list[EncodedToken] | None = None,
    ) -> list[EncodedToken]:
        """Return the tokens that `completion` adds after the context, with offsets into
        `completion`. `prompt_tokens` has the context's tokens, if they are known.

        The completion is tokenized separately if its beginning would merge with the end of the
        context. The model was called with the context's tokens.
        """
        before = self.tokens(context) if prompt_tokens is None else prompt_tokens
        whole = self.tokens(replace(context, text=context.text + completion))
        if [token.id for token in whole[: len(before)]] == [token.id for token in before]:
            shift, added = len(context.text), whole[len(before) :]
        elif len(context.text) == 0:  # the context is the first token alone
            shift, added = 0, [token for token in whole if not token.special]
        else:
            shift, added = 0, self.tokens(TokenContext(completion, special=False))
        return [
            EncodedToken(token.id, max(0, token.start - shift), max(0, token.end - shift))
            for token in added
        ]

    def context(self, prompt: Prompt) -> TokenContext:
        """Return the text of a prompt, ready to be tokenized. A conversation is rendered with the
        model's chat template. Raises BadInput if the template is missing or rejects the
        conversation."""
        if prompt.turns is None:
            return TokenContext(prompt.text or "")
        if not self._tokenizer.chat_template:
            raise BadInput(
                "the model has no chat template; send `text` instead of `turns`", pointer="/prompts"
            )
        turns = [turn.model_dump() for turn in prompt.turns]
        try:
            with self._alone:
                text: str = self._tokenizer.apply_chat_template(
                    turns, tokenize=False, add_generation_prompt=True, **self._chat_keys
                )
        except (jinja2.TemplateError, TypeError) as error:  # for example: it knows no system turns
            raise BadInput(
                f"the model's chat template rejects the conversation: {error}", pointer="/prompts"
            ) from error
        return TokenContext(text, special=False, inserted=tuple(_user_spans(text, prompt.turns)))

    def text(self, ids: Sequence[int]) -> str:
        """Decode tokens. Special tokens are left out."""
        with self._alone:
            text: str = self._tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        return text


def _user_spans(text: str, turns: Sequence[Turn]) -> Iterator[InputSpan]:
    """Yield the positions of user turns in the rendered chat template. Turns that a template
    changes, except by trimming, are not found."""
    begin = 0
    for turn in turns:
        content = turn.content.strip()
        start = text.find(content, begin)
        if start < 0:
            continue
        begin = start + len(content)
        if turn.role == "user":
            yield InputSpan("text", start, begin)
