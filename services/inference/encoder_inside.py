"""The inside of an encoder with a classification head, for attributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from services.inference.encoder_reading import EncoderReading
from services.inference.inside import eager
from shared.priority_lock import PriorityLock


@dataclass(frozen=True)
class EncoderInside:
    """One example and the column of its target label."""

    model: Any
    lock: PriorityLock
    reading: EncoderReading
    column: int
    attending: int = 0  # the pooled token, [CLS]

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(T, d) word embeddings, without positions."""
        table = self.model.get_input_embeddings()
        with torch.no_grad():
            found: Tensor = table(torch.tensor(ids, device=self.model.device))
        return found

    def target(self, embeddings: Tensor) -> Tensor:
        """(N,) the label's logit in float32, before the temperature."""
        more = self._more(len(embeddings))
        logits: Tensor = self.model(inputs_embeds=embeddings, **more).logits
        return logits[:, self.column].float()

    @torch.no_grad()
    def attentions(self) -> Sequence[Tensor] | None:
        """For each layer (1, H, T, T)."""
        ids = torch.tensor([self.reading.tokens.ids], device=self.model.device)
        with eager(self.model):
            answer = self.model(input_ids=ids, output_attentions=True, **self._more(1))
        layers: Sequence[Tensor] | None = answer.attentions
        return layers

    def _more(self, rows: int) -> dict[str, Tensor]:
        """Mask and segments of this many copies of the example."""
        shape = (rows, len(self.reading.tokens.ids))
        more = {"attention_mask": torch.ones(shape, dtype=torch.long, device=self.model.device)}
        if self.reading.segments:
            segments = torch.tensor(self.reading.segments, device=self.model.device)
            more["token_type_ids"] = segments.expand(shape)
        return more
