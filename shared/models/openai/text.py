"""Converts text for a server and from it: tokenizer, completions, and offsets of tokens.

vLLM and llama.cpp offer `/tokenize`. With OpenAI's API texts are sent as strings, and only answers
have tokens. A server spells its tokens in bytes, several of which may make one character. It may
add special tokens around the text, cut it at a stop string, or strip its spaces. The token that
completes a character covers it.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ValidationError

from shared.contracts.calls import Completion, Prompt, Sampling, WrittenToken
from shared.contracts.errors import AnswerCut, BadInput, ScoringError, Unavailable
from shared.models.openai.protocol import CHAT, Dialect, ServerChoice, ServerToken
from shared.models.server_connection import AnswerUnread, Connection, Json

Ids = tuple[int, ...]


@dataclass(frozen=True)
class TokenizedPrompt:
    """A prompt with its completion, in characters and, if known, in tokens."""

    before: str | None  # None: a conversation that only the server can render
    written: str
    ids: tuple[Ids, Ids] | None  # of the prompt, of the completion
    parts: frozenset[int] = frozenset()  # indices of the completion's tokens that cut a character


class _TokenEntry(BaseModel):
    id: int
    piece: str | list[int] = ""  # bytes if they are not a text


class _Token(NamedTuple):
    id: int
    part: bool = False


_Read = tuple[_Token, ...]


class _Tokens(BaseModel):
    tokens: list[int | _TokenEntry]


class ServerTokenizer:
    """Converts texts to token ids, if the server supports it."""

    def __init__(self, connection: Connection, served: str, chat_keys: Json | None = None) -> None:
        """Create a tokenizer. `chat_keys` are request fields for the server's chat template."""
        self._connection = connection
        self._served = served
        self._chat_keys = chat_keys or {}
        self._offered: bool | None = None

    @property
    def is_available(self) -> bool:
        """Return True if the server has a tokenizer. This is tested once."""
        if self._offered is None:
            try:
                self._tokens([self._text("a", special=True)])
            except Unavailable:
                raise
            except ScoringError:  # no tokenizer, or a gateway that answers anything
                self._offered = False
            else:
                self._offered = True
        return self._offered

    def read(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[TokenizedPrompt]:
        """Return the prompts with their completions, tokenized. Raises BadInput for a conversation
        that the server cannot render."""
        if not self.is_available:
            return [
                TokenizedPrompt(_plain(prompt), written, None)
                for prompt, written in zip(prompts, completions, strict=True)
            ]
        texts = [self._to_string(prompt) for prompt in prompts]
        before = self._tokens(
            [
                self._to_messages(prompt) if text is None else self._text(text, special=True)
                for prompt, text in zip(prompts, texts, strict=True)
            ]
        )
        separately = self._tokens([self._text(written, special=False) for written in completions])
        joined = self._tokens(
            [
                self._text((text or "") + written, special=True)
                for text, written in zip(texts, completions, strict=True)
            ]
        )
        afters = [
            full[len(begin) :] if text is not None and full[: len(begin)] == begin else separate
            for text, begin, separate, full in zip(texts, before, separately, joined, strict=True)
        ]
        return [_prompt_of(*four) for four in zip(texts, completions, before, afters, strict=True)]

    def _to_string(self, prompt: Prompt) -> str | None:
        if prompt.turns is None:
            return prompt.text or ""
        turns = [turn.model_dump() for turn in prompt.turns]
        body = {"model": self._served, "messages": turns, **self._chat_keys}
        try:
            [answer] = self._connection.post_at_root("/apply-template", [body])
        except BadInput:
            return None
        if not isinstance(answer, dict):
            raise AnswerUnread("the server's /apply-template returns no prompt")
        return str(answer.get("prompt", ""))

    def _to_messages(self, prompt: Prompt) -> Json:
        turns = [turn.model_dump() for turn in prompt.turns or ()]
        body = {"model": self._served, "messages": turns, "add_generation_prompt": True}
        return {**body, **self._chat_keys}

    def _text(self, text: str, *, special: bool) -> Json:
        vllm = {"model": self._served, "prompt": text, "add_special_tokens": special}
        llama = {"content": text, "add_special": special, "with_pieces": True}
        return {**vllm, **llama, "parse_special": True}

    def _tokens(self, bodies: Sequence[Json]) -> list[_Read]:
        return [
            _read_tokens(answer) for answer in self._connection.post_at_root("/tokenize", bodies)
        ]


def _plain(prompt: Prompt) -> str:
    if prompt.turns is not None:
        raise BadInput(
            "the server cannot render a conversation; send `text` instead of `turns`",
            pointer="/prompts",
        )
    return prompt.text or ""


def _prompt_of(text: str | None, written: str, before: _Read, after: _Read) -> TokenizedPrompt:
    ids = tuple(token.id for token in before), tuple(token.id for token in after)
    parts = frozenset(index for index, token in enumerate(after) if token.part)
    return TokenizedPrompt(text, written, ids, parts)


def _read_tokens(answer: Any) -> _Read:
    try:
        tokens = _Tokens.model_validate(answer).tokens
    except ValidationError as error:
        raise AnswerUnread("the server's /tokenize returns no tokens") from error
    return tuple(
        _Token(token)
        if isinstance(token, int)
        else _Token(token.id, part=isinstance(token.piece, list))
        for token in tokens
    )


# Overrides defaults of servers or of the model's generation_config.json.
NEUTRAL: dict[str, Json] = {
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "llamacpp": {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
}


def default_sampling(owner: str) -> Json:
    """Return fields that make this kind of server sample only by temperature and top-p."""
    return NEUTRAL.get(owner, {})


def generate(
    dialect: Dialect, prompts: Sequence[Prompt], sampling: Sampling, extra: Json
) -> list[Completion]:
    """Return a completion of each prompt. Conversations use the server's chat template.

    `finish` is the reason that the server gives. A completion has no tokens if the server did
    not return all of them. Reasoning is separate from the text. Raises AnswerCut if the tokens
    of a chat ran out before the answer began."""
    bodies = [
        {
            **extra,
            **_sampling(sampling, index if prompt.draw is None else prompt.draw),
            **_prompt_body(prompt, sampling),
        }
        for index, prompt in enumerate(prompts)
    ]
    chats = [index for index, prompt in enumerate(prompts) if prompt.turns is not None]
    texts = [index for index, prompt in enumerate(prompts) if prompt.turns is None]
    completions: dict[int, Completion] = {}
    for path, indices in ((CHAT, chats), ("/completions", texts)):
        answers = dialect.complete(path, [bodies[index] for index in indices])
        for index, answer in zip(indices, answers, strict=True):
            completions[index] = _read_completion(answer)
    return [completions[index] for index in range(len(prompts))]


def seed_of(seed: int, index: int) -> int:
    """Return the seed for sampling one prompt, independent of other prompts. It has 31 bits, which
    all servers accept."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1)[0] >> np.uint32(1))


def align_tokens(pieces: Sequence[ServerToken], text: str) -> list[WrittenToken]:
    """Return the tokens inside `text`, with their offsets and log-probabilities. Raises
    AnswerUnread if a log-probability is missing."""
    tokens = []
    offsets = spans([piece.spelled for piece in pieces], text)
    for piece, span in zip(pieces, offsets, strict=True):
        if span is None:
            continue
        if piece.logprob is None:
            raise AnswerUnread("the server returns no log-probability for one of the tokens")
        # with float32 the logarithm of a probability of 1 may be above 0
        logprob = min(0.0, piece.logprob)
        tokens.append(WrittenToken(id=piece.id, start=span[0], end=span[1], logprob=logprob))
    return tokens


def completion(
    text: str, tokens: Sequence[WrittenToken], finish: Literal["stop", "length", "given"]
) -> Completion:
    """Return a completion whose tokens cover its text. An incomplete character at the end is
    dropped. Raises ScoringError if the tokens end before the text."""
    covered = tokens[-1].end if tokens else 0
    if text[covered:].strip(CUT):
        raise AnswerUnread("the server's tokens do not add up to its text")
    return Completion(text=text[:covered], tokens=tuple(tokens), finish=finish)


def _sampling(sampling: Sampling, index: int) -> Json:
    body: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": seed_of(sampling.seed, index),
    }
    return {**body, "stop": list(sampling.stop)} if sampling.stop else body


def _prompt_body(prompt: Prompt, sampling: Sampling) -> Json:
    if prompt.turns is None:
        return {"prompt": prompt.text, "logprobs": True}
    turns = [turn.model_dump() for turn in prompt.turns]
    return {"messages": turns, "logprobs": True, **_constrained(sampling.answer_schema)}


def _constrained(schema: str | None) -> Json:
    """Return the request field for a JSON schema. OpenAI, vLLM, SGLang, llama.cpp and Ollama use
    the field. Other servers reject or ignore it."""
    if schema is None:
        return {}
    fields = {"name": "answer", "schema": json.loads(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": fields}}


def _read_completion(choice: ServerChoice) -> Completion:
    text, finish = choice.written, choice.finish
    if choice.cut_by_reasoning:
        raise AnswerCut("the model used all its tokens for reasoning; raise the token limit")
    try:
        result = completion(text, align_tokens(choice.pieces or [], text), finish)
    except Unavailable:
        raise
    except ScoringError:
        result = Completion(text=text, tokens=(), finish=finish)
    return result.model_copy(update={"reasoning": choice.reasoning or None})


CUT = "\ufffd"  # decoded from bytes that are not a character

Span = tuple[int, int]  # characters of the text, end exclusive


def spans(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """Return the characters of each piece in `text`, or None for a piece before or after it. Spans
    ascend. A piece with only part of a character is empty; the last part covers the character.
    Raises ScoringError if the pieces do not spell the text."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    last = len(pieces) - 1
    decoded = [decoder.decode(piece, final=index == last) for index, piece in enumerate(pieces)]
    spelled = "".join(decoded)
    starts = [0, *accumulate(map(len, decoded))][: len(decoded)]
    for candidate in dict.fromkeys((text, text.rstrip(CUT))):
        begins = (at for at in starts if spelled.startswith(candidate, at))
        shift, end = next(begins, spelled.find(candidate)), len(candidate)
        if shift >= 0:
            return [
                _within(start - shift, start - shift + len(piece), end)
                for start, piece in zip(starts, decoded, strict=True)
            ]
    return _in_order(pieces, text)


def _within(start: int, end: int, length: int) -> Span | None:
    if start >= length or (start < 0 and end <= 0):
        return None
    return max(0, start), min(end, length)


def _in_order(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """Return the character span of each piece, or None for a piece that is not found. For parts of
    characters the server may send U+FFFD. Such a piece gets the gap between its readable
    neighbours."""
    result: list[Span | None] = [None] * len(pieces)
    cursor, parts = 0, list[int]()
    for index, spelled in enumerate(pieces):
        try:
            piece = spelled.decode("utf-8")
        except UnicodeDecodeError as error:  # a token in bytes, so others must be missing
            raise AnswerUnread("the server's tokens do not add up to its text") from error
        if not piece or CUT in piece:
            parts.append(index)
            continue
        at = text.find(piece, cursor)
        if at < 0:
            continue
        _fill(result, parts, (cursor, at))
        result[index], cursor, parts = (at, at + len(piece)), at + len(piece), []
    if cursor < len(text):
        _fill(result, parts, (cursor, len(text)))
    return result


def _fill(result: list[Span | None], parts: Sequence[int], gap: Span) -> None:
    start, end = gap
    if end > start and not parts:
        raise AnswerUnread("the server's tokens do not add up to its text")
    for index in parts:
        result[index] = (start, start)
    if parts:
        result[parts[-1]] = gap
