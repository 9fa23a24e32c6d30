"""Messages of OpenAI-compatible servers. Handles the differences between servers.

Answers: `/v1/completions` (`logprobs.tokens`, `token_logprobs`), `/v1/chat/completions`
(`logprobs.content[]` with `bytes`), as in OpenAI's API reference, and vLLM's `prompt_logprobs`.
llama.cpp uses the chat format for both endpoints. Reasoning is separated from the text. Servers
call it `reasoning` or `reasoning_content`, or leave it in the text as a leading <think>.

Requests (`Dialect`): the fields of a served model are learned from its errors.
`max_completion_tokens` is sent first, because OpenAI's reasoning models accept no other. If a
server rejects this field with status 400, `max_tokens` is sent, the only field that older servers
know. Fields that a server rejects by name are left out from then on: log-probabilities, seeds, or
sampling parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from shared.contracts.errors import BadInput, TextTooLong, Unavailable
from shared.contracts.request_cost import words_of
from shared.contracts.validation_messages import dotted, first_fault
from shared.models.openai import ollama
from shared.models.openai.server_builds import keep_build, strings_in
from shared.models.server_connection import AnswerUnread, Connection, FieldRefused, Json
from shared.process import telemetry
from shared.queue.job_context import current, is_private

CHAT = "/chat/completions"
NEWER, OLDER = "max_completion_tokens", "max_tokens"
TOPS = (20, 5)  # listed tokens: the limit of OpenAI and vLLM's default; the limit of TGI
LEFT_OUT = (  # optional fields; logprobs go together
    "top_logprobs",
    "logprobs",
    "seed",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
    "response_format",  # the answer is checked anyway
)
ALSO_CALLED = {"top_logprobs": "top_n_tokens"}  # in TGI's errors

logger = telemetry.logger(__name__)


class Dialect:
    """The request fields that one model behind a connection accepts. Thread-safe."""

    def __init__(self, connection: Connection, served: str) -> None:
        self._connection = connection
        self._served = served
        self._limit = NEWER
        self._tops: tuple[int, ...] = TOPS
        self._left_out: set[str] = set()
        self._learned: set[str] = set()  # paths that have accepted a request
        self._native: dict[str, bool] = {}  # path → Ollama's own API has more log-probabilities
        self._lock = Lock()

    @property
    def limit_field(self) -> str:
        """The name of the field that limits the tokens of a chat's answer."""
        return self._limit

    @property
    def listed(self) -> int:
        """The number of tokens listed per position, as far as known, or 0 if listing is
        rejected."""
        refused = {"logprobs", "top_logprobs"} & self._left_out
        return 0 if refused or not self._tops else self._tops[0]

    @property
    def left_out(self) -> frozenset[str]:
        """The names of the fields that the server rejected."""
        return frozenset(self._left_out)

    def complete_chat(self, bodies: Sequence[Json]) -> list[ServerChoice]:
        """Return the answers to conversations. `bodies` are requests with the field
        `max_tokens`."""
        return self.complete(CHAT, bodies)

    def complete(self, path: str, bodies: Sequence[Json]) -> list[ServerChoice]:
        """Return the answers, in order. The first request of a path is sent alone, so that rejected
        fields are learned only once. Raises BadInput if the server rejects a required field."""
        if not bodies:
            return []
        if path in self._learned:
            return self._send(path, bodies)
        with self._lock:
            if path in self._learned:
                return self._send(path, bodies)
            first = self._send(path, bodies[:1])
            self._learned.add(path)
        return [*first, *self._send(path, bodies[1:])]

    def _send(self, path: str, bodies: Sequence[Json]) -> list[ServerChoice]:
        """Send requests and return the choices. If the server rejects a field, adapt the fields and
        try again. If the requests still fail, undo the changes, because the error may only quote a
        user's text that contains a field's name."""
        previous = self._limit, self._tops, set(self._left_out)
        while True:
            translated = [self._body_for_server(path, body) for body in bodies]
            try:
                if self._native.get(path):
                    return self._natively(path, translated)
                answers = self._connection.post(path, translated)
                choices = [self._read(*pair) for pair in zip(translated, answers, strict=True)]
                silent = any(  # Ollama has log-probabilities only in its own API
                    body.get("logprobs") and choice.logprobs is None and choice.written
                    for body, choice in zip(translated, choices, strict=True)
                )
                if not silent or path in self._native:
                    return choices
                self._native[path] = False
                if not ollama.is_ollama(self._connection):
                    return choices
                native = self._natively(path, translated)
                self._native[path] = any(choice.logprobs is not None for choice in native)
                return native if self._native[path] else choices
            except FieldRefused as error:
                if self._adapt_to_error(error, {name for body in translated for name in body}):
                    continue
                self._limit, self._tops, self._left_out = previous
                raise

    def _natively(self, path: str, translated: Sequence[Json]) -> list[ServerChoice]:
        bodies = list(map(ollama.native_body, translated))
        answers = self._connection.post_at_root(ollama.NATIVE[path], bodies)
        return [
            self._read(body, ollama.to_openai(answer))
            for body, answer in zip(translated, answers, strict=True)
        ]

    def _read(self, body: Json, answer: Any) -> ServerChoice:
        """Return the choice. Raises TextTooLong if the server cut the prompt without an error."""
        response = parse_response(answer)
        choice = response.choices[0]
        texts = [*strings_in(body), choice.written, choice.reasoning]
        keep_build(self._connection.name, response.system_fingerprint, texts)
        if response.read is not None and response.read < _min_tokens(body):
            raise TextTooLong(
                f"the server of {self._served!r} read only {response.read} of at least "
                f"{_min_tokens(body)} tokens; raise the server's context length (num_ctx in "
                "Ollama)",
                pointer="/text",
            )
        return response.choices[0]

    @property
    def fingerprint(self) -> str | None:
        """The server's build, from its last answer to the current job."""
        context = current()
        return context.server_builds.get(self._connection.name) if context else None

    def _body_for_server(self, path: str, body: Json) -> Json:
        translated = {"model": self._served, **body}
        if path == CHAT and OLDER in translated:
            translated[self._limit] = translated.pop(OLDER)
        if translated.get("top_logprobs") is True:
            translated["top_logprobs"] = self.listed
            if path != CHAT:
                translated["logprobs"] = translated.pop("top_logprobs")
        elif path != CHAT and translated.get("logprobs") is True:
            translated["logprobs"] = 1
        left_out = set(self._left_out)
        if {"logprobs", "top_logprobs"} & left_out:
            left_out |= {"logprobs", "top_logprobs"}
        return {name: value for name, value in translated.items() if name not in left_out}

    def _adapt_to_error(self, error: FieldRefused, fields: set[str]) -> bool:
        """Change or leave out the field that the error names. Return False if it names no such
        field."""
        if error.pointer is not None:
            return False
        if NEWER in fields and self._limit == NEWER and _names(error, NEWER):
            self._limit = OLDER
            return True
        field = next((name for name in LEFT_OUT if name in fields and _names(error, name)), None)
        if field is None:
            return False
        if field in ("top_logprobs", "logprobs") and self._tops[1:]:
            self._tops = self._tops[1:]
            return True
        self._left_out.add(field)
        logger.warning("server.field_refused", model=self._served, field=field)
        return True


