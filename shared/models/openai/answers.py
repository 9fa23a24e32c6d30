"""What OpenAI-compatible servers answer, in their real differences.

We read `/v1/completions` (`logprobs.tokens`, `token_logprobs`) and `/v1/chat/completions`
(`logprobs.content[]` with `bytes`), as in OpenAI's API reference, and vLLM's `prompt_logprobs`.
llama.cpp answers in the second shape from both. Reasoning is kept apart from the text: servers call
it `reasoning` or `reasoning_content`, or leave it in the text as a leading <think>. Source: specs
"models" §5.1.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from shared.errors import BadInput, ScoringError, Unavailable

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
    bytes: list[int] | None = None
    id: int | None = None
    top_logprobs: list[LogprobEntry] = []

    @property
    def piece(self) -> ServerToken:
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
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def parts(self) -> tuple[str, str]:
        """Reasoning and answer, apart. An unclosed <think> is reasoning to its end."""
        content = self.content or ""
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
        """What a chat reasoned before its answer; never a part of an explanation."""
        return self.message.parts[0] if self.message else ""

    @property
    def reasoning_field(self) -> str | None:
        """Where the server puts reasoning; None: there was none."""
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
            return [entry.piece for entry in found.content]
        if found.tokens is None or found.token_logprobs is None:
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


class ServerAnswer(BaseModel):
    """What was written, how much was read for it, and by which build of the server."""

    choices: list[ServerChoice] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: str | None = None

    @property
    def read(self) -> int | None:
        """Tokens of the prompt that the server read; None: not stated."""
        return (self.usage.prompt_tokens or None) if self.usage else None


def server_answer(answer: Any) -> ServerAnswer:
    """Raises ScoringError for an answer of another shape."""
    try:
        return ServerAnswer.model_validate(answer)
    except ValidationError as error:
        place = ".".join(str(step) for step in error.errors()[0]["loc"])
        raise ScoringError(f"the server's answer is not OpenAI's: {place}") from error


def encoded(token: str) -> bytes:
    """A token's bytes: of its string, or those that an older server spells out."""
    rest = token.removeprefix("bytes:")
    if rest != token and LEGACY_BYTES.fullmatch(rest):
        return bytes.fromhex(rest.replace("\\x", ""))
    return token.encode("utf-8", "replace")
