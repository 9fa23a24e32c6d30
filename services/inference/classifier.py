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

from services.inference.packing import batches
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

    Any number of threads may call it; one forward pass runs at a time.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._device = torch.device(weights.use.device)
        self._budget = PADDED_TOKENS[self._device.type]
        self._tokenizing = Lock()  # a fast tokenizer keeps its truncation in itself
        self._running = Lock()

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
        rows = self._tokens(texts, cut=True)
        logits = np.empty((len(rows), len(self.labels)))
        lengths = [len(row) for row in rows]
        with self._running, torch.inference_mode():
            for width, numbers in batches(lengths, self._weights.longest, self._budget):
                logits[numbers] = self._forward([rows[number] for number in numbers], width)
        return logits

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

    def _forward(self, rows: list[list[int]], width: int) -> Floats:
        """(N, L) logits of rows that share a padded width."""
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
