"""A judge of pairs and a writer that need no weights: deterministic functions of their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from shared.contracts.calls import Completion, Example, Prompt, Sampling
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelUse
from shared.models.label_readout import of_head
from tests.fakes import bound_models

Answer = Callable[[str, str], Sequence[float]]  # premise, hypothesis → E, N, C


def by_hash(premise: str, hypothesis: str) -> list[float]:
    """Probabilities that look random and depend on every character."""
    text = f"{premise}\n{hypothesis}".encode("utf-8", "surrogatepass")
    parts = np.frombuffer(hashlib.sha256(text).digest()[:12], dtype=np.uint32) + 1.0
    return [float(part / parts.sum()) for part in parts]


def always(label: int) -> Answer:
    """A judge of one answer."""
    return lambda premise, hypothesis: [float(place == label) for place in range(3)]


@dataclass
class FakeJudge:
    """Entailment, neutral, contradiction by a function; keeps what it was asked."""

    answer: Answer = by_hash
    labels: tuple[str, ...] = ("contradiction", "entailment", "neutral")  # not our order
    languages: tuple[str, ...] = ("*",)
    reads: int = 20_000  # characters
    calls: list[list[tuple[str, str]]] = field(default_factory=list)

    @property
    def use(self) -> ModelUse:
        return ModelUse(name="fake", revision="1", sha256="0" * 64, device="cpu", dtype="float64")

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        pairs = [(example.text, example.text_pair or "") for example in examples]
        self.calls.append(pairs)
        rows = [self.answer(*pair) for pair in pairs]
        found = [np.array([row[2], row[0], row[1]], dtype=np.float64) for row in rows]
        judged = of_head(np.array(found).reshape(-1, 3), None, self.labels)
        return [
            one.model_copy(
                update={"read_share": min(1.0, self.reads / max(1, sum(map(len, pair))))}
            )
            for one, pair in zip(judged, pairs, strict=True)
        ]


@dataclass
class FakeWriter:
    """Continues a prompt by a function; keeps the prompts and how it was asked."""

    write: Callable[[str], str]
    languages: tuple[str, ...] = ("*",)
    prompts: list[list[str]] = field(default_factory=list)
    samplings: list[Sampling] = field(default_factory=list)

    @property
    def use(self) -> ModelUse:
        return ModelUse(name="lm", revision="2", sha256="1" * 64, device="cpu", dtype="float64")

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        texts = [prompt.text or "" for prompt in prompts]
        self.prompts.append(texts)
        self.samplings.append(sampling)
        return [Completion(text=self.write(t), tokens=(), finish="stop") for t in texts]


@dataclass
class FakeModels:
    """The port, with one judge under its default name and one writer."""

    own: FakeJudge
    lm: FakeWriter | None

    def judge(self, name: str) -> FakeJudge:
        if name != "embedded-nli":
            raise BadInput(f"no model {name}", pointer="/model")
        return self.own

    def writer(self, name: str) -> FakeWriter:
        if name != "lm" or self.lm is None:
            raise BadInput(f"no model {name}", pointer="/model")
        return self.lm


@contextmanager
def bound(judge: FakeJudge, lm: FakeWriter | None = None) -> Iterator[FakeJudge]:
    """Bind the models for a while."""
    with bound_models(FakeModels(judge, lm)):
        yield judge
