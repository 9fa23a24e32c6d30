"""A language model that says what it is told to, and a similarity made of words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shared.contracts.calls import Completion, Pair, Prompt, Sampling, WrittenToken
from shared.contracts.errors import BadInput
from shared.contracts.messages import ModelKind, ModelUse
from shared.models.catalogue.catalogue import READER
from shared.models.ports import Floats
from shared.readers.model import OUTPUTS
from tests.fakes import bound_models

TOXIC = "The text is toxic.\n\n1. It calls the neighbours lazy.\n2. It wants them gone from here."
PLAIN = "The text is not toxic.\n\n1. It describes the weather only.\n2. It attacks nobody at all."
ENOUGH = "No, additional reasons are not required."
MORE = "Yes, an additional reason is required.\n\n1. It blames a whole street for one evening."
KINDS: dict[str, ModelKind] = {
    "lm": "causal",
    "embedded-similarity": "similarity",
    READER.name: "classifier",
}


def use(name: str) -> ModelUse:
    return ModelUse(name=name, revision="1", sha256="0" * 64, device="cpu", dtype="float64")


def surprise(text: str) -> float:
    """Nats in [0, 2) that depend on every character."""
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8], 16) / 2**31


def completion(text: str, before: str = "") -> Completion:
    """Words as tokens; a word is less likely the more stands before it."""
    tokens = [
        WrittenToken(
            id=None,
            start=found.start(),
            end=found.end(),
            logprob=-surprise(before + text[: found.end()]),
        )
        for found in re.finditer(r"\s*\S+|\s+", text)
    ]
    return Completion(text=text, tokens=tuple(tokens), finish="stop")


def overlap(a: str, b: str) -> float:
    """Shared words over all words."""
    one, other = set(a.lower().split()), set(b.lower().split())
    return len(one & other) / len(one | other) if one | other else 1.0


def told(prompt: Prompt) -> str:
    """The stage and what is said in it, by the instruction."""
    instruction = (prompt.turns or ())[0].content
    if instruction.startswith("Is the below"):
        return TOXIC
    return MORE if "solely" in instruction else ENOUGH


def read(asked: str) -> str:
    """The label of a text of these tests, by its words."""
    reading, _, text = asked.partition(": ")
    words = text.lower()
    if reading == "refusal":
        return "refusal" if "i cannot" in words else "no-refusal"
    if "i cannot" in words:
        return "unclear"
    if reading == "stance":
        return "non-toxic" if "not toxic" in words else "toxic" if "toxic" in words else "unclear"
    if "not required" in words or "no additional" in words:
        return "sufficient"
    return "insufficient" if "required" in words else "unclear"


@dataclass
class FakeModels:
    """The port `Models`: one writer, one similarity, the reader; counts calls."""

    say: Callable[[Prompt], str] = told
    alike: Callable[[str, str], float] = overlap
    generated: list[tuple[Prompt, ...]] = field(default_factory=list)
    scored: list[tuple[str, ...]] = field(default_factory=list)
    compared: list[tuple[Pair, ...]] = field(default_factory=list)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    name: str = ""
    languages: tuple[str, ...] = ("*",)
    silent: bool = False  # it returns no log-probabilities

    def reader_of(self, _name: str) -> str | None:
        return None

    def kind(self, name: str) -> ModelKind:
        if name not in KINDS:
            raise BadInput(f"no model {name!r}", pointer="/model")
        return KINDS[name]

    def _named(self, name: str, *kinds: ModelKind) -> FakeModels:
        if self.kind(name) not in kinds:
            raise BadInput(f"{name!r} is of another kind", pointer="/model")
        return FakeModels(
            self.say,
            self.alike,
            self.generated,
            self.scored,
            self.compared,
            self.asked,
            name,
            self.languages,
            self.silent,
        )

    def writer(self, name: str) -> FakeModels:
        return self._named(name, "causal")

    def similarity(self, name: str) -> FakeModels:
        return self._named(name, "similarity", "cross-encoder")

    def classifier(self, name: str) -> FakeModels:
        return self._named(name, "classifier")

    @property
    def use(self) -> ModelUse:
        return use(self.name)

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.generated.append(tuple(prompts))
        found = [
            completion(self.say(prompt), f"{sampling.seed} {prompt.draw} {prompt.turns}")
            for prompt in prompts
        ]
        return [one.model_copy(update={"tokens": ()}) for one in found] if self.silent else found

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        self.scored.append(tuple(completions))
        return [completion(text, "given") for text in completions]

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        self.compared.append(tuple(pairs))
        return np.array([self.alike(pair.a, pair.b) for pair in pairs])

    def probabilities(self, texts: Sequence[str]) -> Floats:
        self.asked.append(tuple(texts))
        names = [f"{text.partition(': ')[0]}: {read(text)}" for text in texts]
        rows = np.full((len(texts), len(OUTPUTS)), 0.001)
        rows[np.arange(len(texts)), [OUTPUTS.index(name) for name in names]] = 0.9
        return rows


@contextmanager
def bound(**more: Any) -> Iterator[FakeModels]:
    """Bind the fakes for a while."""
    fakes = FakeModels(**more)
    with bound_models(fakes):
        yield fakes


def response(text: str) -> dict[str, Any]:
    """As a server of completions returns it."""
    made = completion(text)
    return {
        "text": text,
        "logprobs": {
            "tokens": [text[token.start : token.end] for token in made.tokens],
            "token_logprobs": [token.logprob for token in made.tokens],
        },
    }
