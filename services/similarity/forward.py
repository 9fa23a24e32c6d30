"""Texts or pairs through a sentence-transformers model, each row as if it were alone.

The model's own `preprocess` makes tokens of the inputs (its prompt, lower case and cut included).
Rows of one width share a forward pass, and a row's width depends on its own length only: on a CPU
it is the length itself, so nothing is ever padded; on a GPU, where many small passes cost more
than padding does, it is the next multiple of 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
import torch
from torch.nn.functional import pad

from services.similarity.cache import Input, Vector
from shared.contracts import ModelUse
from shared.errors import ScoringError, Unavailable
from shared.job_context import checking

WIDTH_STEP = {"cpu": 1, "cuda": 16}  # tokens
PADDED_TOKENS = {"cpu": 4_096, "cuda": 65_536}  # of one forward pass
TOGETHER = 512  # inputs that are made tokens at once
MASK = "attention_mask"

Row = dict[str, torch.Tensor]  # feature → (length,), nothing padded


@dataclass(frozen=True)
class Weights:
    """A model as loaded. `output`: which of its features answers."""

    model: Any
    output: Literal["sentence_embedding", "scores"]
    use: ModelUse


class Forward:
    """Inputs to vectors; called from one thread at a time."""

    def __init__(self, weights: Weights) -> None:
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
