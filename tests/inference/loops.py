"""The plain way with transformers, one row at a time: the oracle of the fast way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from shared.models.ports import Floats


def encoder_logits(model: Any, ids: Sequence[int], segments: Sequence[int] | None = None) -> Floats:
    """(L,) logits of one row."""
    more = {} if segments is None else {"token_type_ids": torch.tensor([list(segments)])}
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([list(ids)]), **more).logits[0]
    return np.asarray(logits.double().numpy())


def next_logits(model: Any, ids: Sequence[int]) -> Floats:
    """(V,) logits after the last token, from the model's own forward."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([list(ids)])).logits[0, -1]
    return np.asarray(logits.double().numpy())


def log_probabilities(model: Any, before: Sequence[int], after: Sequence[int]) -> list[float]:
    """Of each token of `after`, one forward pass a token."""
    found = []
    for place, token in enumerate(after):
        logits = torch.tensor(next_logits(model, [*before, *after[:place]]))
        found.append(float(logits.log_softmax(dim=0)[token]))
    return found


def probabilities(scores: Sequence[float] | Floats) -> Floats:
    """Softmax, by torch."""
    return np.asarray(torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=0).numpy())


def attention_layers(model: Any, ids: Sequence[int]) -> Floats:
    """(layers, T, T) attention, mean over heads, by eager attention."""
    usual = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        layers = model(input_ids=torch.tensor([list(ids)]), output_attentions=True).attentions
    model.set_attn_implementation(usual)
    return np.stack([layer[0].mean(dim=0).double().numpy() for layer in layers])


def embedding_gradient(model: Any, embeddings: torch.Tensor, place: int) -> tuple[Floats, float]:
    """((T, d) gradient, logit) of one output: of a classifier, or of a causal model's last row."""
    leaf = embeddings.clone().requires_grad_()
    logits = model(inputs_embeds=leaf[None]).logits[0]
    logit = logits[place] if logits.dim() == 1 else logits[-1, place]
    logit.backward()
    assert leaf.grad is not None
    return np.asarray(leaf.grad.double().numpy()), float(logit.detach())


def integrated(
    model: Any, ends: tuple[torch.Tensor, torch.Tensor], place: int, steps: int
) -> Floats:
    """(T,) midpoint sums from the first to the second of (T, d) embeddings."""
    here, there = ends
    total = np.zeros(tuple(there.shape))
    for step in range(steps):
        share = (step + 0.5) / steps
        total += embedding_gradient(model, here + share * (there - here), place)[0]
    return np.asarray((total / steps * (there - here).double().numpy()).sum(axis=1))
