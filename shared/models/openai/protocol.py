"""The messages of OpenAI-compatible servers, in their real differences.

What they answer: `/v1/completions` (`logprobs.tokens`, `token_logprobs`), `/v1/chat/completions`
(`logprobs.content[]` with `bytes`), as in OpenAI's API reference, and vLLM's `prompt_logprobs`.
llama.cpp answers in the second shape from both. Reasoning is kept apart from the text: servers call
it `reasoning` or `reasoning_content`, or leave it in the text as a leading <think>.

What they are asked (`Dialect`): the fields that one served model takes are learned from its
refusals and remembered. `max_completion_tokens` is asked first: OpenAI's reasoning models take no
other; after a 400 that names it, `max_tokens`, which older servers know alone. Fields that a server
refuses by name are left out from then on: log-probabilities, seeds, sampling of models that allow
none. Source: specs "models" §5.1.
"""

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
TOPS = (20, 5)  # tokens listed: the most of OpenAI and of vLLM's default; the most of TGI
LEFT_OUT = (  # what an answer can do without; logprobs go together
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
ALSO_CALLED = {"top_logprobs": "top_n_tokens"}  # by TGI, in its refusals

logger = telemetry.logger(__name__)


class Dialect:
    """Of one model behind a connection, for any number of threads."""

    def __init__(self, connection: Connection, served: str) -> None:
        self._connection = connection
        self._served = served
        self._limit = NEWER
        self._tops: tuple[int, ...] = TOPS
        self._left_out: set[str] = set()
        self._learned: set[str] = set()  # paths that once took a request
        self._native: dict[str, bool] = {}  # path → whether Ollama's own one tells what it keeps
        self._lock = Lock()

    @property
    def limit_field(self) -> str:
        """What this model calls the most tokens of a chat's answer."""
        return self._limit

    @property
    def listed(self) -> int:
        """Tokens that it lists at a position, as far as is known; 0: it refuses to."""
        refused = {"logprobs", "top_logprobs"} & self._left_out
        return 0 if refused or not self._tops else self._tops[0]

    @property
    def left_out(self) -> frozenset[str]:
        """The fields that it refused."""
        return frozenset(self._left_out)

    def complete_chat(self, bodies: Sequence[Json]) -> list[ServerChoice]:
        """The answers to conversations; bodies give `max_tokens` whatever the server calls it."""
        return self.complete(CHAT, bodies)

    def complete(self, path: str, bodies: Sequence[Json]) -> list[ServerChoice]:
        """The answers, in order. The first request of a path goes alone, so that what the server
        refuses is learned once. Raises BadInput where it refuses what no answer can do without."""
        if not bodies:
            return []
        if path in self._learned:
            return self._sent(path, bodies)
        with self._lock:
            if path in self._learned:
                return self._sent(path, bodies)
            first = self._sent(path, bodies[:1])
            self._learned.add(path)
        return [*first, *self._sent(path, bodies[1:])]

    def _sent(self, path: str, bodies: Sequence[Json]) -> list[ServerChoice]:
        """What is learned from refusals stays only where the request then succeeds: a refusal may
        repeat a text, and a text may hold the name of a field."""
        known = self._limit, self._tops, set(self._left_out)
        while True:
            spoken = [self._body_for_server(path, body) for body in bodies]
            try:
                if self._native.get(path):
                    return self._natively(path, spoken)
                answers = self._connection.post(path, spoken)
                found = [self._read(*pair) for pair in zip(spoken, answers, strict=True)]
                silent = any(  # Ollama has log-probabilities in its own API alone
                    body.get("logprobs") and one.logprobs is None and one.written
                    for body, one in zip(spoken, found, strict=True)
                )
                if not silent or path in self._native:
                    return found
                self._native[path] = False
                if not ollama.is_ollama(self._connection):
                    return found
                native = self._natively(path, spoken)
                self._native[path] = any(one.logprobs is not None for one in native)
                return native if self._native[path] else found
            except FieldRefused as error:
                if self._adapt_to_error(error, {name for body in spoken for name in body}):
                    continue
                self._limit, self._tops, self._left_out = known
                raise

    def _natively(self, path: str, spoken: Sequence[Json]) -> list[ServerChoice]:
        bodies = list(map(ollama.native_body, spoken))
        answers = self._connection.post_at_root(ollama.NATIVE[path], bodies)
        return [
            self._read(body, ollama.to_openai(answer))
            for body, answer in zip(spoken, answers, strict=True)
        ]

    def _read(self, body: Json, answer: Any) -> ServerChoice:
        """Raises TextTooLong where the server read less than it was sent, and said nothing."""
        found = parse_response(answer)
        choice = found.choices[0]
        said = [*strings_in(body), choice.written, choice.reasoning]
        keep_build(self._connection.name, found.system_fingerprint, said)
        if found.read is not None and found.read < _min_tokens(body):
            raise TextTooLong(
                f"the server of {self._served!r} read {found.read} tokens of at least "
                f"{_min_tokens(body)}: "
                "it cuts prompts silently (a short context, as Ollama's num_ctx)",
                pointer="/text",
            )
        return found.choices[0]

    @property
    def fingerprint(self) -> str | None:
        """Of the server's build, as it last said in an answer to the job that is computed."""
        context = current()
        return context.server_builds.get(self._connection.name) if context else None

    def _body_for_server(self, path: str, body: Json) -> Json:
        """A body in the server's words."""
        made = {"model": self._served, **body}
        if path == CHAT and OLDER in made:
            made[self._limit] = made.pop(OLDER)
        if made.get("top_logprobs") is True:
            made["top_logprobs"] = self.listed
            if path != CHAT:
                made["logprobs"] = made.pop("top_logprobs")
        elif path != CHAT and made.get("logprobs") is True:
            made["logprobs"] = 1
        left_out = set(self._left_out)
        if {"logprobs", "top_logprobs"} & left_out:
            left_out |= {"logprobs", "top_logprobs"}
        return {name: value for name, value in made.items() if name not in left_out}

    def _adapt_to_error(self, error: FieldRefused, asked: set[str]) -> bool:
        """Whether the refusal names a field that can be put otherwise or left out."""
        if error.pointer is not None:
            return False
        if NEWER in asked and self._limit == NEWER and _names(error, NEWER):
            self._limit = OLDER
            return True
        named = next((name for name in LEFT_OUT if name in asked and _names(error, name)), None)
        if named is None:
            return False
        if named in ("top_logprobs", "logprobs") and self._tops[1:]:
            self._tops = self._tops[1:]
            return True
        self._left_out.add(named)
        logger.warning("server.field_refused", model=self._served, field=named)
        return True


def _min_tokens(body: Json) -> int:
    """Tokens that the prompt surely has."""
    said = [turn["content"] for turn in body.get("messages", ())] or [body.get("prompt")]
    return sum(words_of(one) for one in said if isinstance(one, str))


def _names(error: FieldRefused, field: str) -> bool:
    either = "|".join((field, ALSO_CALLED.get(field, field)))
    return re.search(rf"\b({either})\b", error.words) is not None


THINK, CLOSED = "<think>", "</think>"  # Qwen3, DeepSeek-R1 and their like
LEGACY_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2})+")  # "bytes:\xf0\x9f" is a part of a character


class ServerToken(NamedTuple):
    """A token as the server spells it. `logprob` is None where it has nothing before it."""

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
        """The same in the one shape of ours."""
        spelled = encoded(self.token) if self.bytes is None else bytes(self.bytes)
        return ServerToken(spelled, self.logprob, self.id)


class Logprobs(BaseModel):
    """Both shapes at once; one of them is there."""

    content: list[LogprobEntry] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None

    @property
    def positions(self) -> list[LogprobEntry]:
        """Both shapes in the newer one: a token, and those that were listed with it."""
        if self.content is not None:
            return self.content
        tops = self.top_logprobs or [None] * len(self.tokens or ())
        listed = zip(self.tokens or (), self.token_logprobs or (), tops, strict=False)
        return [
            LogprobEntry(
                token=token,
                logprob=logprob,
                top_logprobs=[
                    LogprobEntry(token=other, logprob=value) for other, value in (top or {}).items()
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
        """Reasoning and answer, apart. An unclosed <think> is reasoning to its end."""
        content = self.content or self.refusal or ""  # OpenAI's has a field of its own
        apart = self.reasoning or self.reasoning_content or ""
        opening = content.lstrip()
        if not opening.startswith(THINK):
            return apart, content
        inside, closed, answer = opening[len(THINK) :].partition(CLOSED)
        return apart + inside, answer if closed else ""


class ServerChoice(BaseModel):
    """The one completion that we ask for."""

    text: str | None = None
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None
    prompt_logprobs: list[dict[str, PromptToken] | None] | None = None

    @property
    def written(self) -> str:
        """The text, of a completion or of a chat, without what was reasoned before it."""
        return (self.message.parts[1] if self.message else self.text) or ""

    @property
    def reasoning(self) -> str:
        """The reasoning before a chat's answer; never a part of an explanation."""
        return self.message.parts[0] if self.message else ""

    @property
    def reasoning_field(self) -> str | None:
        """The field of the reasoning; None: there was none."""
        if self.message is None or not self.reasoning:
            return None
        if self.message.reasoning:
            return "reasoning"
        return "reasoning_content" if self.message.reasoning_content else THINK

    @property
    def cut_by_reasoning(self) -> bool:
        """Whether a chat was cut before it came to its answer."""
        unsaid = self.message is not None and not self.written
        return unsaid and self.finish_reason == "length"

    @property
    def pieces(self) -> list[ServerToken] | None:
        """Its tokens; None where the server gives no log-probabilities."""
        found = self.logprobs
        if found is None:
            return None
        if found.content is not None:
            return [entry.to_token for entry in found.content]
        if found.tokens is None or found.token_logprobs is None:
            return None
        if len(found.tokens) != len(found.token_logprobs):
            return None
        values = zip(found.tokens, found.token_logprobs, strict=True)
        return [ServerToken(encoded(token), logprob) for token, logprob in values]

    @property
    def finish(self) -> Any:
        """Why it ended. Raises BadInput where a filter took the text, Unavailable for an abort."""
        if self.finish_reason == "content_filter":
            raise BadInput("the server's content filter withholds the completion", pointer="/model")
        if self.finish_reason == "abort":
            raise Unavailable("the server broke the completion off")
        return "length" if self.finish_reason == "length" else "stop"


class _Usage(BaseModel):
    prompt_tokens: int | None = None


class ServerResponse(BaseModel):
    """What was written, how much was read for it, and by which build of the server."""

    choices: list[ServerChoice] = Field(min_length=1, max_length=128, fail_fast=True)
    usage: _Usage | None = None
    system_fingerprint: str | None = None

    @property
    def read(self) -> int | None:
        """Tokens of the prompt that the server read; None: not stated."""
        return (self.usage.prompt_tokens or None) if self.usage else None


SURROGATE = re.compile("[\ud800-\udfff]")  # half of a pair: JSON may spell it, UTF-8 cannot


def without_surrogates(value: Any) -> Any:
    """The same JSON with U+FFFD for each half of a surrogate pair, as for other parts of
    characters; offsets stay."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(one) for key, one in value.items()}
    return [without_surrogates(one) for one in value] if isinstance(value, list) else value


def parse_response(answer: Any) -> ServerResponse:
    """Raises AnswerUnread for an answer of another shape."""
    try:
        return ServerResponse.model_validate(without_surrogates(answer))
    except RecursionError as error:
        raise AnswerUnread("the server's answer is not OpenAI's: it has no end of lists") from error
    except ValidationError as error:  # a key of the answer's own may be a word of the text
        place = "" if is_private() else dotted(first_fault(error))
        raise AnswerUnread(
            f"the server's answer is not OpenAI's: {place or 'nothing of it'}; is its address "
            "right?"
        ) from error


def encoded(token: str) -> bytes:
    """A token's bytes: of its string, or those that an older server spells out."""
    rest = token.removeprefix("bytes:")
    if rest != token and LEGACY_BYTES.fullmatch(rest):
        return bytes.fromhex(rest.replace("\\x", ""))
    return token.encode("utf-8", "replace")
