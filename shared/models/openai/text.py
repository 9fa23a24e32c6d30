"""Text to and from a server: its own tokenizer, requests for completions, tokens as offsets.

vLLM and llama.cpp offer `/tokenize`; OpenAI's API has none: then texts go out as strings and tokens
are known only from answers. A server spells its tokens in bytes, of which several may make one
character; it may add special tokens before and after the text, cut it at a stop string, or strip
its spaces. The token that completes a character covers it.
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
    """A completion after a prompt, in characters and, where the server tells, in tokens."""

    before: str | None  # None: a conversation that only the server can write out
    written: str
    ids: tuple[Ids, Ids] | None  # of the prompt, of the completion
    parts: frozenset[int] = frozenset()  # places of the completion's tokens that cut a character


class _TokenEntry(BaseModel):
    id: int
    piece: str | list[int] = ""  # bytes where they make no text by themselves


class _Token(NamedTuple):
    id: int
    part: bool = False


_Read = tuple[_Token, ...]


class _Tokens(BaseModel):
    tokens: list[int | _TokenEntry]


class ServerTokenizer:
    """Texts to token ids, or nothing where the server does not tell."""

    def __init__(self, connection: Connection, served: str, chat_keys: Json | None = None) -> None:
        """chat_keys: what conversations are asked with besides, for their template."""
        self._connection = connection
        self._served = served
        self._chat_keys = chat_keys or {}
        self._offered: bool | None = None

    @property
    def is_available(self) -> bool:
        """Whether the server tells tokens; asked once."""
        if self._offered is None:
            try:
                self._tokens([self._text("a", special=True)])
            except Unavailable:
                raise
            except ScoringError:  # none, or a gateway that answers whatever is asked
                self._offered = False
            else:
                self._offered = True
        return self._offered

    def read(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[TokenizedPrompt]:
        """(N,) prompts with their completions.

        Where the completion's beginning would merge with the prompt's end, it is read by itself:
        the model was asked with the prompt's own tokens. Raises BadInput for a conversation where
        the server has no way to write it out.
        """
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
        return [_prompt_of(*four) for four in zip(texts, completions, before, afters, strict=True)]

    def _to_string(self, prompt: Prompt) -> str | None:
        """The prompt as a string; None where it goes to the tokenizer as a conversation."""
        if prompt.turns is None:
            return prompt.text or ""
        turns = [turn.model_dump() for turn in prompt.turns]
        body = {"model": self._served, "messages": turns, **self._chat_keys}
        try:
            [answer] = self._connection.post_at_root("/apply-template", [body])
        except BadInput:
            return None
        if not isinstance(answer, dict):
            raise AnswerUnread("the server's /apply-template gives no prompt")
        return str(answer.get("prompt", ""))

    def _to_messages(self, prompt: Prompt) -> Json:
        turns = [turn.model_dump() for turn in prompt.turns or ()]
        asked = {"model": self._served, "messages": turns, "add_generation_prompt": True}
        return {**asked, **self._chat_keys}

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
            "the server does not tell how it writes a conversation out: give `text`",
            pointer="/prompts",
        )
    return prompt.text or ""


def _prompt_of(text: str | None, written: str, before: _Read, after: _Read) -> TokenizedPrompt:
    ids = tuple(token.id for token in before), tuple(token.id for token in after)
    parts = frozenset(place for place, token in enumerate(after) if token.part)
    return TokenizedPrompt(text, written, ids, parts)


def _read_tokens(answer: Any) -> _Read:
    try:
        tokens = _Tokens.model_validate(answer).tokens
    except ValidationError as error:
        raise AnswerUnread("the server's /tokenize gives no tokens") from error
    return tuple(
        _Token(token)
        if isinstance(token, int)
        else _Token(token.id, part=isinstance(token.piece, list))
        for token in tokens
    )


# What servers would else add of their own, or of the model's generation_config.json.
NEUTRAL: dict[str, Json] = {
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "llamacpp": {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
}


def default_sampling(owner: str) -> Json:
    """Fields with which this kind of server samples by temperature and top-p alone."""
    return NEUTRAL.get(owner, {})


def generate(
    dialect: Dialect, prompts: Sequence[Prompt], sampling: Sampling, extra: Json
) -> list[Completion]:
    """A completion of each prompt; conversations go through the server's chat template.

    `finish` is the server's. Tokens are none where it did not tell those of the whole text: servers
    refuse or leave out log-probabilities, and llama.cpp those of parts of characters. Reasoning is
    no part of the text. Raises AnswerCut where a chat was cut before it came to its answer.
    """
    bodies = [
        {
            **extra,
            **_sampling(sampling, place if prompt.draw is None else prompt.draw),
            **_prompt_body(prompt, sampling),
        }
        for place, prompt in enumerate(prompts)
    ]
    chats = [place for place, prompt in enumerate(prompts) if prompt.turns is not None]
    texts = [place for place, prompt in enumerate(prompts) if prompt.turns is None]
    done: dict[int, Completion] = {}
    for path, places in ((CHAT, chats), ("/completions", texts)):
        answers = dialect.complete(path, [bodies[place] for place in places])
        for place, answer in zip(places, answers, strict=True):
            done[place] = _read_completion(answer)
    return [done[place] for place in range(len(prompts))]


def seed_of(seed: int, place: int) -> int:
    """The seed of a prompt's draws, whatever the others are; 31 bits, as all servers take."""
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0] >> np.uint32(1))


