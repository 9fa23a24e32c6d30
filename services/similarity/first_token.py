"""The last layer of a cross-encoder, computed for the one token that its head reads.

BERT's and RoBERTa's classification heads read the last layer at the first token only. There the
other tokens matter as keys and values, so their queries, attention outputs and feed-forward
networks need not be computed: of the last layer's 12 d² multiplications a token, 2 d² stay. The
score is the same number; nothing is approximated.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import (
    BertForSequenceClassification,
    RobertaForSequenceClassification,
    XLMRobertaForSequenceClassification,
)

READ_FIRST_TOKEN = (
    BertForSequenceClassification,
    RobertaForSequenceClassification,
    XLMRobertaForSequenceClassification,
)


class FirstTokenLayer(nn.Module):
    """An encoder layer of these models that answers (N, 1, d) instead of (N, T, d)."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.attention, self.intermediate = layer.attention, layer.intermediate
        self.output = layer.output

    def forward(
        self, hidden: torch.Tensor, mask: torch.Tensor | None = None, *_rest: Any, **_more: Any
    ) -> torch.Tensor:
        """hidden: (N, T, d). mask: (N, 1, T, T), what each token may look at; None: everything."""
        inner = self.attention.self
        heads = (*hidden.shape[:1], -1, inner.num_attention_heads, inner.attention_head_size)
        first = hidden[:, :1]
        query, key, value = (
            project(tokens).view(heads).transpose(1, 2)  # (N, heads, 1 or T, d / heads)
            for project, tokens in (
                (inner.query, first),
                (inner.key, hidden),
                (inner.value, hidden),
            )
        )
        seen = mask[:, :, :1] if mask is not None else None
        found = scaled_dot_product_attention(query, key, value, seen, scale=inner.scaling)
        attended = self.attention.output(found.transpose(1, 2).flatten(2), first)
        answer: torch.Tensor = self.output(self.intermediate(attended), attended)
        return answer


def read_first_token_only(network: Any) -> None:
    """Shorten the last layer, where the network is one of those whose head reads one token."""
    if isinstance(network, READ_FIRST_TOKEN) and network.config._attn_implementation == "sdpa":  # noqa: SLF001
        layers = network.base_model.encoder.layer
        layers[-1] = FirstTokenLayer(layers[-1])
