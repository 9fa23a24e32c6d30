"""Label probabilities from a sequence classifier in this process.

A text's row has the same bits alone and in any batch: see `packing` and `row_by_row`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch

from services.inference.microbatcher import Device, MicroBatcher
from services.inference.packing import kind
from services.inference.row_by_row import RowByRow
from shared.contracts import ModelUse
from shared.models import Floats

PADDED_TOKENS = {"cpu": 4_096, "cuda": 65_536}  # of one forward pass; measured in bench/


@dataclass(frozen=True)
class Weights:
    """A model as loaded, ready to answer. `temperature` divides its logits."""

    model: Any
    tokenizer: Any
    longest: int  # tokens, special ones included
    labels: tuple[str, ...]
    languages: tuple[str, ...]
    temperature: float
    use: ModelUse


class LocalClassifier:
    """The port `shared.models.Classifier` over weights in this process.

    Any number of threads may call it; their rows share forward passes.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._device = torch.device(weights.use.device)
        self._tokenizing = Lock()  # a fast tokenizer keeps its truncation in itself
        self._batcher: MicroBatcher[list[int], Floats] = MicroBatcher(
            Device(
                kind=self._kind,
                cost=lambda row: self._kind(row)[0],
                run=self._forward,
                budget=PADDED_TOKENS[self._device.type],
                full=torch.OutOfMemoryError,
            )
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the columns of `probabilities`."""
        return self._weights.labels

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes of the languages that it was trained on."""
        return self._weights.languages

    @property
    def use(self) -> ModelUse:
        """Name, revision, hash, device and dtype, for the provenance."""
        return self._weights.use

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """(N, L) calibrated probabilities in [0, 1], rows sum to 1; long texts are cut."""
        return softmax(self.logits(texts) / self._weights.temperature)

    def logits(self, texts: Sequence[str]) -> Floats:
        """(N, L) raw outputs of the head, before the temperature."""
        answers = self._batcher.submit(self._tokens(texts, cut=True)).result()
        return np.array(answers, dtype=np.float64).reshape(len(texts), len(self.labels))

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """(N,) which texts are longer than the model reads."""
        return [len(row) > self._weights.longest for row in self._tokens(texts, cut=False)]

    def _tokens(self, texts: Sequence[str], *, cut: bool) -> list[list[int]]:
        if not texts:
            return []
        limit = {"truncation": True, "max_length": self._weights.longest} if cut else {}
        with self._tokenizing:
            rows: list[list[int]] = self._weights.tokenizer(list(texts), verbose=False, **limit)[
                "input_ids"
            ]
        return rows

    def _kind(self, row: list[int]) -> tuple[int, bool]:
        return kind(len(row), self._weights.longest)

    @torch.inference_mode()
    def _forward(self, rows: list[list[int]]) -> Floats:
        """(N, L) logits of rows of one kind."""
        width, _ = self._kind(rows[0])
        padding = self._weights.tokenizer.pad_token_id
        tokens = torch.tensor([row + [padding] * (width - len(row)) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(width) < lengths[:, None]).long()  # (N, width)
        with RowByRow(len(rows)):
            logits = self._weights.model(
                input_ids=tokens.to(self._device), attention_mask=mask.to(self._device)
            ).logits
        answer: Floats = logits.double().cpu().numpy()
        return answer


def softmax(logits: Floats) -> Floats:
    """(N, L) logits to probabilities, rows sum to 1."""
    raised: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares
