"""How similar two texts are, in [0, 1], by sentence-transformers models in this process.

Bi-encoder: g(a, b) = max(0, cos(e(a), e(b))), with e the embedding of one text, pooled as the
model's own modules say. Symmetric, and 1 for two equal texts.
Cross-encoder: g(a, b) = sigmoid(f(a, b)), with f the logit of a model that reads both texts
together (one output, activation Sigmoid). Neither symmetric nor 1 for equal texts.
Source: Reimers & Gurevych, Sentence-BERT, arXiv:1908.10084; section 4 for cross-encoders.
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
# Rows of one width share a pass, and a row's width depends on its own length only: on a CPU it is
# the length itself, so nothing is ever padded; on a GPU, where many small passes cost more than
# padding does, it is the next multiple of 16.
WIDTH_STEP = {"cpu": 1, "cuda": 16}  # tokens
PADDED_TOKENS = {"cpu": 4_096, "cuda": 65_536}  # of one forward pass
TOKENIZED_TOGETHER = 512  # inputs
MASK = "attention_mask"


class LocalSimilarityModels:
    """The similarities of the catalogue, with one cache, for any number of threads."""

    def __init__(
        self,
        catalogue: Catalogue,
        cache: Cache | None = None,
        states: ModelStates | None = None,
        patience: float | None = None,
    ) -> None:
        """`states`: where the models' states are kept. `patience`: seconds to wait for another
        thread that loads a model; as long as it takes if absent."""
        self._catalogue = catalogue
        self._cache = Cache() if cache is None else cache
        self._loaded: LoadedModels[Similarity] = LoadedModels(states, patience)

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder of this name.

        Raises BadInput for an unknown name or a model of another kind, ModelNotReady where it is
        being loaded or cannot be.
        """
        entry = self._catalogue.of_kind(name, *KINDS)
        return self._loaded.get(name, lambda: self._load(entry), entry.idle_seconds)

    def _load(self, entry: ModelEntry) -> Similarity:
        weights = load_encoder(self._catalogue, entry, optimize_layers)
        encoder = BiEncoder if entry.kind == "similarity" else CrossEncoder
        return encoder(weights, self._cache)


class BiEncoder:
    """The port `shared.models.ports.Similarity` over one embedding a distinct text."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        self._cached = CachedVectors(SentenceEncoder(weights, self._normalize), "similarity", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) cosines in [0, 1], negative ones as 0; 1: the model sees no difference."""
        if not pairs:
            return np.zeros(0)
        found = self._cached.vectors([text for pair in pairs for text in (pair.a, pair.b)])
        cosines = [np.dot(found[pair.a].astype(float), found[pair.b]) for pair in pairs]
        return np.clip(np.array(cosines, dtype=np.float64), 0, 1)

    def _normalize(self, embeddings: Vector) -> Vector:
        """(N, D) embeddings, each made of length 1."""
        found = embeddings.astype(np.float64)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not lengths.all():
            raise ScoringError(f"{self.use.name!r} embeds a text as zero: it has no direction")
        directions: Vector = (found / lengths).astype(np.float32)
        return directions


class CrossEncoder:
    """The port `shared.models.ports.Similarity` over one forward pass a distinct ordered pair."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        self._cached = CachedVectors(SentenceEncoder(weights), "cross-encoder", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) scores in [0, 1]; higher: more similar. The order within a pair matters."""
        ordered = [(pair.a, pair.b) for pair in pairs]
        found = self._cached.vectors(ordered)
        return sigmoid(np.array([found[pair][0] for pair in ordered], dtype=np.float64))


def sigmoid(logits: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow on either side."""
    small = np.exp(-np.abs(logits))
    shares: Floats = np.where(logits >= 0, 1, small) / (1 + small)
    return shares


@dataclass(frozen=True)
class EncoderInput:
    """A text or a pair as the model reads it."""

    tokens: dict[str, torch.Tensor]  # feature → (length,), nothing padded
    rest: dict[str, Any]  # features that are not of a token


class SentenceEncoder:
    """Inputs to vectors by a sentence-transformers model, each row as if it were alone.

    The model's own `preprocess` makes tokens of them: its prompt, lower case and cut included.
    """

    def __init__(
        self, weights: LoadedEncoder, finish: Callable[[Vector], Vector] = lambda found: found
    ) -> None:
        """`finish`: what becomes of the model's raw (N, D) outputs."""
        self._weights, self._finish = weights, finish
        self._model = weights.model
        self._device = torch.device(weights.use.device)
        self._prompt = self._model.prompts.get(self._model.default_prompt_name)
        self._padding = {"input_ids": self._model.tokenizer.pad_token_id or 0}
        self._tokenizing = Lock()  # a fast tokenizer keeps its truncation in itself
        self.budget = PADDED_TOKENS[self._device.type]

    @property
    def use(self) -> ModelUse:
        return self._weights.use

    def tokenize(self, inputs: Sequence[Input]) -> list[EncoderInput]:
        """The inputs as tokens, cut to what the model reads; for any number of threads."""
        starts = check_each(range(0, len(inputs), TOKENIZED_TOGETHER))
        parts = (list(inputs[start : start + TOKENIZED_TOGETHER]) for start in starts)
        return [row for part in parts for row in self._preprocess(part)]

    def _preprocess(self, inputs: list[Input]) -> list[EncoderInput]:
        with self._tokenizing:
            features = self._model.preprocess(inputs, prompt=self._prompt)
        read = features[MASK].bool()  # (N, longest)
        per_token = {
            name: value
            for name, value in features.items()
            if isinstance(value, torch.Tensor) and value.shape == read.shape
        }
        rest = {name: features[name] for name in features.keys() - per_token.keys()}
        return [
            EncoderInput(
                {name: value[place][read[place]] for name, value in per_token.items()}, rest
            )
            for place in range(len(inputs))
        ]

    def width(self, row: EncoderInput) -> int:
        """Tokens of the row, padding included."""
        return padded_width(len(row.tokens[MASK]), WIDTH_STEP[self._device.type])

    @torch.inference_mode()
    def run(self, rows: list[EncoderInput]) -> list[Vector]:
        """For each row of one width (D,): an embedding, or (1,) a logit.

        Raises ScoringError where the model answers with NaN or infinity.
        """
        width = self.width(rows[0])
        features = {name: self._stack(name, rows, width) for name in rows[0].tokens}
        out = self._model(features | rows[0].rest)[self._weights.output]
        found: Vector = out.float().reshape(len(rows), -1).cpu().numpy()
        if not np.isfinite(found).all():
            raise ScoringError(f"{self.use.name!r} does not answer with numbers in {out.dtype}")
        return [row.copy() for row in self._finish(found)]

    def _stack(self, name: str, rows: list[EncoderInput], width: int) -> torch.Tensor:
        """(N, width) of one feature."""
        fill = self._padding.get(name, 0)
        tokens = [row.tokens[name] for row in rows]
        padded = [pad(each, (0, width - len(each)), value=fill) for each in tokens]
        return torch.stack(padded).to(self._device)
