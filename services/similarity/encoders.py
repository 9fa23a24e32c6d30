"""g(a, b) = max(0, cos(e(a), e(b))), with e the embedding of one text.

Source: Reimers & Gurevych, Sentence-BERT, arXiv:1908.10084. Pooling is what the model's own
modules say. Symmetric, and 1 for two equal texts.

g(a, b) = sigmoid(f(a, b)), with f the logit of a model that reads both texts together.

Source: Reimers & Gurevych, arXiv:1908.10084, section 4; the cross-encoders of sentence-transformers
with one output and the activation Sigmoid. Neither symmetric nor 1 for equal texts.

Texts or pairs through a sentence-transformers model, each row as if it were alone.

The model's own `preprocess` makes tokens of the inputs (its prompt, lower case and cut included).
Rows of one width share a forward pass, and a row's width depends on its own length only: on a CPU
it is the length itself, so nothing is ever padded; on a GPU, where many small passes cost more
than padding does, it is the next multiple of 16.

Similarities that live in this process: each model is loaded once, when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from torch.nn.functional import pad

from services.similarity.cache import Cache, Input, Remembering, Vector
from services.similarity.layers import shorten
from services.weights.loader import LoadedEncoder, load_encoder
from shared.contracts import ModelKind, ModelUse
from shared.errors import BadInput, ScoringError, Unavailable
from shared.job_context import checking
from shared.models.availability import LoadedModels, ModelStates
from shared.models.calls import Pair
from shared.models.catalogue import Catalogue, ModelEntry
from shared.models.ports import Floats, Similarity


class BiEncoder:
    """The port `shared.models.ports.Similarity` over one embedding a distinct text."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        self._forward = Forward(weights)
        self._remembering = Remembering(self._directions, weights.use, "similarity", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) cosines in [0, 1], negative ones as 0; 1: the model sees no difference."""
        if not pairs:
            return np.zeros(0)
        found = self._remembering.vectors([text for pair in pairs for text in (pair.a, pair.b)])
        cosines = [np.dot(found[pair.a].astype(float), found[pair.b]) for pair in pairs]
        return np.clip(np.array(cosines, dtype=np.float64), 0, 1)

    def _directions(self, inputs: Sequence[Input]) -> list[Vector]:
        """For each text (D,) its embedding, of length 1."""
        found = np.array(self._forward.vectors(inputs), dtype=np.float64)  # (N, D)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not lengths.all():
            raise ScoringError(f"{self.use.name!r} embeds a text as zero: it has no direction")
        return list((found / lengths).astype(np.float32))


class CrossEncoder:
    """The port `shared.models.ports.Similarity` over one forward pass a distinct ordered pair."""

    def __init__(self, weights: LoadedEncoder, cache: Cache) -> None:
        self._weights = weights
        forward = Forward(weights)
        self._remembering = Remembering(forward.vectors, weights.use, "cross-encoder", cache)

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        """(N,) scores in [0, 1]; higher: more similar. The order within a pair matters."""
        ordered = [(pair.a, pair.b) for pair in pairs]
        found = self._remembering.vectors(ordered)
        return sigmoid(np.array([found[pair][0] for pair in ordered], dtype=np.float64))


def sigmoid(logits: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow on either side."""
    small = np.exp(-np.abs(logits))
    shares: Floats = np.where(logits >= 0, 1, small) / (1 + small)
    return shares


WIDTH_STEP = {"cpu": 1, "cuda": 16}  # tokens
PADDED_TOKENS = {"cpu": 4_096, "cuda": 65_536}  # of one forward pass
TOGETHER = 512  # inputs that are made tokens at once
MASK = "attention_mask"

Row = dict[str, torch.Tensor]  # feature → (length,), nothing padded


class Forward:
    """Inputs to vectors; called from one thread at a time."""

    def __init__(self, weights: LoadedEncoder) -> None:
        self._weights = weights
        self._model = weights.model
        self._device = torch.device(weights.use.device)
        self._prompt = self._model.prompts.get(self._model.default_prompt_name)
        self._padding = {"input_ids": self._model.tokenizer.pad_token_id or 0}

    @torch.inference_mode()
    def vectors(self, inputs: Sequence[Input]) -> list[Vector]:
        """For each input (D,) raw outputs: an embedding, or (1,) a logit.

        Raises Unavailable where one row alone is more than the device has memory for, ScoringError
        where the model answers with NaN or infinity.
        """
        answers: dict[int, Vector] = {}
        rows = list(self._rows(inputs))
        width = [self._width(row) for row in rows]
        places = sorted(range(len(rows)), key=lambda place: width[place])
        for _, group in groupby(places, key=lambda place: width[place]):
            same = list(group)
            most = max(1, PADDED_TOKENS[self._device.type] // width[same[0]])
            for start in checking(range(0, len(same), most)):
                batch = same[start : start + most]
                answers |= zip(batch, self._batch([rows[place] for place in batch]), strict=True)
        return [answers[place] for place in range(len(rows))]

    def _rows(self, inputs: Sequence[Input]) -> Iterator[Row]:
        """The inputs as tokens, cut to what the model reads."""
        for start in checking(range(0, len(inputs), TOGETHER)):
            part = list(inputs[start : start + TOGETHER])
            features = self._model.preprocess(part, prompt=self._prompt)
            read = features[MASK].bool()  # (N, longest)
            per_token = {
                name: value
                for name, value in features.items()
                if isinstance(value, torch.Tensor) and value.shape == read.shape
            }
            self._rest = {name: features[name] for name in features.keys() - per_token.keys()}
            for place in range(len(part)):
                yield {name: value[place][read[place]] for name, value in per_token.items()}

    def _width(self, row: Row) -> int:
        step = WIDTH_STEP[self._device.type]
        return max(1, -(-len(row[MASK]) // step)) * step

    def _batch(self, rows: list[Row]) -> list[Vector]:
        """Rows of one width; halved where the device has not the memory for them."""
        try:
            return self._run(rows)
        except torch.OutOfMemoryError as error:
            if len(rows) == 1:
                raise Unavailable(f"the device of {self._weights.use.name!r} is full") from error
        middle = len(rows) // 2
        return self._batch(rows[:middle]) + self._batch(rows[middle:])

    def _run(self, rows: list[Row]) -> list[Vector]:
        width = self._width(rows[0])
        features = {name: self._stacked(name, rows, width) for name in rows[0]}
        out = self._model(features | self._rest)[self._weights.output]
        found: Vector = out.float().reshape(len(rows), -1).cpu().numpy()
        if not np.isfinite(found).all():
            raise ScoringError(
                f"{self._weights.use.name!r} does not answer with numbers in {out.dtype}"
            )
        return [row.copy() for row in found]

    def _stacked(self, name: str, rows: list[Row], width: int) -> torch.Tensor:
        """(N, width) of one feature."""
        fill = self._padding.get(name, 0)
        padded = [pad(row[name], (0, width - len(row[name])), value=fill) for row in rows]
        return torch.stack(padded).to(self._device)


KINDS: tuple[ModelKind, ...] = ("similarity", "cross-encoder")


class LocalSimilarities:
    """The similarities of the catalogue, with one cache, for any number of threads."""

    def __init__(
        self,
        catalogue: Catalogue,
        cache: Cache | None = None,
        states: ModelStates | None = None,
        patience: float | None = None,
    ) -> None:
        """`states`: where it is told how the models are. `patience`: seconds to wait for another
        thread that loads a model; as long as it takes if absent."""
        self._catalogue = catalogue
        self._cache = Cache() if cache is None else cache
        self._loaded: LoadedModels[Similarity] = LoadedModels(states, patience)

    def similarity(self, name: str) -> Similarity:
        """The bi-encoder or cross-encoder of this name.

        Raises BadInput for an unknown name or a model of another kind, ModelNotReady where it is
        being loaded or cannot be.
        """
        entry = self._catalogue.entry(name)
        if entry.kind not in KINDS:
            raise BadInput(
                f"{name!r} is of kind {entry.kind}; a similarity or cross-encoder is needed",
                pointer="/model",
            )
        return self._loaded.get(name, lambda: self._load(entry))

    def _load(self, entry: ModelEntry) -> Similarity:
        weights = load_encoder(self._catalogue, entry, shorten)
        encoder = BiEncoder if entry.kind == "similarity" else CrossEncoder
        return encoder(weights, self._cache)
