"""Which tokens matter: attention, gradients, integrated gradients.

Sources: rollout, Abnar & Zuidema (2020), arXiv:2005.00928, section 3; integrated gradients,
Sundararajan, Taly & Yan (2017), arXiv:1703.01365, equation 1. The number that is explained is the
raw logit of the target label, before softmax and temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from services.inference.inside import Inside
from shared.calls import AttributionMethod, Attributions, Tokens
from shared.errors import BadInput
from shared.job_context import holding
from shared.models import Floats


@dataclass(frozen=True)
class Asked:
    """An example's tokens, the model that they are in, and how many of them fit into one pass."""

    inside: Inside
    tokens: Tokens
    budget: int  # padded tokens


def attribute(asked: Asked, method: AttributionMethod) -> Attributions:
    """(T,) importance of each token by any method but LIME."""
    if method.name == "attention":
        return answer(attention(asked.inside, method.attention))
    if method.name == "gradient":
        return answer(gradient(asked, method.gradient))
    return integrated_gradients(asked, method.steps)


def answer(values: Floats, gap: float | None = None) -> Attributions:
    """The message."""
    return Attributions(values=tuple(values.tolist()), convergence_gap=gap)


def attention(inside: Inside, over: str) -> Floats:
    """(T,) how much the reading token attends to each token; see `reading_row`."""
    with holding(inside.lock):
        given = inside.attentions()
    layers = given and [layer if layer is None else layer[0] for layer in given]
    return reading_row(layers, inside.attending, over)


def reading_row(given: Sequence[Any] | None, attending: int, over: str) -> Floats:
    """(T,) the row of one token in the attention of each layer (H, T, T): mean over heads, [0, 1].

    over: `mean` of the layers, the `last` one, or `rollout`: the product of the layers' matrices,
    each averaged with the identity for the residual connection. Every choice sums to 1.
    Raises BadInput where the model gives no attention.
    """
    if not given or any(layer is None for layer in given):
        raise BadInput("this model does not give its attention", pointer="/attribution")
    layers = [layer.double().mean(dim=0).cpu() for layer in given]  # (T, T) each
    if over == "rollout":
        together = rollout(layers)
    else:
        together = layers[-1] if over == "last" else torch.stack(layers).mean(dim=0)
    row: Floats = together[attending].numpy()
    return row


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """(T, T) attention from the top to the input through (T, T) attention of each layer."""
    through = torch.eye(len(layers[0]), dtype=layers[0].dtype)
    for layer in layers:
        through = (0.5 * layer + 0.5 * torch.eye(len(layer), dtype=layer.dtype)) @ through
    return through


def gradient(asked: Asked, kind: str) -> Floats:
    """(T,) by the gradient g of the target's logit with respect to each token's embedding e.

    kind: `l2`: |g|, never negative. `input_x_gradient`: the sum over d of g·e, with its sign:
    positive where the token speaks for the target. Take its magnitude where only size counts.
    """
    embeddings = asked.inside.embed(asked.tokens.ids)
    slopes, _ = _slopes(asked.inside, embeddings[None])
    return floats(importance(slopes[0], embeddings.double(), kind))


def importance(slopes: Tensor, embeddings: Tensor, kind: str) -> Tensor:
    """(T,) from (T, d) gradients and embeddings; `kind` as `gradient` has it."""
    return slopes.norm(dim=-1) if kind == "l2" else (slopes * embeddings).sum(dim=-1)


def integrated_gradients(asked: Asked, steps: int) -> Attributions:
    """(T,) the gradient's mean on the line from the baseline, times the way: logit units, signed.

    baseline: the tokens of the text become the padding token (a zero embedding where there is
    none); special tokens and the template stay as they are, and so get exactly 0. Midpoint Riemann
    sum of `steps` points. The values' sum misses logit(input) - logit(baseline) by the gap.
    """
    there = asked.inside.embed(asked.tokens.ids)
    here = _baseline(asked, there)
    total = torch.zeros(there.shape, dtype=torch.float64, device=there.device)
    shares = (torch.arange(steps, dtype=torch.float64, device=there.device) + 0.5) / steps
    for some in torch.split(shares, max(1, asked.budget // len(there))):
        points = here.double() + some[:, None, None] * (there.double() - here.double())
        slopes, _ = _slopes(asked.inside, points.to(there.dtype))
        total += slopes.sum(dim=0)
    values = floats((total / steps * (there.double() - here.double())).sum(dim=-1))
    _, ends = _slopes(asked.inside, torch.stack([there, here]))
    return answer(values, float(values.sum()) - float(ends[0] - ends[1]))


def _baseline(asked: Asked, there: Tensor) -> Tensor:
    tokens = asked.tokens
    of_text = [part in ("text", "text_pair") for part in tokens.parts]
    nothing = torch.zeros_like(there[0])
    if tokens.pad_id is not None:
        nothing = asked.inside.embed([tokens.pad_id])[0]
    chosen = torch.tensor(of_text, device=there.device)[:, None]  # (T, 1)
    return torch.where(chosen, nothing, there)


def _slopes(inside: Inside, points: Tensor) -> tuple[Tensor, Tensor]:
    """((N, T, d) gradients, (N,) logits) at (N, T, d) embeddings, both float64."""
    with holding(inside.lock), torch.enable_grad():
        points = points.detach().requires_grad_()
        logits = inside.target(points)
        (slopes,) = torch.autograd.grad(logits.sum(), points)
    return slopes.double(), logits.detach().double()


def floats(values: Tensor) -> Floats:
    """A tensor of any device as float64."""
    return np.asarray(values.detach().cpu().numpy(), dtype=np.float64)
