"""Attention and gradients of many examples of a causal model, in as few passes as fit.

Examples of one length share a pass, so nothing is padded. A row moves with its company by rounding
only, as every row of a causal model does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from services.inference.attribution import floats, importance, reading_row
from services.inference.causal_pass import CausalPass
from services.inference.causal_reading import CausalReading
from services.inference.inside import eager
from shared.calls import AttributionMethod
from shared.job_context import holding
from shared.models import Floats

LAST = -1  # the token whose row of attention is read


@dataclass(frozen=True)
class Together:
    """Examples of one causal model, each with the token of its target label."""

    causal: CausalPass
    readings: Sequence[CausalReading]
    targets: Sequence[int]  # token ids

    def values(self, method: AttributionMethod, budget: int) -> list[Floats]:
        """For each example (T,) by `attention` or `gradient`; `budget`: tokens of a pass."""
        ask: Callable[[list[int]], list[Floats]] = (
            (lambda places: self._attention(places, method.attention))
            if method.name == "attention"
            else (lambda places: self._gradient(places, method.gradient))
        )
        answers: dict[int, Floats] = {}
        for length, places in self._by_length().items():
            size = max(1, budget // length)
            for start in range(0, len(places), size):
                some = places[start : start + size]
                answers |= zip(some, ask(some), strict=True)
        return [answers[place] for place in range(len(self.readings))]

    def _by_length(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = defaultdict(list)
        for place, reading in enumerate(self.readings):
            groups[len(reading.tokens.ids)].append(place)
        return groups

    def _ids(self, places: Sequence[int]) -> Tensor:
        """(N, T)"""
        ids = [self.readings[place].tokens.ids for place in places]
        return torch.tensor(ids, device=self.causal.model.device)

    @torch.no_grad()
    def _attention(self, places: list[int], over: str) -> list[Floats]:
        model = self.causal.model
        with holding(self.causal.lock), eager(model):
            given = model.base_model(
                input_ids=self._ids(places), output_attentions=True, use_cache=False
            ).attentions
        layers = given or ()
        return [
            reading_row([layer if layer is None else layer[n] for layer in layers], LAST, over)
            for n in range(len(places))
        ]

    def _gradient(self, places: list[int], kind: str) -> list[Floats]:
        readout, model = self.causal.readout, self.causal.model
        wanted = torch.tensor([self.targets[place] for place in places], device=model.device)
        with holding(self.causal.lock), torch.enable_grad():
            embedded = model.get_input_embeddings()(self._ids(places)).detach().requires_grad_()
            states, _ = readout.states(1, inputs_embeds=embedded, use_cache=False)
            logits = readout.chosen(states[:, -1], wanted)  # (N, N): only the diagonal is asked for
            (slopes,) = torch.autograd.grad(logits.diagonal().sum(), embedded)  # (N, T, d)
        both = zip(slopes.double(), embedded.detach().double(), strict=True)
        return [floats(importance(slope, embedding, kind)) for slope, embedding in both]
