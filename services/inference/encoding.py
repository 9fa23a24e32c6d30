"""A causal model's tokenizer: strings and conversations to tokens with character offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import jinja2

from services.inference.variations import Ids
from shared.calls import Prompt
from shared.errors import BadInput


class Token(NamedTuple):
    """A token of a string; `special` where the tokenizer added it by itself."""

    id: int
    start: int
    end: int
    special: bool = False


@dataclass(frozen=True)
class Context:
    """What stands before a continuation; `special`: whether the tokenizer may add its own."""

    text: str
    special: bool = True


class Encoder:
    """A fast tokenizer, for any number of threads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._alone = Lock()
        begins = [tokenizer.bos_token_id, tokenizer.eos_token_id]
        self.first: Ids = tuple(token for token in begins if token is not None)[:1]

    def tokens(self, context: Context) -> list[Token]:
        """The string's tokens. One that the tokenizer would add at the end is left away.

        Nothing at all becomes the token that begins (else: ends) a text, if there is one.
        """
        with self._alone:
            encoded = self._tokenizer(
                context.text, add_special_tokens=context.special, verbose=False
            ).encodings[0]
        made = [
            Token(id_, start, end, bool(special))
            for id_, (start, end), special in zip(
                encoded.ids, encoded.offsets, encoded.special_tokens_mask, strict=True
            )
        ]
        while len(made) > 1 and made[-1].special:
            made.pop()
        if not made and not self.first:
            raise BadInput("the model cannot read an empty text", pointer="/text")
        return made or [Token(self.first[0], 0, 0, special=True)]

    def continuation(self, context: Context, written: str) -> list[Token]:
        """The tokens that `written` adds after the context; offsets into `written`.

        Where its beginning would merge with the context's end, it is read by itself instead: the
        model was asked with the context's own tokens.
        """
        before = self.tokens(context)
        whole = self.tokens(Context(context.text + written, context.special))
        if [token.id for token in whole[: len(before)]] == [token.id for token in before]:
            shift, added = len(context.text), whole[len(before) :]
        elif len(context.text) == 0:  # the context is the first token alone
            shift, added = 0, [token for token in whole if not token.special]
        else:
            shift, added = 0, self.tokens(Context(written, special=False))
        return [
            Token(token.id, max(0, token.start - shift), max(0, token.end - shift))
            for token in added
        ]

    def context(self, prompt: Prompt) -> Context:
        """A prompt as a string. Raises BadInput for turns where there is no chat template."""
        if prompt.turns is None:
            return Context(prompt.text or "")
        if not self._tokenizer.chat_template:
            raise BadInput("the model has no chat template: give `text`", pointer="/prompts")
        turns = [turn.model_dump() for turn in prompt.turns]
        try:
            with self._alone:
                text: str = self._tokenizer.apply_chat_template(
                    turns, tokenize=False, add_generation_prompt=True
                )
        except jinja2.TemplateError as error:  # for example: it knows no system turns
            raise BadInput(f"the chat template refuses it: {error}", pointer="/prompts") from error
        return Context(text, special=False)

    def text(self, ids: Sequence[int]) -> str:
        """Tokens as a string, special ones left out."""
        with self._alone:
            found: str = self._tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        return found