def _min_tokens(body: Json) -> int:
    texts = [turn["content"] for turn in body.get("messages", ())] or [body.get("prompt")]
    return sum(words_of(text) for text in texts if isinstance(text, str))


def _names(error: FieldRefused, field: str) -> bool:
    names = "|".join((field, ALSO_CALLED.get(field, field)))
    return re.search(rf"\b({names})\b", error.words) is not None


THINK, CLOSED = "<think>", "</think>"  # Qwen3, DeepSeek-R1 and others
LEGACY_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2})+")  # "bytes:\xf0\x9f" is part of a character


class ServerToken(NamedTuple):
    """A token as the server spells it; `logprob` is None at the start of a text."""

    spelled: bytes
    logprob: float | None
    id: int | None = None


class LogprobEntry(BaseModel):
    """A token of `logprobs.content`."""

    token: str
    logprob: float
    bytes: list[Annotated[int, Field(ge=0, le=255)]] | None = None
    id: int | None = None
    top_logprobs: list[LogprobEntry] = []

    @property
    def to_token(self) -> ServerToken:
        """The entry as a ServerToken."""
        spelled = encoded(self.token) if self.bytes is None else bytes(self.bytes)
        return ServerToken(spelled, self.logprob, self.id)


class Logprobs(BaseModel):
    """Log-probabilities in the chat format (`content`) or in the completions format (the other
    fields)."""

    content: list[LogprobEntry] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None

    @property
    def positions(self) -> list[LogprobEntry]:
        """The answer's tokens in one format, each with the alternatives listed for it."""
        if self.content is not None:
            return self.content
        tops = self.top_logprobs or [None] * len(self.tokens or ())
        listed = zip(self.tokens or (), self.token_logprobs or (), tops, strict=False)
        return [
            LogprobEntry(
                token=token,
                logprob=logprob,
                top_logprobs=[
                    LogprobEntry(token=name, logprob=value) for name, value in (top or {}).items()
                ],
            )
            for token, logprob, top in listed
            if logprob is not None
        ]


