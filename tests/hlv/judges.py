"""Judges made of functions, and requests to put before them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from services.hlv.contract import HlvRequest
from shared.contracts.calls import Completion, Example, Prompt, Sampling, WrittenToken
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse
from shared.models.label_readout import of_head
from tests.fakes import bound_models

USE = ModelUse(name="stub", revision="1", sha256="0" * 64, device="cpu", dtype="float64")
NLI = {"premise": "A dog sleeps on a red sofa.", "hypothesis": "An animal is at rest."}
OPTIONS = [
    {"key": "A", "text": "Entailment"},
    {"key": "B", "text": "Neutral"},
    {"key": "C", "text": "Contradiction"},
]
GREEDY = {"temperature": 0.0, "runs": 1}


def request(**fields: Any) -> HlvRequest:
    votes = {"votes": {"A": 7, "B": 2, "C": 1}}
    common = {"question": NLI, "options": OPTIONS, "human": votes}
    model = {} if "predictions" in fields else {"model": "stub"}
    return HlvRequest.model_validate(common | model | fields)


def text_of(prompt: Prompt) -> str:
    return prompt.text if prompt.turns is None else prompt.turns[0].content  # type: ignore[return-value]


def by_hash(text: str, *keys: int) -> float:
    """A number in [0, 1) that depends on every character and on where a draw was made."""
    digest = hashlib.sha256(f"{keys} {text}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def hashed_answer(prompt: str, seed: int, place: int) -> str:
    """A ranking or a rating, at random."""
    draw = by_hash(prompt, seed, place)
    if prompt.endswith("Rating:"):
        return f"Rating: {1 + int(5 * draw)}"
    return " ".join(np.random.default_rng(int(draw * 2**32)).permutation(["A", "B", "C"]))


def hashed_logprob(prompt: str, written: str) -> float:
    return float(np.log(0.05 + 0.2 * by_hash(prompt + "|" + written)))


def draw_of(prompt: Prompt, place: int) -> int:
    """What a prompt is drawn with, beside the seed."""
    return place if prompt.draw is None else prompt.draw


@dataclass
class StubJudge:
    """A writer; an answer depends on seed and draw, unless it is greedy. Remembers its calls."""

    answer: Callable[[str, int, int], str] = hashed_answer
    logprob: Callable[[str, str], float] = hashed_logprob
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    use: ModelUse = USE
    languages: tuple[str, ...] = ("*",)
    generated: list[list[str]] = field(default_factory=list)
    scored: list[list[tuple[str, str]]] = field(default_factory=list)
    judged: list[list[Example]] = field(default_factory=list)

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.generated.append([text_of(prompt) for prompt in prompts])
        sampled = sampling.temperature > 0
        return [
            Completion(
                text=self.answer(
                    text_of(prompt),
                    sampling.seed if sampled else 0,
                    draw_of(prompt, place) if sampled else 0,
                ),
                tokens=(),
                finish="stop",
            )
            for place, prompt in enumerate(prompts)
        ]

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        asked = [(text_of(p), written) for p, written in zip(prompts, completions, strict=True)]
        self.scored.append(asked)
        return [
            Completion(
                text=written,
                tokens=(
                    WrittenToken(
                        id=int(by_hash(written) * 2**20),
                        start=0,
                        end=len(written),
                        logprob=self.logprob(text, written),
                    ),
                ),
                finish="given",
            )
            for text, written in asked
        ]

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        self.judged.append(list(examples))
        rows = [
            np.array([by_hash(f"{one.text}|{one.text_pair}|{label}") for label in self.labels])
            for one in examples
        ]
        return of_head(np.array([row / row.sum() for row in rows]), None, self.labels)

    @property
    def prompts(self) -> list[str]:
        """Every prompt that was read."""
        asked = [text for call in self.generated for text in call]
        return asked + [text for call in self.scored for text, _ in call]


@dataclass
class StubModels:
    """One judge under every name; names with "nli" are classifiers."""

    own: StubJudge

    def reader_of(self, _name: str) -> str | None:
        return None

    def kind(self, name: str) -> ModelKind:
        return "classifier" if "nli" in name else "causal"

    def writer(self, name: str) -> StubJudge:
        return self.own

    judge = language_model = writer


@contextmanager
def bound(judge: StubJudge | None = None) -> Iterator[StubJudge]:
    """Bind this judge for a while."""
    made = judge or StubJudge()
    with bound_models(StubModels(made)):
        yield made
