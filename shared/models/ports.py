"""The interfaces (protocols) by which metrics use models.

A worker chooses one implementation at start (`bind`), and a metric gets it by `models()`.
Completions for many requests share calls. A prompt's seed depends on `draw`, its index in its own
request. The result is therefore the same as for each request alone. For workers only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shared.contracts import calls as op
from shared.contracts.calls import (
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
)
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.judgement import Judgement
from shared.contracts.messages import Message, ModelKind, ModelUse
from shared.models.catalogue.availability import ModelStates
from shared.models.catalogue.catalogue import READER, Catalogue
from shared.models.catalogue.entry import Ability, ModelEntry
from shared.queue.job_context import check

Floats = NDArray[np.float64]


class Judge(Protocol):
    """A model that returns label probabilities: an encoder or a causal model, in this process or
    behind a server.

    A causal model has the labels of the example's template, or of its own prompt. Values do not
    depend on other examples of the call. Raises BadInput for an example that the model cannot judge
    (a template for an encoder; neither template nor prompt for a causal model). Raises ModelCannot
    for values that a server does not return (`shared.models.catalogue.entry`), and Unavailable if
    the model cannot answer now.
    """

    @property
    def use(self) -> ModelUse:
        """The model's name, revision, hash, device and dtype, for the provenance."""

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 tags of the languages that the model was trained on. `*` means all; empty means
        not stated."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """The supported operations, which follow from the model's kind and source."""

    @property
    def mask_text(self) -> str:
        """The string that replaces a masked word in variations of a text."""

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """Return the labels of the example, in the order of the columns of probabilities."""

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """Return each example's tokens. Variations and attributions refer to them."""

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """Return one probability per label for each example, in [0, 1] with sum 1."""

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return label probabilities for each example, or the reason why there are none. The
        probabilities equal those of `judge`."""

    def judge_rows(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        """Return an array of shape (variations, labels) with probabilities for each example."""

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        """Return label probabilities of texts in which words were deleted, masked or replaced. Each
        variation is rendered as a string and classified like any text. A variation without
        probabilities gets a reason."""

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """Return the importance of each example's tokens for the logit of its target label."""


class Classifier(Judge, Protocol):
    """An encoder with a classification head: the same labels for every example."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `probabilities`."""

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (texts, labels) with probabilities in [0, 1]. Rows sum to 1. A
        row does not depend on other rows. Texts over the model's length are cut; `truncated`
        reports these. Raises Unavailable if the model cannot answer now."""

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Return one boolean per text: True if it is longer than the model reads."""


class Writer(Protocol):
    """A language model that continues text. It may be behind an OpenAI-compatible server."""

    @property
    def use(self) -> ModelUse:
        """The model's name, revision, hash, device and dtype, for the provenance."""

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 tags of the languages that the model was trained on. `*` means all; empty means
        not stated."""

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """Return a completion of each prompt. The random state depends on the seed and the prompt's
        `draw`, or its index if `draw` is missing."""

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Return token log-probabilities of each completion after its prompt."""


class LanguageModel(Judge, Writer, Protocol):
    """A causal language model with access to its tokens and gradients."""


class Similarity(Protocol):
    """A model that computes the similarity of two texts."""

    @property
    def use(self) -> ModelUse:
        """The model's name, revision, hash, device and dtype, for the provenance."""

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """Return one similarity per pair, in [0, 1]. A value does not depend on other pairs."""


class Models(Protocol):
    """Gives access to models in this process, over a queue, or over HTTP. Every method raises
    BadInput (pointer `/model`) for an unknown name or another kind of model."""

    def kind(self, name: str) -> ModelKind:
        """Return the kind of the model."""

    def reader_of(self, name: str) -> str | None:
        """Return the language model that reads this model's explanations, as named in
        `models.toml`, or None."""

    def judge(self, name: str) -> Judge:
        """Return the classifier or causal model, in this process, over the queue, or behind a
        server."""

    def classifier(self, name: str) -> Classifier:
        """Return the classifier for plain texts. Metrics use `judge` instead."""

    def language_model(self, name: str) -> LanguageModel:
        """Return the causal model."""

    def writer(self, name: str) -> Writer:
        """Return the causal model, in this process or behind an OpenAI-compatible server."""

    def similarity(self, name: str) -> Similarity:
        """Return the similarity model, a bi-encoder or cross-encoder."""


class CatalogueModels(ABC):
    """The base class of all implementations of `Models`. Methods raise BadInput for an unknown name
    or a model of the wrong kind. They raise ModelNotReady if the model is not loaded, or its server
    is unreachable."""

    def __init__(self, catalogue: Catalogue, states: ModelStates | None = None) -> None:
        self._catalogue = catalogue
        self._states = states or ModelStates()

    @abstractmethod
    def classifier(self, name: str) -> Classifier: ...

    @abstractmethod
    def language_model(self, name: str) -> LanguageModel: ...

    def kind(self, name: str) -> ModelKind:
        return READER.kind if name == READER.name else self._catalogue.entry(name).kind

    def reader_of(self, name: str) -> str | None:
        return self._catalogue.entry(name).reader_model

    def judge(self, name: str) -> Judge:
        return self.language_model(name) if self.kind(name) == "causal" else self.classifier(name)

    def writer(self, name: str) -> Writer:
        return self.language_model(name)

    def _entry(self, name: str, *kinds: ModelKind) -> ModelEntry:
        """Return the catalogue entry of a model. The text classifier that reads explanations has a
        built-in entry, which requests cannot name."""
        if name == READER.name:
            return READER
        entry = self._catalogue.of_kind(name, *kinds)
        if entry.is_served:
            self._states.check_server(name)
        return entry


