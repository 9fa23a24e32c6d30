"""Ports: what metrics see of models. Loaded by workers only.

A worker binds one implementation at start (`bind`); a room asks for it by `models()`.
Source: design.md §3 "Model calls are ports".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
from shared.contracts import ModelKind, ModelUse
from shared.errors import Unavailable
from shared.job_context import check

Floats = NDArray[np.float64]


class Judge(Protocol):
    """What classifiers and language models share: they tell how likely labels are.

    A causal model reads its labels off the example's template. Values do not depend on what else is
    asked in the same call. Raises BadInput for an example that the model cannot judge (a template
    for an encoder, none for a causal model), Unavailable where the model cannot answer now.
    """

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it was trained on; empty: not stated."""

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels, in the order of the columns of every answer about this example."""

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """How the model reads each example; positions in rows and attributions refer to this."""

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels, in [0, 1], of sum 1."""

    def judge_rows(self, asked: Sequence[Rows]) -> list[Floats]:
        """For each example (R, L) probabilities, one row a variation."""

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """For each example the importance of its tokens for the logit of its target label."""


class Classifier(Judge, Protocol):
    """An encoder with a classification head: the same labels for every example."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `probabilities`."""

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """(N, L) probabilities in [0, 1], rows sum to 1.

        A row's value does not depend on the other rows. Texts over the model's length are cut:
        ask `truncated` which. Raises Unavailable where the model cannot answer now.
        """

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """(N,) which texts are longer than the model reads."""


class Writer(Protocol):
    """A language model that continues text; this much an OpenAI-compatible server can do too."""

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """A completion of each prompt, drawn with the seed and its `draw`, else its place."""

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""


class LanguageModel(Judge, Writer, Protocol):
    """A causal language model whose inside we can see."""


class Similarity(Protocol):
    """g(a, b): how similar two texts are."""

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) in [0, 1]; a pair's value does not depend on the other pairs."""


class Models(Protocol):
    """Where a room gets its models from: in this process, over a queue, or over HTTP.

    Every method raises BadInput (pointer `/model`) for an unknown name or another kind of model.
    """

    def kind(self, name: str) -> ModelKind:
        """What is configured under this name."""

    def classifier(self, name: str) -> Classifier:
        """The classifier configured under this name."""

    def language_model(self, name: str) -> LanguageModel:
        """The causal model configured under this name."""

    def writer(self, name: str) -> Writer:
        """The causal model of this name, here or behind an OpenAI-compatible server."""

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder configured under this name."""


class _Binding:
    models: Models | None = None


def bind(models: Models | None) -> None:
    """Choose where this process's rooms get their models from."""
    _Binding.models = models


def models() -> Models:
    """The bound models. Raises Unavailable where nothing is bound, JobStopped in a stopped job."""
    check()
    if _Binding.models is None:
        raise Unavailable("this process has no models bound")
    return _Binding.models
