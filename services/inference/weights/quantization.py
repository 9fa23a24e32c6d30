"""Encoders in int8: 8-bit matrices with one scale per output and one per token.

A layer computes y = (q(x) @ q(W)^T) * s_x * s_W + b. Here q(v) = round(v / s) with s = max |v| /
127, for a row of W or a token's x. Sums of integers are exact, so a token has the same result in
any batch. Common libraries use one scale for a whole batch instead. Source: Dettmers et al.,
LLM.int8(), arXiv:2208.07339, section 2.1 (vector-wise quantization).

Processors without int8 products multiply the same integers in float32, which is 20 times as fast
there. Sums below 2^24 are exact, so both ways give equal results.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import linear

from shared.process.numerics import computes_int8

LARGEST = 127
LEAST_SCALE = 1e-12  # of a row that is zero: it stays so
POOLER = "pooler"  # reads one token and feeds the head: nothing is gained there


class Int8Linear(nn.Module):
    """A linear layer with an int8 product. Only the integers of its matrix and their scale are
    stored."""

    weight: torch.Tensor  # (in, out) int8, or float32 on a processor without int8 products
    scale: torch.Tensor  # (out,)

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        rows, scale = _to_integers(layer.weight.detach())
        kept = rows.to(torch.int8) if computes_int8() else rows
        self.register_buffer("weight", kept.t().contiguous())
        self.register_buffer("scale", scale.squeeze(1))
        self.bias = layer.bias
        self.out_features = layer.out_features

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Map (..., in) to (..., out). Gradients are computed as if the input were not rounded."""
        if inputs.requires_grad:
            return linear(inputs, (self.weight.to(inputs.dtype) * self.scale).t(), self.bias)
        tokens, scale = _to_integers(inputs.flatten(0, -2))
        if self.weight.dtype == torch.int8:
            sums = torch._int_mm(tokens.to(torch.int8), self.weight)  # noqa: SLF001 - its only name
        else:
            sums = tokens @ self.weight
        outputs = sums.to(inputs.dtype).mul_(scale).mul_(self.scale)
        if self.bias is not None:
            outputs.add_(self.bias)
        return outputs.view(*inputs.shape[:-1], self.out_features)


def _to_integers(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (N, d) integers in [-127, 127], as floats, and their (N, 1) scales."""
    scale = rows.abs().amax(dim=1, keepdim=True).clamp_(min=LEAST_SCALE).div_(LARGEST)
    return (rows / scale).round_(), scale


def quantize(network: nn.Module) -> None:
    """Replace the linear layers of an encoder in place, except those of its pooler and head. Raises
    ValueError for an encoder without linear layers."""
    if not _quantize(network):
        raise ValueError(
            "dtype int8: the model has no linear layers that could be quantised; use another dtype"
        )


def _quantize(module: nn.Module) -> int:
    replaced = 0
    for name, inner in list(module.named_children()):
        if name == POOLER:
            continue
        if type(inner) is nn.Linear:  # heirs are read by other code than `forward`
            setattr(module, name, Int8Linear(inner))
            replaced += 1
        else:
            replaced += _quantize(inner)
    return replaced
