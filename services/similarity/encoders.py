"""Similarity of two texts in [0, 1], by sentence-transformers models in this process.

A bi-encoder computes max(0, cos(e(a), e(b))) for embeddings e. It is symmetric, and 1 for two equal
texts. A cross-encoder computes sigmoid(f(a, b)) for the logit f of a model that reads both texts.
It is neither symmetric nor 1 for equal texts. Source: Reimers & Gurevych, Sentence-BERT,
arXiv:1908.10084; section 4 for cross-encoders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad

from services.inference.weights.batcher import padded_width
from services.inference.weights.loader import LoadedEncoder, load_encoder
from services.similarity.cache import Cache, CachedVectors, Input, Vector
from services.similarity.layers import optimize_layers
from shared.contracts.calls import Pair
from shared.contracts.errors import ScoringError
from shared.contracts.messages import ModelKind, ModelUse
from shared.models.catalogue.availability import LoadedModels, ModelStates
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Floats, Similarity
from shared.queue.job_context import check_each

KINDS: tuple[ModelKind, ...] = ("similarity", "cross-encoder")
# Rows of one width share a pass. A row's width depends on its own length only. On a CPU it is the
# length, so nothing is padded. On a GPU it is the next multiple of 16, since many small passes cost
# more than padding.
WIDTH_STEP = {"cpu": 1, "cuda": 16}  # tokens
PADDED_TOKENS = {"cpu": 4_096, "cuda": 65_536}  # of one forward pass
TOKENIZED_TOGETHER = 512  # inputs
MASK = "attention_mask"


class LocalSimilarityModels:
    """The catalogue's similarity models, with one cache. Thread-safe."""

    def __init__(
        self,
        catalogue: Catalogue,
        cache: Cache | None = None,
        states: ModelStates | None = None,
        patience: float | None = None,
    ) -> None:
        """Create the models. `patience` is the number of seconds to wait for another thread that
        loads a model; None is unlimited."""
        self._catalogue = catalogue
        self._cache = Cache() if cache is None else cache
        self._loaded: LoadedModels[Similarity] = LoadedModels(states, patience)

    def similarity(self, name: str) -> Similarity:
        """Return the bi-encoder or cross-encoder of this name. Raises BadInput for an unknown name
        or another kind of model, and ModelNotReady."""
        entry = self._catalogue.of_kind(name, *KINDS)
        return self._loaded.get(name, lambda: self._load(entry), entry.idle_seconds)

    def _load(self, entry: ModelEntry) -> Similarity:
        weights = load_encoder(self._catalogue, entry, optimize_layers)
        encoder = BiEncoder if entry.kind == "similarity" else CrossEncoder
        return encoder(weights, self._cache)


class BiEncoder:
    """Compares texts by one embedding per distinct text. It has the interface
    `shared.models.ports.Similarity`."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        self._cached = CachedVectors(SentenceEncoder(weights, self._normalize), "similarity", cache)

    @property
    def use(self) -> ModelUse:
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """Return N cosines in [0, 1]. Negative cosines become 0."""
        if not pairs:
            return np.zeros(0)
        vectors = self._cached.vectors([text for pair in pairs for text in (pair.a, pair.b)])
        cosines = [np.dot(vectors[pair.a].astype(float), vectors[pair.b]) for pair in pairs]
        return np.clip(np.array(cosines, dtype=np.float64), 0, 1)

    def _normalize(self, embeddings: Vector) -> Vector:
        vectors = embeddings.astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise ScoringError(
                f"{self.use.name!r} returns a zero vector for a text, so its cosine is undefined"
            )
        directions: Vector = (vectors / lengths).astype(np.float32)
        return directions


class CrossEncoder:
    """Compares texts by one forward pass per ordered pair. It has the interface
    `shared.models.ports.Similarity`."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        self._cached = CachedVectors(SentenceEncoder(weights), "cross-encoder", cache)

    @property
    def use(self) -> ModelUse:
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """Return N scores in [0, 1]. The order within a pair matters."""
        ordered = [(pair.a, pair.b) for pair in pairs]
        vectors = self._cached.vectors(ordered)
        return sigmoid(np.array([vectors[pair][0] for pair in ordered], dtype=np.float64))