def align_tokens(pieces: Sequence[ServerToken], text: str) -> list[WrittenToken]:
    """The tokens that lie in the text, with their offsets."""
    tokens = []
    places = spans([piece.spelled for piece in pieces], text)
    for piece, place in zip(pieces, places, strict=True):
        if place is None:
            continue
        if piece.logprob is None:
            raise AnswerUnread("the server gives no log-probability for a token")
        # float32 on the server: the logarithm of a probability of 1 may come out above 0
        logprob = min(0.0, piece.logprob)
        tokens.append(WrittenToken(id=piece.id, start=place[0], end=place[1], logprob=logprob))
    return tokens


def completion(
    text: str, tokens: Sequence[WrittenToken], finish: Literal["stop", "length", "given"]
) -> Completion:
    """A completion whose tokens cover its text. A character that was cut off at the end is dropped.

    Raises ScoringError where the tokens end before the text does.
    """
    covered = tokens[-1].end if tokens else 0
    if text[covered:].strip(CUT):
        raise AnswerUnread("the server's tokens do not spell its text")
    return Completion(text=text[:covered], tokens=tuple(tokens), finish=finish)


def _sampling(sampling: Sampling, place: int) -> Json:
    body: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": seed_of(sampling.seed, place),
    }
    return {**body, "stop": list(sampling.stop)} if sampling.stop else body


def _prompt_body(prompt: Prompt, sampling: Sampling) -> Json:
    if prompt.turns is None:
        return {"prompt": prompt.text, "logprobs": True}
    turns = [turn.model_dump() for turn in prompt.turns]
    return {"messages": turns, "logprobs": True, **_constrained(sampling.answer_schema)}


def _constrained(schema: str | None) -> Json:
    """As OpenAI, vLLM, SGLang, llama.cpp and Ollama take it; the others refuse or ignore it."""
    if schema is None:
        return {}
    asked = {"name": "answer", "schema": json.loads(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": asked}}


def _read_completion(found: ServerChoice) -> Completion:
    text, finish = found.written, found.finish
    if found.cut_by_reasoning:
        raise AnswerCut("the model was still reasoning when its tokens were used up: allow more")
    try:
        done = completion(text, align_tokens(found.pieces or [], text), finish)
    except Unavailable:
        raise
    except ScoringError:
        done = Completion(text=text, tokens=(), finish=finish)
    return done.model_copy(update={"reasoning": found.reasoning or None})


CUT = "\ufffd"  # what bytes that make no character are decoded to

Span = tuple[int, int]  # characters of the text, end exclusive


def spans(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """For each piece its characters in `text`; None for a piece that lies before or after it.

    Ascending. A piece that holds a part of a character only is empty, its last one covers it.
    Raises ScoringError where the pieces do not spell the text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    last = len(pieces) - 1
    decoded = [decoder.decode(piece, final=place == last) for place, piece in enumerate(pieces)]
    spelled = "".join(decoded)
    starts = [0, *accumulate(map(len, decoded))][: len(decoded)]
    for wanted in dict.fromkeys((text, text.rstrip(CUT))):
        begins = (at for at in starts if spelled.startswith(wanted, at))
        shift, end = next(begins, spelled.find(wanted)), len(wanted)
        if shift >= 0:
            return [
                _within(start - shift, start - shift + len(part), end)
                for start, part in zip(starts, decoded, strict=True)
            ]
    return _in_order(pieces, text)


def _within(start: int, end: int, length: int) -> Span | None:
    if start >= length or (start < 0 and end <= 0):
        return None
    return max(0, start), min(end, length)


def _in_order(pieces: Sequence[bytes], text: str) -> list[Span | None]:
    """Where parts of characters came as U+FFFD: they fill the gaps between whole pieces."""
    found: list[Span | None] = [None] * len(pieces)
    cursor, parts = 0, list[int]()
    for place, spelled in enumerate(pieces):
        try:
            piece = spelled.decode("utf-8")
        except UnicodeDecodeError as error:  # it spells bytes, so that others must be missing
            raise AnswerUnread("the server's tokens do not spell its text") from error
        if not piece or CUT in piece:
            parts.append(place)
            continue
        at = text.find(piece, cursor)
        if at < 0:
            continue
        _fill(found, parts, (cursor, at))
        found[place], cursor, parts = (at, at + len(piece)), at + len(piece), []
    if cursor < len(text):
        _fill(found, parts, (cursor, len(text)))
    return found


def _fill(found: list[Span | None], parts: Sequence[int], gap: Span) -> None:
    start, end = gap
    if end > start and not parts:
        raise AnswerUnread("the server's tokens do not spell its text")
    for place in parts:
        found[place] = (start, start)
    if parts:
        found[parts[-1]] = gap
