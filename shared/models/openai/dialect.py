"""The fields that one served model takes, learned from its refusals and remembered.

`max_completion_tokens` is asked first: OpenAI's reasoning models take no other; after a 400 that
names it, `max_tokens`, which older servers know alone. Fields that a server refuses by name are
left out from then on: log-probabilities, seeds, sampling of models that allow none. Source: specs
"models" §5.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

from shared import telemetry
from shared.errors import TextTooLong
from shared.models.openai.answers import ServerChoice, server_answer
from shared.models.server_connection import Connection, FieldRefused, Json
from shared.work import words_of

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
        self._lock = Lock()
        self.fingerprint: str | None = None  # of the server's build, as it last said

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

    def chats(self, bodies: Sequence[Json]) -> list[ServerChoice]:
        """The answers to conversations; bodies give `max_tokens` whatever the server calls it."""
        return self.ask(CHAT, bodies)

    def ask(self, path: str, bodies: Sequence[Json]) -> list[ServerChoice]:
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
            spoken = [self._spoken(path, body) for body in bodies]
            try:
                answers = self._connection.post(path, spoken)
                return [self._read(*pair) for pair in zip(spoken, answers, strict=True)]
            except FieldRefused as error:
                if self._adapted(error, {name for body in spoken for name in body}):
                    continue
                self._limit, self._tops, self._left_out = known
                raise

    def _read(self, body: Json, answer: Any) -> ServerChoice:
        """Raises TextTooLong where the server read less than it was sent, and said nothing."""
        found = server_answer(answer)
        self.fingerprint = found.system_fingerprint or self.fingerprint
        if found.read is not None and found.read < _fewest(body):
            raise TextTooLong(
                f"the server of {self._served!r} read {found.read} tokens of at least "
                f"{_fewest(body)}: it cuts prompts silently (a short context, as Ollama's num_ctx)",
                pointer="/text",
            )
        return found.choices[0]

    def _spoken(self, path: str, body: Json) -> Json:
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

    def _adapted(self, error: FieldRefused, asked: set[str]) -> bool:
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


def _fewest(body: Json) -> int:
    """Tokens that the prompt surely has."""
    said = [turn["content"] for turn in body.get("messages", ())] or [body.get("prompt")]
    return sum(words_of(one) for one in said if isinstance(one, str))


def _names(error: FieldRefused, field: str) -> bool:
    return re.search(rf"\b{field}\b", error.words) is not None