class _Binding:
    models: Models | None = None


def bind(models: Models | None) -> None:
    """Set the source of models for this process's services."""
    _Binding.models = models


def models() -> Models:
    """Return the models that `bind` has set. Raises Unavailable if none are set, and JobStopped in
    a stopped job."""
    check()
    if _Binding.models is None:
        raise Unavailable("no models are loaded in this process; use Local() of touchstone_client")
    return _Binding.models


def perform(operation: Any, models: Models, name: str) -> Any:
    """Perform an operation on a model. The result is JSON of the type `operation.answer`. Raises
    BadInput if this kind of model cannot perform the operation."""
    return operation.answer.as_json(_perform(operation, models, name))


def _perform(operation: Message, models: Models, name: str) -> Any:
    match operation:
        case op.Describe():
            return describe(models, name)
        case op.Compare():
            return models.similarity(name).similarities(operation.pairs).tolist()
        case op.Generate():
            return tuple(models.writer(name).generate(operation.prompts, operation.sampling))
        case op.ScoreCompletions():
            return tuple(models.writer(name).score(operation.prompts, operation.completions))
        case op.Probabilities():
            return models.classifier(name).probabilities(operation.texts).tolist()
        case op.Truncated():
            return tuple(models.classifier(name).truncated(operation.texts))
    return _evaluate(operation, models.judge(name))


def _evaluate(operation: Message, model: Judge) -> Any:
    match operation:
        case op.Tokenize():
            return tuple(model.tokens(operation.examples))
        case op.JudgeExamples():
            return [row.tolist() for row in model.judge(operation.examples)]
        case op.ReadLabels():
            return tuple(model.judgements(operation.examples))
        case op.JudgeRows():
            return [rows.tolist() for rows in model.judge_rows(operation.asked)]
        case op.JudgeWords():
            return tuple(model.judge_words(operation.asked))
        case op.Attribute():
            answered = model.attributions(operation.examples, operation.targets, operation.method)
            return tuple(answered)
    raise BadInput(f"there is no operation {type(operation).__name__}", pointer="/ask/operation")


def describe(models: Models, name: str) -> op.Description:
    """Load the model and describe it."""
    kind = models.kind(name)
    if kind in ("similarity", "cross-encoder"):
        use = models.similarity(name).use
        return op.Description(kind=kind, use=use, labels=(), languages=())
    model = models.judge(name)
    labels = models.classifier(name).labels if kind == "classifier" else _of_prompt(model)
    return op.Description(
        kind=kind,
        use=model.use,
        labels=labels,
        languages=model.languages,
        mask_text=model.mask_text,
    )


def _of_prompt(model: Judge) -> tuple[str, ...]:
    """Return the labels of a causal model's own prompt, or () if requests bring their labels."""
    for example in (op.Example(text=""), op.Example(text="", text_pair="")):
        with suppress(BadInput):
            return model.labels_of(example)
    return ()


@dataclass(frozen=True)
class PromptOfRequest:
    """A prompt to complete. `owner` identifies the prompt's request in the batch."""

    owner: int
    model: str
    prompt: Prompt
    sampling: Sampling


def generate(prompts: Sequence[PromptOfRequest]) -> list[Completion]:
    """Return one completion per prompt, in order. Raises Unavailable and BadInput."""
    groups: dict[tuple[str, Sampling], list[int]] = {}
    drawn = _number_samples(prompts)
    for index, prompt in enumerate(prompts):
        sampling = prompt.sampling
        if sampling.temperature == 0:  # greedy draws share a call whatever their seed
            sampling = sampling.model_copy(update={"seed": 0})
        groups.setdefault((prompt.model, sampling), []).append(index)
    completions: dict[int, Completion] = {}
    for (model, sampling), indices in groups.items():
        answers = _complete(model, [drawn[index] for index in indices], sampling)
        completions.update(zip(indices, answers, strict=True))
    return [completions[index] for index in range(len(prompts))]


def _number_samples(prompts: Sequence[PromptOfRequest]) -> list[Prompt]:
    """Number the sampled prompts of the same owner, model and sampling settings, so that each
    prompt gets another sample. Prompts with temperature 0 stay unchanged."""
    counts: Counter[tuple[int, str, Sampling]] = Counter()
    numbered = []
    for row in prompts:
        if row.sampling.temperature == 0:
            numbered.append(row.prompt)
            continue
        key = row.owner, row.model, row.sampling
        numbered.append(row.prompt.model_copy(update={"draw": counts[key]}))
        counts[key] += 1
    return numbered


def _complete(model: str, prompts: Sequence[Prompt], sampling: Sampling) -> Iterable[Completion]:
    writer = models().writer(model)
    if sampling.temperature > 0:
        return writer.generate(prompts, sampling)
    distinct = list(dict.fromkeys(prompts))
    answers = dict(zip(distinct, writer.generate(distinct, sampling), strict=True))
    return [answers[prompt] for prompt in prompts]
