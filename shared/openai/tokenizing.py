"""The server's own tokenizer, where it offers one: `/tokenize` of vLLM and of llama.cpp.

OpenAI's API has none: then texts go out as strings and tokens are known only from answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from shared.calls import Prompt
from shared.errors import BadInput, ScoringError
from shared.openai.connection import Connection, Json

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """A completion after a prompt, in characters and, where the server tells, in tokens."""

    before: str | None  # None: a conversation that only the server can write out
    written: str
    ids: tuple[Ids, Ids] | None  # of the prompt, of the completion
    parts: frozenset[int] = frozenset()  # places of the completion's tokens that cut a character


class _Piece(BaseModel):
    id: int
    piece: str | list[int] = ""  # bytes where they make no text by themselves


class _Token(NamedTuple):
    id: int
    part: bool = False


_Read = tuple[_Token, ...]


class _Tokens(BaseModel):
    tokens: list[int | _Piece]


class ServerTokenizer:
    """Texts to token ids, or nothing where the server does not tell."""

    def __init__(self, connection: Connection, served: str) -> None:
        self._connection = connection
        self._served = served
        self._offered: bool | None = None

    @property
    def offered(self) -> bool:
        """Whether the server tells tokens; asked once."""
        if self._offered is None:
            try:
                self._tokens([self._text("a", special=True)])
            except BadInput:
                self._offered = False
            else:
                self._offered = True
        return self._offered

    def read(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Asked]:
        """(N,) prompts with their completions.

        Where the completion's beginning would merge with the prompt's end, it is read by itself:
        the model was asked with the prompt's own tokens. Raises BadInput for a conversation where
        the server has no way to write it out.
        """
        if not self.offered:
            return [
                Asked(_plain(prompt), written, None)
                for prompt, written in zip(prompts, completions, strict=True)
            ]
        texts = [self._written_out(prompt) for prompt in prompts]
        before = self._tokens(
            [
                self._turns(prompt) if text is None else self._text(text, special=True)
                for prompt, text in zip(prompts, texts, strict=True)
            ]
        )
        alone = self._tokens([self._text(written, special=False) for written in completions])
        whole = self._tokens(
            [
                self._text((text or "") + written, special=True)
                for text, written in zip(texts, completions, strict=True)
            ]
        )
        afters = [
            full[len(begin) :] if text is not None and full[: len(begin)] == begin else one
            for text, begin, one, full in zip(texts, before, alone, whole, strict=True)
        ]
        return [_asked(*four) for four in zip(texts, completions, before, afters, strict=True)]

    def _written_out(self, prompt: Prompt) -> str | None:
        """The prompt as a string; None where it goes to the tokenizer as a conversation."""
        if prompt.turns is None:
            return prompt.text or ""
        turns = [turn.model_dump() for turn in prompt.turns]
        body = {"model": self._served, "messages": turns}
        try:
            [answer] = self._connection.post_beside("/apply-template", [body])
        except BadInput:
            return None
        return str(answer.get("prompt", ""))

    def _turns(self, prompt: Prompt) -> Json:
        turns = [turn.model_dump() for turn in prompt.turns or ()]
        return {"model": self._served, "messages": turns, "add_generation_prompt": True}

    def _text(self, text: str, *, special: bool) -> Json:
        vllm = {"model": self._served, "prompt": text, "add_special_tokens": special}
        llama = {"content": text, "add_special": special, "with_pieces": True}
        return {**vllm, **llama, "parse_special": True}

    def _tokens(self, bodies: Sequence[Json]) -> list[_Read]:
        return [_read(answer) for answer in self._connection.post_beside("/tokenize", bodies)]


def _plain(prompt: Prompt) -> str:
    if prompt.turns is not None:
        raise BadInput(
            "the server does not tell how it writes a conversation out: give `text`",
            pointer="/prompts",
        )
    return prompt.text or ""


def _asked(text: str | None, written: str, before: _Read, after: _Read) -> Asked:
    ids = tuple(token.id for token in before), tuple(token.id for token in after)
    parts = frozenset(place for place, token in enumerate(after) if token.part)
    return Asked(text, written, ids, parts)


def _read(answer: Any) -> _Read:
    try:
        tokens = _Tokens.model_validate(answer).tokens
    except ValidationError as error:
        raise ScoringError("the server's /tokenize gives no tokens") from error
    return tuple(
        _Token(token)
        if isinstance(token, int)
        else _Token(token.id, part=isinstance(token.piece, list))
        for token in tokens
    )
