"""The ports on the caller's side: every method is one call over the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shared import operations as op
from shared.cached import cached_property
from shared.calls import (
    AttributionMethod,
    Attributions,
    Completion,
    Example,
    Pair,
    Prompt,
    Rows,
    Sampling,
    Tokens,
)
from shared.catalogue import ModelEntry
from shared.contracts import ModelUse
from shared.models import Floats
from shared.remote.call import ask, room_of


class RemoteModel:
    """What all models behind the queue share."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def _ask(self, operation: Any) -> Any:
        return ask(room_of(self._entry.kind), self._entry.name, operation)

    @cached_property
    def _description(self) -> op.Description:
        description: op.Description = self._ask(op.Describe())
        return description

    @property
    def use(self) -> ModelUse:
        """As the worker that holds the model states it."""
        return self._description.use


class RemoteJudge(RemoteModel):
    """The port `Judge`."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it was trained on; empty: not stated."""
        return self._description.languages

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels, in the order of the columns of every answer about this example."""
        if example.template is not None:
            return tuple(example.template.verbalizers)
        return self._description.labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """How the model reads each example."""
        return list(self._ask(op.Tokenize(examples=tuple(examples)))) if examples else []

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels."""
        if not examples:
            return []
        return [np.array(row) for row in self._ask(op.Judge(examples=tuple(examples)))]

    def judge_rows(self, asked: Sequence[Rows]) -> list[Floats]:
        """For each example (R, L) probabilities, one row a variation."""
        if not asked:
            return []
        answers = self._ask(op.JudgeRows(asked=tuple(asked)))
        widths = [len(self.labels_of(rows.example)) for rows in asked]
        return [
            np.array(rows, dtype=np.float64).reshape(len(rows), width)
            for rows, width in zip(answers, widths, strict=True)
        ]

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """For each example the importance of its tokens for the logit of its target label."""
        if not examples:
            return []
        asked = op.Attribute(examples=tuple(examples), targets=tuple(targets), method=method)
        return list(self._ask(asked))


class RemoteClassifier(RemoteJudge):
    """The port `Classifier`."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `probabilities`."""
        return self._description.labels

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """(N, L) probabilities in [0, 1], rows sum to 1."""
        rows = self._ask(op.Probabilities(texts=tuple(texts))) if texts else ()
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(self.labels))

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """(N,) which texts are longer than the model reads."""
        return list(self._ask(op.Truncated(texts=tuple(texts)))) if texts else []


class RemoteLanguageModel(RemoteJudge):
    """The port `LanguageModel`."""

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """A completion of each prompt."""
        if not prompts:
            return []
        return list(self._ask(op.Generate(prompts=tuple(prompts), sampling=sampling)))

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""
        if not prompts:
            return []
        return list(self._ask(op.Score(prompts=tuple(prompts), completions=tuple(completions))))


class RemoteSimilarity(RemoteModel):
    """The port `Similarity`."""

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) in [0, 1]."""
        values = self._ask(op.Compare(pairs=tuple(pairs))) if pairs else ()
        return np.array(values, dtype=np.float64)
