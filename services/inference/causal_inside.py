"""The inside of a causal model, for attributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from services.inference.causal_pass import CausalPass
from services.inference.causal_reading import CausalReading
from services.inference.inside import eager
from shared.priority_lock import PriorityLock


@dataclass(frozen=True)
class CausalInside:
    """One example and the column of its target label."""

    causal: CausalPass
    reading: CausalReading
    column: int
    attending: int = -1  # the last token: where the label is read

    @property
    def lock(self) -> PriorityLock:
        """Held while the device works."""
        return self.causal.lock

    def embed(self, ids: Sequence[int]) -> Tensor:
        """(T, d) word embeddings, without positions."""
        model = self.causal.model
        with torch.no_grad():
            found: Tensor = model.get_input_embeddings()(torch.tensor(ids, device=model.device))
        return found

    def target(self, embeddings: Tensor) -> Tensor:
        """(N,) float32: the logit of the label's token, or its sequence's log-probability."""
        readout, verbalizer = self.causal.readout, self.reading.verbalizers[self.column]
        if self.reading.single:
            states, _ = readout.states(1, inputs_embeds=embeddings, use_cache=False)
            ids = torch.tensor(verbalizer, device=embeddings.device)
            return readout.chosen(states[:, -1], ids)[:, 0]
        count = len(embeddings)
        tail = self.embed(verbalizer[:-1]).expand(count, -1, -1) if verbalizer[1:] else None
        whole = embeddings if tail is None else torch.cat([embeddings, tail], dim=1)
        states, _ = readout.states(len(verbalizer), inputs_embeds=whole, use_cache=False)
        tokens = torch.tensor(verbalizer, device=embeddings.device).expand(count, -1)
        return readout.log_probabilities(states, tokens).sum(dim=1)

    @torch.no_grad()
    def attentions(self) -> Sequence[Tensor] | None:
        """For each layer (1, H, T, T)."""
        model = self.causal.model
        ids = torch.tensor([self.reading.tokens.ids], device=model.device)
        with eager(model):
            answer = model.base_model(input_ids=ids, output_attentions=True, use_cache=False)
        layers: Sequence[Tensor] | None = answer.attentions
        return layers
