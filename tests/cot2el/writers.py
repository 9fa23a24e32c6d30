"""A language model made of functions, a similarity made of letters, and requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from services.cot2el.contract import CONTRACT, Cot2elRequest
from shared.contracts.calls import Completion, Example, Pair, Prompt, Sampling
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelUse
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.text.changed_meaning import negations
from tests.fakes import bound_models

USE = ModelUse(name="stub", revision="1", sha256="0" * 64, device="cpu", dtype="float64")
NLI_USE = USE.model_copy(update={"name": "embedded-nli"})
EXAMPLE: dict[str, Any] = CONTRACT.examples["one pair is not in the reasoning"]
THOUGHT: str = EXAMPLE["reasoning"]
MARKDOWN = "**Entailment**\n- Supports: People often carry umbrellas when it rains."
PARSE = {
    "Option A": {"support": ["People often carry umbrellas when it rains."], "oppose": []},
    "B. Neutral": {"support": ['1. "So the statement cannot be confirmed."'], "oppose": []},
    "weather": {"support": ["It rains."], "oppose": []},
}


def request(**fields: Any) -> Cot2elRequest:
    common = {name: EXAMPLE[name] for name in ("question", "options", "reasoning")}
    model = {} if fields.get("pairs") is not None else {"model": "stub"}
    return Cot2elRequest.model_validate(common | model | fields)


def sent(**fields: Any) -> Cot2elRequest:
    return request(**{"pairs": EXAMPLE["pairs"]} | fields)


Answer = Callable[[int, Prompt, Sampling, int], str]


def usual(stage: int, prompt: Prompt, sampling: Sampling, place: int) -> str:
    """What an obliging model writes; its reasoning tells where it was drawn."""
    if stage == 1:
        return f"<think>\n{THOUGHT} I draw {sampling.seed} at {place}.\n</think>\n\nB. Neutral"
    return MARKDOWN if stage == 2 else f"```json\n{json.dumps(PARSE)}\n```"


def stage_of(prompt: Prompt) -> int:
    turns = prompt.turns or ()
    if turns[0].role == "system":
        return 3
    return 2 if "your reasoning process" in turns[-1].content else 1


@dataclass
class StubWriter:
    """Answers by stage; remembers its calls."""

    answer: Answer = usual
    languages: tuple[str, ...] = ("*",)
    use: ModelUse = USE
    calls: list[tuple[list[Prompt], Sampling]] = field(default_factory=list)

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        self.calls.append((list(prompts), sampling))
        sampled = sampling.temperature > 0
        return [
            Completion(
                text=self.answer(
                    stage_of(prompt), prompt, sampling, _draw(prompt, place) if sampled else 0
                ),
                tokens=(),
                finish="stop",
            )
            for place, prompt in enumerate(prompts)
        ]

    @property
    def stages(self) -> list[int]:
        return [stage_of(prompt) for prompts, _ in self.calls for prompt in prompts]


def _draw(prompt: Prompt, place: int) -> int:
    return place if prompt.draw is None else prompt.draw


class Letters:
    """Similarity by shared letters."""

    use = USE.model_copy(update={"name": "letters"})

    def __init__(self) -> None:
        self.calls: list[list[Pair]] = []

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        self.calls.append(list(pairs))
        return np.array([len({*p.a} & {*p.b}) / len({*p.a} | {*p.b}) for p in pairs])


@dataclass
class Negations:
    """Inference by negations alone: an odd and an even number of them contradict each other."""

    languages: tuple[str, ...] = ("en",)
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    unread: bool = False
    use: ModelUse = NLI_USE
    calls: list[list[tuple[str, str]]] = field(default_factory=list)

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        pairs = [(example.text, example.text_pair or "") for example in examples]
        self.calls.append(pairs)
        odd = [sum(negations(text, "en") for text in pair) % 2 for pair in pairs]
        rows = np.array([[0.1, 0.0, 0.9] if one else [0.8, 0.1, 0.1] for one in odd])
        found = of_head(rows.reshape(-1, 3), None, self.labels)
        if self.unread:
            found = [one.model_copy(update={"read_share": 0.5}) for one in found]
        return found


@dataclass
class StubModels:
    """The port over all three."""

    stub: StubWriter
    letters: Letters
    nli: Negations

    def judge(self, name: str) -> Negations:
        if name != "embedded-nli":
            raise BadInput(f"no model {name}", pointer="/model")
        return self.nli

    def writer(self, name: str) -> StubWriter:
        return self.stub

    def similarity(self, name: str) -> Letters:
        if name != "letters":
            raise BadInput(f"no model {name}", pointer="/model")
        return self.letters


@contextmanager
def bound(writer: StubWriter | None = None, nli: Negations | None = None) -> Iterator[StubModels]:
    """Bind these models for a while."""
    made = StubModels(writer or StubWriter(), Letters(), nli or Negations())
    with bound_models(made):
        yield made
