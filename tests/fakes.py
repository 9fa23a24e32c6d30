"""Models made of arithmetic: an answer follows from its question, so that ways can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast, get_args

import numpy as np

from shared.contracts.calls import (
    MASK_TEXT,
    AttributionMethod,
    Attributions,
    Completion,
    Example,
    ExampleRows,
    Pair,
    Prompt,
    Sampling,
    Tokens,
    WordJudgements,
    WordRows,
    WrittenToken,
)
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse
from shared.models import ports
from shared.models.catalogue.entry import Ability
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.models.word_rows import judged_words

USE = ModelUse(name="fake", revision="1", sha256="0" * 64, device="cpu", dtype="float32")
KINDS: dict[str, ModelKind] = {"fake": "classifier", "lm": "causal", "alike": "similarity"}


@contextmanager
def bound_models(models: object) -> Iterator[None]:
    """Bind these models while the block runs, and then those of before."""
    before = ports._Binding.models
    ports.bind(cast(ports.Models, models))
    try:
        yield
    finally:
        ports.bind(before)


def share(text: str) -> float:
    """A number in [0, 1) that depends on every character."""
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12], 16) / 16**12


class FakeModel:
    """Every port at once."""

    use = USE
    labels: tuple[str, ...] = ("no", "yes")
    languages = ("en",)

    abilities: frozenset[Ability] = frozenset(get_args(Ability))
    mask_text = MASK_TEXT

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return tuple(example.template.verbalizers) if example.template else self.labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        return [
            Tokens(
                ids=tuple(range(len(words := example.text.split()))),
                parts=("text",) * len(words),
                starts=tuple(range(len(words))),
                ends=tuple(range(1, len(words) + 1)),
                truncated=False,
                mask_id=None,
                unk_id=0,
                pad_id=None,
            )
            for example in examples
        ]

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        return [self.probabilities([example.text])[0] for example in examples]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        rows = np.array(self.judge(examples)).reshape(len(examples), len(self.labels))
        return of_head(rows, None, self.labels)

    def judge_rows(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        return [
            self.probabilities([f"{rows.example.text}{row}" for row in rows.rows]) for rows in asked
        ]

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        return judged_words(self, asked, self.mask_text)

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        return [
            Attributions(values=(share(example.text + target),), convergence_gap=1e-9)
            for example, target in zip(examples, targets, strict=True)
        ]

    def probabilities(self, texts: Sequence[str]) -> Floats:
        if "away" in texts:
            raise Unavailable("the model is away")
        if "bad" in texts:
            raise BadInput("too bad", pointer="/texts")
        if "crash" in texts:
            raise ZeroDivisionError
        yes = np.array([share(text) for text in texts]).reshape(-1, 1)
        return np.concatenate([1 - yes, yes], axis=1)

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > 100 for text in texts]

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        return self.score(prompts, [str(sampling.seed)] * len(prompts))

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        return [
            Completion(
                text=text,
                tokens=(WrittenToken(id=None, start=0, end=len(text), logprob=-share(text)),),
                finish="given",
            )
            for text in completions
        ]

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        return np.array([share(pair.a + pair.b) for pair in pairs])


class FakeModels:
    """The port `Models` over the one fake."""

    model = FakeModel()

    def reader_of(self, _name: str) -> str | None:
        return None

    def kind(self, name: str) -> ModelKind:
        return KINDS[name]

    def classifier(self, name: str) -> FakeModel:
        return self.model

    judge = language_model = writer = similarity = classifier
