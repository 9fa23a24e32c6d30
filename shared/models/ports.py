"""Ports: what metrics see of models, bound once a process, and the calls that they take.

A worker binds one implementation at start (`bind`); a metric asks for it by `models()`. An
operation is performed on the ports in one place. Completions for many requests take as few calls as
their draws allow: a writer draws a prompt with (seed, `draw`), here its place among the prompts of
its own request, so that prompts of all requests under the same sampling share a call and each is
drawn as if its request were alone. Loaded by workers only.
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
    """Anything that tells how likely labels are: encoders, causal models, servers of either.

    A causal model reads its labels off the example's template, else off its own prompt. Values do
    not depend on what else is asked in the same call. Raises BadInput for an example that the model
    cannot judge (a template for an encoder; for a causal model neither template nor prompt),
    ModelCannot for what a server does not show (`shared.models.catalogue.entry`), Unavailable where
    the model cannot answer now.
    """

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 tags of the languages that it was trained on, `*`: all; empty: not stated."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can be asked, by its kind and source."""

    @property
    def mask_text(self) -> str:
        """The string in place of a masked word in rows of words."""

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels, in the order of the columns of every answer about this example."""

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """How the model reads each example; positions in rows and attributions refer to this."""

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels, in [0, 1], of sum 1."""

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """For each example its labels' P, how it was read and with which mass; or why there is
        none. Where there is one, it is the same number as `judge` gives."""

    def judge_rows(self, asked: Sequence[ExampleRows]) -> list[Floats]:
        """For each example (R, L) probabilities, one row a variation."""

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        """For each example P of its variations in words, each judged as the string that it is.
        Deviates from specs "models" §4.1, (R, L) alone: a P that was not read has its reason."""

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

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 tags of the languages that it was trained on, `*`: all; empty: not stated."""

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
    """Where a metric gets its models from: in this process, over a queue, or over HTTP.

    Every method raises BadInput (pointer `/model`) for an unknown name or another kind of model.
    """

    def kind(self, name: str) -> ModelKind:
        """What is configured under this name."""

    def reader_of(self, name: str) -> str | None:
        """The language model that reads explanations beside this one, as its entry says."""

    def judge(self, name: str) -> Judge:
        """The model of this name that tells how likely labels are: of kind classifier or causal,
        in this process, behind the queue or behind a server."""

    def classifier(self, name: str) -> Classifier:
        """The classifier configured under this name, for plain texts. Metrics ask a `judge`."""

    def language_model(self, name: str) -> LanguageModel:
        """The causal model configured under this name."""

    def writer(self, name: str) -> Writer:
        """The causal model of this name, here or behind an OpenAI-compatible server."""

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder configured under this name."""


class CatalogueModels(ABC):
    """What every binding of `Models` takes from the catalogue.

    Its methods raise BadInput for an unknown name or a model of another kind, ModelNotReady where
    it is being loaded or cannot be, or its server is away.
    """

    def __init__(self, catalogue: Catalogue, states: ModelStates | None = None) -> None:
        """states: where it is told how the models are."""
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
        """The entry of this name. The reader has one of its own, which no request can name."""
        if name == READER.name:
            return READER
        entry = self._catalogue.of_kind(name, *kinds)
        if entry.is_served:
            self._states.check_server(name)
        return entry


class _Binding:
    models: Models | None = None


def bind(models: Models | None) -> None:
    """Choose where this process's services get their models from."""
    _Binding.models = models


def models() -> Models:
    """The bound models. Raises Unavailable where nothing is bound, JobStopped in a stopped job."""
    check()
    if _Binding.models is None:
        raise Unavailable("no models are bound: Local() of touchstone_client binds them")
    return _Binding.models


def perform(operation: Any, models: Models, name: str) -> Any:
    """The answer as JSON, of the type that `operation.answer` states.

    Raises BadInput where this kind of model cannot do what is asked.
    """
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
    """Load the model and say what it is."""
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
    """The labels that a causal model's own prompt asks for; none where requests bring theirs."""
    for example in (op.Example(text=""), op.Example(text="", text_pair="")):
        with suppress(BadInput):
            return model.labels_of(example)
    return ()


@dataclass(frozen=True)
class PromptOfRequest:
    """A prompt to complete; `owner` tells the requests of a batch apart."""

    owner: int
    model: str
    prompt: Prompt
    sampling: Sampling


def generate(prompts: Sequence[PromptOfRequest]) -> list[Completion]:
    """(N,) completions, in the order of the prompts. Raises Unavailable and BadInput."""
    groups: dict[tuple[str, Sampling], list[int]] = {}
    drawn = _number_samples(prompts)
    for place, one in enumerate(prompts):
        greedy = one.sampling.temperature == 0
        settled = one.sampling.model_copy(update={"seed": 0}) if greedy else one.sampling
        groups.setdefault((one.model, settled), []).append(place)
    found: dict[int, Completion] = {}
    for (model, sampling), places in groups.items():
        answers = _complete(model, [drawn[place] for place in places], sampling)
        found.update(zip(places, answers, strict=True))
    return [found[place] for place in range(len(prompts))]


def _number_samples(prompts: Sequence[PromptOfRequest]) -> list[Prompt]:
    """Sampled prompts numbered within their owner, model and sampling; greedy ones as they are."""
    before: Counter[tuple[int, str, Sampling]] = Counter()
    numbered = []
    for one in prompts:
        if one.sampling.temperature == 0:
            numbered.append(one.prompt)
            continue
        key = one.owner, one.model, one.sampling
        numbered.append(one.prompt.model_copy(update={"draw": before[key]}))
        before[key] += 1
    return numbered


def _complete(model: str, prompts: Sequence[Prompt], sampling: Sampling) -> Iterable[Completion]:
    """Greedy answers to equal prompts are equal: each is asked once."""
    writer = models().writer(model)
    if sampling.temperature > 0:
        return writer.generate(prompts, sampling)
    distinct = list(dict.fromkeys(prompts))
    answers = dict(zip(distinct, writer.generate(distinct, sampling), strict=True))
    return [answers[prompt] for prompt in prompts]