class PromptToken(BaseModel):
    """A token of vLLM's `prompt_logprobs`."""

    logprob: float
    decoded_token: str | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def parts(self) -> tuple[str, str]:
        """Return reasoning and answer. An unclosed <think> makes the rest of the text reasoning."""
        content = self.content or self.refusal or ""  # OpenAI has a separate field for refusals
        reasoning = self.reasoning or self.reasoning_content or ""
        opening = content.lstrip()
        if not opening.startswith(THINK):
            return reasoning, content
        inside, closed, answer = opening[len(THINK) :].partition(CLOSED)
        return reasoning + inside, answer if closed else ""


class ServerChoice(BaseModel):
    """The single completion of a request."""

    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    prompt_logprobs: list[dict[str, PromptToken] | None] | None = None

    @property
    def written(self) -> str:
        """The text of a completion or chat, without reasoning."""
        return (self.message.parts[1] if self.message else self.text) or ""

    @property
    def reasoning(self) -> str:
        """The reasoning before a chat's answer. It is never part of an explanation."""
        return self.message.parts[0] if self.message else ""

    @property
    def reasoning_field(self) -> str | None:
        """The name of the field with the reasoning, or None if there is none."""
        if self.message is None or not self.reasoning:
            return None
        if self.message.reasoning:
            return "reasoning"
        return "reasoning_content" if self.message.reasoning_content else THINK

    @property
    def cut_by_reasoning(self) -> bool:
        """Return True if a chat was cut before its answer."""
        is_empty = self.message is not None and not self.written
        return is_empty and self.finish_reason == "length"

    @property
    def pieces(self) -> list[ServerToken] | None:
        """The tokens, or None if the server has no log-probabilities."""
        logprobs = self.logprobs
        if logprobs is None:
            return None
        if logprobs.content is not None:
            return [entry.to_token for entry in logprobs.content]
        if logprobs.tokens is None or logprobs.token_logprobs is None:
            return None
        if len(logprobs.tokens) != len(logprobs.token_logprobs):
            return None
        values = zip(logprobs.tokens, logprobs.token_logprobs, strict=True)
        return [ServerToken(encoded(token), logprob) for token, logprob in values]

    @property
    def finish(self) -> Any:
        """Return the reason why the completion ended. Raises BadInput for a content filter,
        Unavailable for an abort."""
        if self.finish_reason == "content_filter":
            raise BadInput(
                "the server's content filter withheld the completion; change the text, or "
                "choose another model",
                pointer="/model",
            )
        if self.finish_reason == "abort":
            raise Unavailable("the server aborted the completion; send the request again")
        return "length" if self.finish_reason == "length" else "stop"


class _Usage(BaseModel):
    prompt_tokens: int | None = None


class ServerResponse(BaseModel):
    """The completion, the number of tokens read, and the server's build."""

    choices: list[ServerChoice] = Field(min_length=1, max_length=128, fail_fast=True)
    usage: _Usage | None = None
    system_fingerprint: str | None = None

    @property
    def read(self) -> int | None:
        """The number of prompt tokens that the server read, or None if not stated."""
        return (self.usage.prompt_tokens or None) if self.usage else None


SURROGATE = re.compile("[\ud800-\udfff]")  # half of a pair, which JSON allows and UTF-8 does not


def without_surrogates(value: Any) -> Any:
    """Replace each half of a surrogate pair by U+FFFD. Offsets stay valid."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return [without_surrogates(item) for item in value] if isinstance(value, list) else value


def parse_response(answer: Any) -> ServerResponse:
    """Parse an answer. Raises AnswerUnread if its format is unknown."""
    try:
        return ServerResponse.model_validate(without_surrogates(answer))
    except RecursionError as error:
        raise AnswerUnread(
            "the server's answer does not have OpenAI's form: its lists do not end"
        ) from error
    except ValidationError as error:  # a key of the answer may be a word of the text
        path = "" if is_private() else dotted(first_fault(error))
        raise AnswerUnread(
            f"the server's answer does not have OpenAI's form: {path or 'the whole answer'}; "
            "check the server's address"
        ) from error


def encoded(token: str) -> bytes:
    """Return a token's bytes. Older servers spell some tokens as bytes, which are decoded."""
    spelled = token.removeprefix("bytes:")
    if spelled != token and LEGACY_BYTES.fullmatch(spelled):
        return bytes.fromhex(spelled.replace("\\x", ""))
    return token.encode("utf-8", "replace")