def sigmoid(logits: Floats) -> Floats:
    """Return 1 / (1 + e^-x), without overflow."""
    small = np.exp(-np.abs(logits))
    shares: Floats = np.where(logits >= 0, 1, small) / (1 + small)
    return shares


@dataclass(frozen=True)
class EncoderInput:
    """A tokenized text or pair."""

    tokens: dict[str, torch.Tensor]  # feature → (length,), without padding
    shared: dict[str, Any]  # features that are not per token


class SentenceEncoder:
    """Encodes inputs with a sentence-transformers model. Each input gives the same result as it
    would alone."""

    def __init__(
        self, weights: LoadedEncoder, finish: Callable[[Vector], Vector] = lambda outputs: outputs
    ) -> None:
        """Wrap a loaded encoder. `finish` maps the model's (N, D) outputs to vectors."""
        self._weights, self._finish = weights, finish
        self._model = weights.model
        self._device = torch.device(weights.use.device)
        self._prompt = self._model.prompts.get(self._model.default_prompt_name)
        self._padding = {"input_ids": self._model.tokenizer.pad_token_id or 0}
        self._tokenizing = (
            Lock()
        )  # a fast tokenizer stores its truncation, so it is not thread-safe
        self.budget = PADDED_TOKENS[self._device.type]

    @property
    def use(self) -> ModelUse:
        return self._weights.use

    def tokenize(self, inputs: Sequence[Input]) -> list[EncoderInput]:
        """Return the tokens of each input, truncated to the model's length. Thread-safe."""
        starts = check_each(range(0, len(inputs), TOKENIZED_TOGETHER))
        batches = (list(inputs[start : start + TOKENIZED_TOGETHER]) for start in starts)
        return [row for batch in batches for row in self._preprocess(batch)]

    def _preprocess(self, inputs: list[Input]) -> list[EncoderInput]:
        with self._tokenizing:
            features = self._model.preprocess(inputs, prompt=self._prompt)
        mask = features[MASK].bool()  # (N, longest)
        per_token = {
            name: value
            for name, value in features.items()
            if isinstance(value, torch.Tensor) and value.shape == mask.shape
        }
        shared = {name: features[name] for name in features.keys() - per_token.keys()}
        return [
            EncoderInput({name: value[i][mask[i]] for name, value in per_token.items()}, shared)
            for i in range(len(inputs))
        ]

    def width(self, row: EncoderInput) -> int:
        return padded_width(len(row.tokens[MASK]), WIDTH_STEP[self._device.type])

    @torch.inference_mode()
    def run(self, rows: list[EncoderInput]) -> list[Vector]:
        """Return a vector of D numbers for each input or, for a cross-encoder, one logit. All
        inputs must have the same padded length. Raises ScoringError if the model returns NaN or
        infinity."""
        width = self.width(rows[0])
        features = {name: self._stack(name, rows, width) for name in rows[0].tokens}
        out = self._model(features | rows[0].shared)[self._weights.output]
        outputs: Vector = out.float().reshape(len(rows), -1).cpu().numpy()
        if not np.isfinite(outputs).all():
            raise ScoringError(
                f"{self.use.name!r} returns NaN or infinity in {out.dtype}; use another dtype"
            )
        return [row.copy() for row in self._finish(outputs)]

    def _stack(self, name: str, rows: list[EncoderInput], width: int) -> torch.Tensor:
        fill = self._padding.get(name, 0)
        tokens = [row.tokens[name] for row in rows]
        padded = [
            pad(row_tokens, (0, width - len(row_tokens)), value=fill) for row_tokens in tokens
        ]
        return torch.stack(padded).to(self._device)
