"""Responses that the caller already has, as OpenAI-compatible servers return them.

Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from shared.contracts import MAX_TEXT, Message
from shared.models.calls import WrittenToken

MOST_TOKENS = 8_192
MOST_REASONS = 64  # of a JUSTIFY response that later stages ask about
MISSING = (
    "token log-probabilities are missing: give `logprobs` as an OpenAI-compatible server returns "
    "them (ask it for `logprobs`), or `tokens` with offsets"
)

# A server may round a probability of 1 up; a value above 0 by no more than this counts as 0.
Logprob = Annotated[float, Field(le=1e-4, description="natural logarithm")]
Byte = Annotated[int, Field(ge=0, le=255)]


class Pasted(Message):
    """An object of a server's answer; what we do not need of it is left alone."""

    model_config = ConfigDict(extra="ignore")


class ChatToken(Pasted):
    """An entry of `choices[].logprobs.content`."""

    token: str
    logprob: Logprob
    bytes: list[Byte] | None = Field(
        default=None, description="UTF-8, for tokens that are no whole characters"
    )


class ChatLogprobs(Pasted):
    """`choices[].logprobs` of a chat completion."""

    content: list[ChatToken] = Field(max_length=MOST_TOKENS)


class CompletionLogprobs(Pasted):
    """`choices[].logprobs` of a completion."""

    tokens: list[str] = Field(max_length=MOST_TOKENS)
    token_logprobs: list[Logprob] = Field(max_length=MOST_TOKENS)

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if len(self.tokens) != len(self.token_logprobs):
            raise ValueError("there must be one log-probability a token")
        return self


def _shape(sent: Any) -> str:
    """Which of the two shapes it is meant to have, so that mistakes are named in that one only."""
    if isinstance(sent, ChatLogprobs) or (isinstance(sent, dict) and "content" in sent):
        return "chat"
    return "completion"


Logprobs = Annotated[
    Annotated[ChatLogprobs, Tag("chat")] | Annotated[CompletionLogprobs, Tag("completion")],
    Discriminator(_shape),
]


class Response(Message):
    """What a model answered in one stage, and how likely each token was."""

    text: str = Field(max_length=MAX_TEXT)
    logprobs: Logprobs | None = Field(
        default=None, description="`choices[].logprobs` of a chat completion or of a completion"
    )
    tokens: tuple[WrittenToken, ...] | None = Field(
        default=None,
        max_length=MOST_TOKENS,
        description="instead: offsets into `text`, as `POST /v1/inference` returns them",
    )

    @model_validator(mode="after")
    def _has_tokens(self) -> Self:
        if self.logprobs is not None and self.tokens is not None:
            raise ValueError("give either `logprobs` or `tokens`")
        if self.text.strip() and self.logprobs is None and self.tokens is None:
            raise ValueError(MISSING)
        for token in self.tokens or ():
            if not token.start <= token.end <= len(self.text):
                raise ValueError("a token's offsets lie outside the text")
        return self


class Responses(Message):
    """The stages that the caller has; each was a conversation of its own."""

    justify: Response = Field(description="to: is the text toxic, and why?")
    internal: Response | None = Field(
        default=None, description="UPHOLD-REASON: is a reason based on the text missing?"
    )
    external: Response | None = Field(
        default=None, description="UPHOLD-REASON: is a reason beyond the text missing?"
    )
    individual: tuple[Response | None, ...] | None = Field(
        default=None,
        max_length=MOST_REASONS,
        description="UPHOLD-STANCE, one for each JUSTIFY reason in their order: asked with that "
        "reason alone (toxic, maybe) or with all others (non-toxic); null where there is none",
    )
